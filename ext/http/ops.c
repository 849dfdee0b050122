/* SPDX-License-Identifier: MIT */
#include "ext/http/ops.h"

#include "ext/http/request.h"

#include <stdio.h>
#include <uv.h>

/* A request as guests hold it, with the fields that they have set for its response. */
typedef struct response_field {
    redd_bytes *name, *value;
} response_field;

#define MAX_RESPONSE_FIELDS 64

typedef struct request_resource {
    redd_resource resource;
    redd__http_state *state;
    redd_http_request *req;
    size_t n_fields;
    response_field fields[MAX_RESPONSE_FIELDS];
} request_resource;

static request_resource *of_resource(redd_resource *r)
{
    return REDD__LIST_ITEM(r, request_resource, resource);
}

static void request_close(redd_resource *r)
{
    redd_http_request *req = of_resource(r)->req;
    if (req->conn && req->answer == REDD__HTTP_UNANSWERED)
        (void)redd_http_respond(req, 500, NULL, 0, redd_slice_of(NULL, 0));
}

static void request_free(redd_resource *r)
{
    request_resource *q = of_resource(r);
    for (size_t i = 0; i < q->n_fields; i++) {
        redd_bytes_unref(q->fields[i].name);
        redd_bytes_unref(q->fields[i].value);
    }
    redd_http_request_unref(q->req);
    redd_free(q->state->alloc, q, sizeof *q);
}

static const redd_resource_vt request_vt = {"httpRequest", request_close, request_free};

int redd_http_request_to_resource(redd_http_request *req, redd_rid *rid)
{
    request_resource *q = redd_alloc(req->state->alloc, sizeof *q);
    if (!q)
        return UV_ENOMEM;
    redd_resource_init(&q->resource, &request_vt);
    q->state = req->state;
    q->req = req;
    q->n_fields = 0;
    int rc = redd_resource_add(req->state->worker, &q->resource, rid);
    if (rc) {
        redd_free(req->state->alloc, q, sizeof *q);
        return rc;
    }
    (void)redd_http_request_ref(req);
    return 0;
}

static int get_request(redd_worker *w, redd_rid rid, request_resource **out)
{
    redd_resource *r = NULL;
    int rc = redd_resource_get(w, rid, &request_vt, &r);
    *out = rc ? NULL : of_resource(r);
    return rc;
}

int redd_http_request_from_resource(redd_worker *w, redd_rid rid, redd_http_request **out)
{
    request_resource *q;
    int rc = get_request(w, rid, &q);
    *out = rc ? NULL : q->req;
    return rc;
}

/* --- reading --- */

static int give_string(redd__http_state *st, redd_slice s, redd_value *out)
{
    redd_bytes *b;
    int rc = redd_bytes_copy(st->alloc, s, &b);
    if (rc == 0)
        *out = redd_value_string(b);
    return rc;
}

static int op_method(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                     redd_future **pending)
{
    redd_http_request *req;
    (void)pending;
    int rc = redd_http_request_from_resource(w, argv[0].as.rid, &req);
    return rc ? rc : give_string(state, redd_http_method(req), out);
}

static int op_url(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                  redd_future **pending)
{
    redd_http_request *req;
    (void)pending;
    int rc = redd_http_request_from_resource(w, argv[0].as.rid, &req);
    return rc ? rc : give_string(state, redd_http_target(req), out);
}

/* Field values are bytes: nothing says that they are UTF-8 (RFC 9110 5.5). */
static int op_header(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                     redd_future **pending)
{
    redd__http_state *st = state;
    redd_http_request *req;
    redd_slice name = redd_bytes_slice(argv[1].as.bytes);
    (void)pending;
    int rc = redd_http_request_from_resource(w, argv[0].as.rid, &req);
    for (uint32_t i = 0; rc == 0 && i < req->n_fields; i++) {
        if (!redd_slice_equal_nocase(redd__http_name(req, i), name))
            continue;
        redd_bytes *b;
        rc = redd_bytes_copy(st->alloc, redd__http_value(req, i), &b);
        if (rc == 0)
            *out = redd_value_bytes(b);
        return rc;
    }
    if (rc == 0)
        *out = redd_value_null();
    return rc;
}

static size_t put_terminated(char *p, redd_slice s)
{
    memcpy(p, s.data, s.len);
    p[s.len] = '\0';
    return s.len + 1;
}

/* All fields as name NUL value NUL ...: neither can hold a NUL. */
static int op_headers(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                      redd_future **pending)
{
    redd__http_state *st = state;
    redd_http_request *req;
    redd_bytes *b;
    size_t size = 0;
    (void)pending;
    int rc = redd_http_request_from_resource(w, argv[0].as.rid, &req);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < req->n_fields; i++)
        size += req->fields[i].name_len + req->fields[i].value_len + 2;
    rc = redd_bytes_new(st->alloc, size, &b);
    if (rc)
        return rc;
    char *p = redd_bytes_data(b);
    for (uint32_t i = 0; i < req->n_fields; i++) {
        p += put_terminated(p, redd__http_name(req, i));
        p += put_terminated(p, redd__http_value(req, i));
    }
    *out = redd_value_bytes(b);
    return 0;
}

static int op_remote_addr(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                          redd_future **pending)
{
    redd_http_request *req;
    redd_address a;
    char text[64];
    (void)pending;
    int rc = redd_http_request_from_resource(w, argv[0].as.rid, &req);
    if (rc)
        return rc;
    redd_http_peer(req, &a);
    (void)snprintf(text, sizeof text, a.ipv6 ? "[%s]:%u" : "%s:%u", a.host, (unsigned)a.port);
    return give_string(state, redd_slice_str(text), out);
}

/* --- answering --- */

static int op_set_header(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                         redd_future **pending)
{
    request_resource *q;
    (void)state;
    (void)out;
    (void)pending;
    int rc = get_request(w, argv[0].as.rid, &q);
    if (rc)
        return rc;
    if (q->n_fields == MAX_RESPONSE_FIELDS)
        return REDD_ELIMIT;
    q->fields[q->n_fields++] =
        (response_field){redd_bytes_ref(argv[1].as.bytes), redd_bytes_ref(argv[2].as.bytes)};
    return 0;
}

static int op_set_body(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                       redd_future **pending)
{
    request_resource *q;
    redd_http_field fields[MAX_RESPONSE_FIELDS];
    (void)state;
    (void)out;
    (void)pending;
    int rc = get_request(w, argv[0].as.rid, &q);
    if (rc)
        return rc;
    for (size_t i = 0; i < q->n_fields; i++)
        fields[i] = (redd_http_field){redd_bytes_slice(q->fields[i].name),
                                      redd_bytes_slice(q->fields[i].value)};
    return redd_http_respond(q->req, argv[1].as.u32, fields, q->n_fields,
                             redd_bytes_slice(argv[2].as.bytes));
}

/* --- the table --- */

#define OP(op_name, op_flags, count, function, ...)                                              \
    {                                                                                            \
        .struct_size = sizeof(redd_op), .flags = (op_flags), .argc = (count), .name = (op_name), \
        .call = (function), .args = {                                                            \
            __VA_ARGS__                                                                          \
        }                                                                                        \
    }
#define ARG(arg_name, kind)           \
    {                                 \
        (arg_name), REDD_ACCEPT(kind) \
    }
#define REQUEST ARG("request", REDD_RESOURCE)
#define SERVER  ARG("server", REDD_RESOURCE)
#define TEXT_OR_BYTES(arg_name)                                        \
    {                                                                  \
        (arg_name), REDD_ACCEPT(REDD_STRING) | REDD_ACCEPT(REDD_BYTES) \
    }

const redd_op redd__http_ops[REDD__HTTP_N_OPS] = {
    OP("op_http_serve", REDD_OP_SYNC, 2, redd__http_op_serve, ARG("host", REDD_STRING),
       ARG("port", REDD_U32)),
    OP("op_http_server_port", REDD_OP_SYNC | REDD_OP_FAST, 1, redd__http_op_server_port, SERVER),
    OP("op_http_next_request", REDD_OP_ASYNC, 1, redd__http_op_next_request, SERVER),
    OP("op_http_close", REDD_OP_SYNC, 1, redd__http_op_close, SERVER),
    OP("op_http_get_request_method", REDD_OP_SYNC | REDD_OP_FAST, 1, op_method, REQUEST),
    OP("op_http_get_request_url", REDD_OP_SYNC | REDD_OP_FAST, 1, op_url, REQUEST),
    OP("op_http_get_request_header", REDD_OP_SYNC | REDD_OP_FAST, 2, op_header, REQUEST,
       TEXT_OR_BYTES("name")),
    OP("op_http_get_request_headers", REDD_OP_SYNC | REDD_OP_FAST, 1, op_headers, REQUEST),
    OP("op_http_get_request_remote_addr", REDD_OP_SYNC | REDD_OP_FAST, 1, op_remote_addr, REQUEST),
    OP("op_http_read_request_body", REDD_OP_ASYNC, 1, redd__http_op_read_body, REQUEST),
    OP("op_http_set_response_header", REDD_OP_SYNC, 3, op_set_header, REQUEST,
       TEXT_OR_BYTES("name"), TEXT_OR_BYTES("value")),
    OP("op_http_set_response_body_text", REDD_OP_SYNC, 3, op_set_body, REQUEST,
       ARG("status", REDD_U32), ARG("text", REDD_STRING)),
    OP("op_http_set_response_body_bytes", REDD_OP_SYNC, 3, op_set_body, REQUEST,
       ARG("status", REDD_U32), ARG("bytes", REDD_BYTES)),
};
