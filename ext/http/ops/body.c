/* SPDX-License-Identifier: MIT */
/* One piece of a request's body as a future. */
#include "ext/http/ops/ops.h"
#include "ext/http/ops/request.h"
#include "ext/http/request.h"

#include <uv.h>

/* Shared by the future and the read that runs: whoever ends last frees it. */
typedef struct body_read {
    redd_future future;
    redd__http_state *state;
    redd_http_request *req; /* a reference */
    redd_waker *waker;
    redd_value result;
    bool done;    /* the read has ended */
    bool dropped; /* nobody waits for the result */
} body_read;

static body_read *of_future(redd_future *f)
{
    return REDD__LIST_ITEM(f, body_read, future);
}

static void release(body_read *b)
{
    redd_waker_keep(&b->waker, NULL);
    redd_value_drop(&b->result);
    redd_http_request_unref(b->req);
    redd_free(b->state->alloc, b, sizeof *b);
}

static void on_piece(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    body_read *b = user;
    redd_bytes *bytes = NULL;
    (void)req;
    b->done = true;
    if (status == 0 && data.len > 0)
        status = redd_bytes_copy(b->state->alloc, data, &bytes);
    if (status)
        b->result = redd_value_error(status);
    else
        b->result = bytes ? redd_value_bytes(bytes) : redd_value_null();
    (void)last; /* after the last piece the next read answers null */
    if (b->dropped)
        release(b);
    else
        redd_waker_fire(&b->waker);
}

static redd_poll body_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    body_read *b = of_future(f);
    if (!b->done) {
        redd_waker_keep(&b->waker, waker);
        return REDD_PENDING;
    }
    *out = b->result;
    b->result = redd_value_undefined();
    return REDD_READY;
}

static void body_drop(redd_future *f)
{
    body_read *b = of_future(f);
    b->dropped = true;
    if (b->done)
        release(b);
}

static const redd_future_vt body_vt = {"http.read_request_body", body_poll, body_drop};

REDD__HTTP_OP(read_body)
{
    redd__http_state *st = state;
    redd_http_request *req;
    int rc = redd_http_request_from_resource(w, argv[0].as.rid, &req);
    if (rc)
        return rc;
    if (req->conn && req->last_given) {
        *out = redd_value_null();
        return 0;
    }
    body_read *b = redd_alloc_zero(st->alloc, sizeof *b);
    if (!b)
        return UV_ENOMEM;
    rc = redd_http_read(req, on_piece, b);
    if (rc) {
        redd_free(st->alloc, b, sizeof *b);
        return rc;
    }
    b->future.vt = &body_vt;
    b->state = st;
    b->req = redd_http_request_ref(req);
    *pending = &b->future;
    return 0;
}
