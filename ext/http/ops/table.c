/* SPDX-License-Identifier: MIT */
#include "ext/http/ops/ops.h"

#define OP(op_name, op_flags, count, function, ...)                                              \
    {                                                                                            \
        .struct_size = sizeof(redd_op), .flags = (op_flags), .argc = (count), .name = (op_name), \
        .call = redd__http_op_##function, .args = {                                              \
            __VA_ARGS__                                                                          \
        }                                                                                        \
    }
#define ARG(arg_name, kind)           \
    {                                 \
        (arg_name), REDD_ACCEPT(kind) \
    }
#define EITHER(arg_name, one, other)                      \
    {                                                     \
        (arg_name), REDD_ACCEPT(one) | REDD_ACCEPT(other) \
    }
#define REQUEST        ARG("request", REDD_RESOURCE)
#define SERVER         ARG("server", REDD_RESOURCE)
#define TEXT(arg_name) EITHER(arg_name, REDD_STRING, REDD_BYTES)
#define SIZE(arg_name) EITHER(arg_name, REDD_U32, REDD_I64)
#define LENGTH                                                                           \
    {                                                                                    \
        "length", REDD_ACCEPT(REDD_NULL) | REDD_ACCEPT(REDD_U32) | REDD_ACCEPT(REDD_I64) \
    }

enum {
    SYNC = REDD_OP_SYNC,
    FAST = REDD_OP_SYNC | REDD_OP_FAST, /* never runs code of the host */
    ASYNC = REDD_OP_ASYNC
};

const redd_op redd__http_ops[REDD__HTTP_N_OPS] = {
    OP("op_http_serve", SYNC, 2, serve, ARG("host", REDD_STRING), ARG("port", REDD_U32)),
    OP("op_http_serve_unix", SYNC, 2, serve_unix, ARG("path", REDD_STRING), ARG("mode", REDD_U32)),
    OP("op_http_server_port", FAST, 1, server_port, SERVER),
    OP("op_http_next_request", ASYNC, 1, next_request, SERVER),
    OP("op_http_close", SYNC, 1, close, SERVER),
    OP("op_http_wait", ASYNC, 1, wait, SERVER),

    OP("op_http_get_request_method", FAST, 1, method, REQUEST),
    OP("op_http_get_request_url", FAST, 1, url, REQUEST),
    OP("op_http_get_request_header", FAST, 2, header, REQUEST, TEXT("name")),
    OP("op_http_get_request_headers", FAST, 1, headers, REQUEST),
    OP("op_http_get_request_trailers", FAST, 1, trailers, REQUEST),
    OP("op_http_get_request_remote_addr", FAST, 1, remote_addr, REQUEST),
    OP("op_http_get_request_client_addr", FAST, 1, client_addr, REQUEST),
    OP("op_http_get_request_id", FAST, 1, id, REQUEST),
    OP("op_http_request_on_cancel", ASYNC, 1, on_cancel, REQUEST),

    OP("op_http_read_request_body", ASYNC, 1, read_body, REQUEST),
    OP("op_http_read_full_request_body", ASYNC, 2, read_full_body, REQUEST, SIZE("max")),
    OP("op_http_set_max_request_body", SYNC, 2, set_max_body, REQUEST, SIZE("max")),
    OP("op_http_decode_request_body", SYNC, 2, decode_body, REQUEST, SIZE("max")),

    OP("op_http_set_response_header", FAST, 3, set_header, REQUEST, TEXT("name"), TEXT("value")),
    OP("op_http_set_response_headers", FAST, 2, set_headers, REQUEST, TEXT("headers")),
    OP("op_http_set_response_trailer", FAST, 3, set_trailer, REQUEST, TEXT("name"), TEXT("value")),
    OP("op_http_set_response_compression", FAST, 2, set_compression, REQUEST, ARG("on", REDD_BOOL)),
    OP("op_http_send_interim_response", SYNC, 3, send_interim, REQUEST, ARG("status", REDD_U32),
       TEXT("headers")),
    OP("op_http_set_response_body_text", SYNC, 3, set_body, REQUEST, ARG("status", REDD_U32),
       ARG("text", REDD_STRING)),
    OP("op_http_set_response_body_bytes", SYNC, 3, set_body, REQUEST, ARG("status", REDD_U32),
       ARG("bytes", REDD_BYTES)),
    OP("op_http_start_response", SYNC, 3, start, REQUEST, ARG("status", REDD_U32), LENGTH),
    OP("op_http_write_response_body", ASYNC, 2, write, REQUEST, TEXT("piece")),
    OP("op_http_finish_response", SYNC, 1, finish, REQUEST),
    OP("op_http_abort_request", SYNC, 1, abort, REQUEST),

    OP("op_http_open_files", SYNC, 2, files_open, ARG("root", REDD_STRING),
       ARG("listing", REDD_BOOL)),
    OP("op_http_respond_file", SYNC, 3, respond_file, REQUEST, ARG("files", REDD_RESOURCE),
       EITHER("prefix", REDD_NULL, REDD_STRING)),

    OP("op_http_new_router", SYNC, 0, router_new, {0}),
    OP("op_http_add_route", SYNC, 4, router_add, ARG("router", REDD_RESOURCE),
       ARG("method", REDD_STRING), ARG("pattern", REDD_STRING), ARG("number", REDD_U32)),
    OP("op_http_match_route", SYNC, 2, router_match, ARG("router", REDD_RESOURCE), REQUEST),
    OP("op_http_get_request_param", FAST, 2, param, REQUEST, ARG("name", REDD_STRING)),

    OP("op_http_start_events", SYNC, 2, events_start, REQUEST, ARG("heartbeat_ms", REDD_U32)),
    OP("op_http_send_event", ASYNC, 4, events_send, ARG("events", REDD_RESOURCE), TEXT("type"),
       TEXT("id"), TEXT("data")),

    OP("op_http_read_form", SYNC, 1, form_read, REQUEST),
    OP("op_http_next_form_part", ASYNC, 1, form_next_part, ARG("form", REDD_RESOURCE)),
    OP("op_http_get_form_part_filename", FAST, 1, form_part_filename, ARG("form", REDD_RESOURCE)),
    OP("op_http_get_form_part_type", FAST, 1, form_part_type, ARG("form", REDD_RESOURCE)),
    OP("op_http_read_form_part", ASYNC, 1, form_read_part, ARG("form", REDD_RESOURCE)),
};
