/* SPDX-License-Identifier: MIT */
#include "ext/http/ops/ops.h"
#include "ext/http/ops/request.h"

#include <uv.h>

REDD__HTTP_OP(read_body)
{
    redd__http_guest_request *q;
    (void)state, (void)out;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    return rc ? rc : redd_http_read_future(q->req, pending);
}

/* --- the whole --- */

/* Shared by the future and the read that runs: whoever ends last frees it. */
typedef struct full_read {
    redd_future future;
    const redd_allocator *alloc;
    redd_waker *waker;
    redd_value result;
    bool done;    /* the read has ended */
    bool dropped; /* nobody waits for the result */
} full_read;

static full_read *of_future(redd_future *f)
{
    return (full_read *)(void *)f;
}

static void release(full_read *r)
{
    redd_waker_keep(&r->waker, NULL);
    redd_value_drop(&r->result);
    redd_free(r->alloc, r, sizeof *r);
}

static void on_body(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    full_read *r = user;
    redd_bytes *bytes;
    (void)req, (void)last;
    r->done = true;
    if (status == 0)
        status = redd_bytes_copy(r->alloc, data, &bytes);
    r->result = status ? redd_value_error(status) : redd_value_bytes(bytes);
    if (r->dropped)
        release(r);
    else
        redd_waker_fire(&r->waker);
}

static redd_poll full_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    full_read *r = of_future(f);
    if (!r->done) {
        redd_waker_keep(&r->waker, waker);
        return REDD_PENDING;
    }
    *out = r->result;
    r->result = redd_value_undefined();
    return REDD_READY;
}

static void full_drop(redd_future *f)
{
    full_read *r = of_future(f);
    r->dropped = true;
    if (r->done)
        release(r);
}

static const redd_future_vt full_vt = {"http.read_full_body", full_poll, full_drop};

/* A size, in either of the kinds that the ops accept for it. */
static bool count_of(const redd_value *v, uint64_t *out)
{
    if (v->kind == REDD_U32)
        *out = v->as.u32;
    else if (v->kind == REDD_I64 && v->as.i64 >= 0)
        *out = (uint64_t)v->as.i64;
    else
        return false;
    return true;
}

REDD__HTTP_OP(read_full_body)
{
    redd__http_guest_request *q;
    uint64_t max;
    (void)state, (void)out;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc == 0 && (!count_of(&argv[1], &max) || max > SIZE_MAX))
        rc = UV_EINVAL;
    if (rc)
        return rc;
    full_read *r = redd_alloc_zero(q->alloc, sizeof *r);
    if (!r)
        return UV_ENOMEM;
    r->future.vt = &full_vt;
    r->alloc = q->alloc;
    rc = redd_http_read_all(q->req, (size_t)max, on_body, r);
    if (rc)
        redd_free(q->alloc, r, sizeof *r);
    else
        *pending = &r->future;
    return rc;
}

/* --- before the first read --- */

REDD__HTTP_OP(set_max_body)
{
    redd__http_guest_request *q;
    uint64_t max;
    (void)state, (void)out, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc == 0 && !count_of(&argv[1], &max))
        rc = UV_EINVAL;
    return rc ? rc : redd_http_set_max_body(q->req, max);
}

REDD__HTTP_OP(decode_body)
{
    redd__http_guest_request *q;
    uint64_t max;
    (void)state, (void)out, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc == 0 && !count_of(&argv[1], &max))
        rc = UV_EINVAL;
    return rc ? rc : redd_http_decode(q->req, max);
}
