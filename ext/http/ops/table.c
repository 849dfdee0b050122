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
    OP("op_http_server_port", FAST, 1, server_port, SERVER),
    OP("op_http_next_request", ASYNC, 1, next_request, SERVER),
    OP("op_http_close", SYNC, 1, close, SERVER),
    OP("op_http_wait", ASYNC, 1, wait, SERVER),
    OP("op_http_get_request_method", FAST, 1, method, REQUEST),
    OP("op_http_get_request_url", FAST, 1, url, REQUEST),
    OP("op_http_get_request_header", FAST, 2, header, REQUEST, TEXT("name")),
    OP("op_http_get_request_headers", FAST, 1, headers, REQUEST),
    OP("op_http_get_request_remote_addr", FAST, 1, remote_addr, REQUEST),
    OP("op_http_read_request_body", ASYNC, 1, read_body, REQUEST),
    OP("op_http_set_response_header", FAST, 3, set_header, REQUEST, TEXT("name"), TEXT("value")),
    OP("op_http_set_response_headers", FAST, 2, set_headers, REQUEST, TEXT("headers")),
    OP("op_http_set_response_body_text", SYNC, 3, set_body, REQUEST, ARG("status", REDD_U32),
       ARG("text", REDD_STRING)),
    OP("op_http_set_response_body_bytes", SYNC, 3, set_body, REQUEST, ARG("status", REDD_U32),
       ARG("bytes", REDD_BYTES)),
    OP("op_http_start_response", SYNC, 3, start, REQUEST, ARG("status", REDD_U32), LENGTH),
    OP("op_http_new_router", SYNC, 0, router_new, {0}),
    OP("op_http_add_route", SYNC, 4, router_add, ARG("router", REDD_RESOURCE),
       ARG("method", REDD_STRING), ARG("pattern", REDD_STRING), ARG("number", REDD_U32)),
    OP("op_http_match_route", SYNC, 2, router_match, ARG("router", REDD_RESOURCE), REQUEST),
    OP("op_http_get_request_param", FAST, 2, param, REQUEST, ARG("name", REDD_STRING)),
};
