/* SPDX-License-Identifier: MIT */
/** A host of guests: each request is a resource id, and ops are called by name. */
#ifndef REDD_TESTS_UNIT_HTTP_OPS_HOST_H
#define REDD_TESTS_UNIT_HTTP_OPS_HOST_H

#include "tests/unit/http_reply.h"

#include <redd/op.h>

#define GET "GET /users/7?x HTTP/1.1\r\nHost: h\r\n\r\n"

enum { MAX_DONE = 32 };

typedef struct host {
    bed b;
    client c;
    redd_rid request; /* the last one that came */
    unsigned requests;
    struct {
        redd_op_call_id call;
        redd_value value;
    } done[MAX_DONE];
    size_t n_done;
} host;

static inline void on_request(redd_http_request *req, void *user)
{
    host *h = user;
    h->requests++;
    assert_int_equal(redd_http_request_to_resource(req, &h->request), 0);
}

static inline void on_completion(redd_worker *w, const redd_op_call_id *calls, redd_value *values,
                                 size_t n, void *user)
{
    host *h = user;
    (void)w;
    for (size_t i = 0; i < n; i++) {
        assert_true(h->n_done < MAX_DONE);
        h->done[h->n_done].call = calls[i];
        h->done[h->n_done++].value = values[i];
    }
}

static inline void host_begin_sized(host *h, size_t capacity)
{
    memset(h, 0, sizeof *h);
    bed_begin(&h->b, on_request, h);
    redd_op_on_completion(h->b.w, on_completion, h);
    client_open_sized(&h->b, &h->c, capacity);
}

static inline void host_begin(host *h)
{
    host_begin_sized(h, CLIENT_CAPACITY);
}

static inline void host_end(host *h)
{
    client_close(&h->c);
    bed_settle(&h->b);
    for (size_t i = 0; i < h->n_done; i++)
        redd_value_drop(&h->done[i].value);
    bed_end(&h->b);
}

static inline redd_value text(const host *h, const char *s)
{
    redd_bytes *b;
    assert_int_equal(redd_bytes_copy(redd_worker_allocator(h->b.w), redd_slice_str(s), &b), 0);
    return redd_value_string(b);
}

static inline redd_value id(redd_rid rid)
{
    return redd_value_resource(rid);
}

/* Takes the arguments; REDD_OP_PARKED or what the call returned. */
static inline int call(host *h, const char *name, redd_value *args, size_t n, redd_value *out,
                       redd_op_call_id *parked)
{
    redd_op_id op = redd_op_find(h->b.rt, name);
    assert_int_not_equal(op, 0);
    *out = redd_value_undefined();
    int rc = redd_op_call(h->b.w, op, args, n, out, parked);
    for (size_t i = 0; i < n; i++)
        redd_value_drop(&args[i]);
    return rc;
}

static inline bool take_done(host *h, redd_op_call_id parked, redd_value *out)
{
    for (size_t i = 0; i < h->n_done; i++) {
        if (h->done[i].call != parked)
            continue;
        *out = h->done[i].value;
        h->done[i] = h->done[--h->n_done];
        return true;
    }
    return false;
}

/* The result, now or after the client has taken what is there; an error as a value. */
static inline redd_value get(host *h, const char *name, redd_value *args, size_t n)
{
    redd_value out;
    redd_op_call_id parked;
    int rc = call(h, name, args, n, &out, &parked);
    if (rc == REDD_OP_PARKED) {
        client_settle(&h->c);
        assert_true(take_done(h, parked, &out));
        return out;
    }
    return rc ? redd_value_error(rc) : out;
}

#define OP(h, name, ...)                          \
    get((h), (name), (redd_value[]){__VA_ARGS__}, \
        sizeof((redd_value[]){__VA_ARGS__}) / sizeof(redd_value))

static inline void expect_ok(redd_value v)
{
    if (v.kind == REDD_ERROR)
        fail_msg("%s", redd_error_text(v.as.i32));
    redd_value_drop(&v);
}

static inline void expect_error(redd_value v, int code)
{
    assert_int_equal(v.kind, REDD_ERROR);
    assert_int_equal(v.as.i32, code);
}

static inline void expect_bytes(redd_value v, const char *s)
{
    if (v.kind != REDD_BYTES || !redd_slice_equal(redd_bytes_slice(v.as.bytes), redd_slice_str(s)))
        fail_msg("kind %u instead of %s", v.kind, s);
    redd_value_drop(&v);
}

static inline bool got(const host *h, const char *part)
{
    return slice_find(redd_slice_of(h->c.got.data, h->c.got.len), part) != SIZE_MAX;
}

#endif
