/* SPDX-License-Identifier: MIT */
#include "ext/http/ops/request.h"

#include "ext/http/ops/ops.h"

#include <stdio.h>
#include <uv.h>

static redd__http_guest_request *of_resource(redd_resource *r)
{
    return (redd__http_guest_request *)(void *)r;
}

/* Nobody is left to answer. Only one that is unanswered takes the 500. */
static void request_close(redd_resource *r)
{
    (void)redd_http_respond(of_resource(r)->req, 500, NULL, 0, redd_slice_of(NULL, 0));
}

static void drop_fields(redd__http_guest_field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        redd_bytes_unref(fields[i].name);
        redd_bytes_unref(fields[i].value);
    }
}

static void request_free(redd_resource *r)
{
    redd__http_guest_request *q = of_resource(r);
    drop_fields(q->fields, q->n_fields);
    drop_fields(q->trailers, q->n_trailers);
    redd_http_request_unref(q->req);
    redd_resource_unref(q->router);
    redd_free(q->alloc, q, sizeof *q);
}

static const redd_resource_vt request_vt = {"httpRequest", request_close, request_free};

int redd_http_request_to_resource(redd_http_request *req, redd_rid *rid)
{
    redd_worker *w = redd_http_worker(req);
    const redd_allocator *a = redd_worker_allocator(w);
    redd__http_guest_request *q = redd_alloc(a, sizeof *q);
    if (!q)
        return UV_ENOMEM;
    redd_resource_init(&q->resource, &request_vt);
    q->alloc = a;
    q->req = req;
    q->router = NULL;
    q->n_fields = q->n_trailers = 0;
    int rc = redd_resource_add(w, &q->resource, rid);
    if (rc) {
        redd_free(a, q, sizeof *q);
        return rc;
    }
    (void)redd_http_request_ref(req);
    return 0;
}

int redd__http_guest_get(redd_worker *w, const redd_value *rid, redd__http_guest_request **out)
{
    redd_resource *r = NULL;
    int rc = redd_resource_get(w, rid->as.rid, &request_vt, &r);
    *out = rc ? NULL : of_resource(r);
    return rc;
}

int redd_http_request_from_resource(redd_worker *w, redd_rid rid, redd_http_request **out)
{
    redd__http_guest_request *q;
    redd_value value = redd_value_resource(rid);
    int rc = redd__http_guest_get(w, &value, &q);
    *out = rc ? NULL : q->req;
    return rc;
}

int redd__http_terminated(const redd_value *text, char *buf, size_t size)
{
    redd_slice s = redd_bytes_slice(text->as.bytes);
    if (s.len >= size)
        return REDD_ELIMIT;
    if (s.len == 0 || memchr(s.data, '\0', s.len))
        return UV_EINVAL;
    memcpy(buf, s.data, s.len);
    buf[s.len] = '\0';
    return 0;
}

int redd__http_give_string(const redd_allocator *a, redd_slice s, redd_value *out)
{
    redd_bytes *b;
    int rc = redd_bytes_copy(a, s, &b);
    if (rc == 0)
        *out = redd_value_string(b);
    return rc;
}

int redd__http_give_bytes(const redd_allocator *a, redd_slice s, redd_value *out)
{
    redd_bytes *b;
    if (!s.data) {
        *out = redd_value_null();
        return 0;
    }
    int rc = redd_bytes_copy(a, s, &b);
    if (rc == 0)
        *out = redd_value_bytes(b);
    return rc;
}

/* --- what the request says --- */

REDD__HTTP_OP(method)
{
    redd__http_guest_request *q;
    (void)state, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    return rc ? rc : redd__http_give_string(q->alloc, redd_http_method(q->req), out);
}

REDD__HTTP_OP(url)
{
    redd__http_guest_request *q;
    (void)state, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    return rc ? rc : redd__http_give_string(q->alloc, redd_http_target(q->req), out);
}

/* Field values are bytes: nothing says that they are UTF-8 (RFC 9110 5.5). */
REDD__HTTP_OP(header)
{
    redd__http_guest_request *q;
    redd_slice name = redd_bytes_slice(argv[1].as.bytes);
    (void)state, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc)
        return rc;
    size_t n = redd_http_field_count(q->req);
    for (size_t i = 0; i < n; i++) {
        redd_http_field f = redd_http_field_at(q->req, i);
        if (redd_slice_equal_nocase(f.name, name))
            return redd__http_give_bytes(q->alloc, f.value, out);
    }
    *out = redd_value_null();
    return 0;
}

typedef redd_http_field (*field_at_fn)(const redd_http_request *req, size_t i);

static char *put_terminated(char *p, redd_slice s)
{
    if (s.len > 0)
        memcpy(p, s.data, s.len);
    p[s.len] = '\0';
    return p + s.len + 1;
}

/* All fields as name NUL value NUL ...: neither can hold a NUL. */
static int give_fields(const redd__http_guest_request *q, field_at_fn at, size_t n, redd_value *out)
{
    redd_bytes *b;
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += at(q->req, i).name.len + at(q->req, i).value.len + 2;
    int rc = redd_bytes_new(q->alloc, size, &b);
    if (rc)
        return rc;
    char *p = redd_bytes_data(b);
    for (size_t i = 0; i < n; i++) {
        p = put_terminated(p, at(q->req, i).name);
        p = put_terminated(p, at(q->req, i).value);
    }
    *out = redd_value_bytes(b);
    return 0;
}

REDD__HTTP_OP(headers)
{
    redd__http_guest_request *q;
    (void)state, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    return rc ? rc : give_fields(q, redd_http_field_at, redd_http_field_count(q->req), out);
}

REDD__HTTP_OP(trailers)
{
    redd__http_guest_request *q;
    (void)state, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    return rc ? rc : give_fields(q, redd_http_trailer_at, redd_http_trailer_count(q->req), out);
}

static int give_address(const redd_allocator *alloc, const redd_address *a, redd_value *out)
{
    char text[64];
    (void)snprintf(text, sizeof text, a->ipv6 ? "[%s]:%u" : "%s:%u", a->host, (unsigned)a->port);
    return redd__http_give_string(alloc, redd_slice_str(text), out);
}

REDD__HTTP_OP(remote_addr)
{
    redd__http_guest_request *q;
    redd_address a;
    (void)state, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc)
        return rc;
    redd_http_peer(q->req, &a);
    return give_address(q->alloc, &a, out);
}

REDD__HTTP_OP(client_addr)
{
    redd__http_guest_request *q;
    redd_address a;
    (void)state, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc)
        return rc;
    redd_http_client(q->req, &a);
    return give_address(q->alloc, &a, out);
}

REDD__HTTP_OP(id)
{
    redd__http_guest_request *q;
    (void)state, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    return rc ? rc : redd__http_give_string(q->alloc, redd_http_id(q->req), out);
}

/* --- its end --- */

REDD__HTTP_OP(on_cancel)
{
    redd__http_guest_request *q;
    (void)state, (void)out;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    return rc ? rc : redd_http_end_future(q->req, pending);
}
