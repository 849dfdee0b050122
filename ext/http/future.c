/* SPDX-License-Identifier: MIT */
/* The events of a request as futures: a piece of its body, room for more output, its end. */
#include "ext/http/connection.h"

#include <uv.h>

/* Ends with a value that somebody else brings, once. */
typedef struct promise {
    redd_future future;
    redd_http_request *req; /* a reference */
    redd_waker *waker;
    redd_value value;
    bool done;
    redd__http_watch watch; /* of the end, but for a read, which is told by its function */
} promise;

static promise *of_future(redd_future *f)
{
    return REDD__LIST_ITEM(f, promise, future);
}

static promise *of_watch(redd__http_watch *w)
{
    return REDD__LIST_ITEM(w, promise, watch);
}

static promise *promise_new(redd_http_request *req, const redd_future_vt *vt)
{
    promise *p = redd_alloc_zero(req->state->alloc, sizeof *p);
    if (!p)
        return NULL;
    p->future.vt = vt;
    p->req = redd_http_request_ref(req);
    return p;
}

static void promise_free(promise *p)
{
    redd_http_request *req = p->req;
    redd_waker_keep(&p->waker, NULL);
    redd_value_drop(&p->value);
    redd_free(req->state->alloc, p, sizeof *p);
    redd_http_request_unref(req);
}

static void settle(promise *p, int status)
{
    if (status)
        p->value = redd_value_error(status);
    p->done = true;
    redd_waker_fire(&p->waker);
}

static redd_poll promise_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    promise *p = of_future(f);
    if (!p->done) {
        redd_waker_keep(&p->waker, waker);
        return REDD_PENDING;
    }
    *out = p->value;
    p->value = redd_value_undefined();
    return REDD_READY;
}

/* --- a piece of the body --- */

static void on_piece(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    promise *p = user;
    redd_bytes *bytes = NULL;
    (void)last; /* behind the last piece the next future ends with null */
    if (status == 0 && data.len > 0)
        status = redd_bytes_copy(req->state->alloc, data, &bytes);
    p->value = bytes ? redd_value_bytes(bytes) : redd_value_null();
    settle(p, status);
}

/* The read itself cannot be taken back: what it still brings is lost with the future. */
static void ignore_piece(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    (void)req, (void)status, (void)data, (void)last, (void)user;
}

static void read_drop(redd_future *f)
{
    promise *p = of_future(f);
    if (!p->done)
        p->req->read_fn = ignore_piece;
    promise_free(p);
}

static const redd_future_vt read_vt = {"http.read", promise_poll, read_drop};

int redd_http_read_future(redd_http_request *req, redd_future **out)
{
    bool behind = req->conn && req->last_given;
    promise *p = promise_new(req, &read_vt);
    if (!p)
        return UV_ENOMEM;
    int rc = behind ? 0 : redd_http_read(req, on_piece, p);
    if (rc) {
        promise_free(p);
        return rc;
    }
    if (behind) {
        p->value = redd_value_null();
        p->done = true;
    }
    *out = &p->future;
    return 0;
}

/* --- the end --- */

static void on_end(redd__http_watch *w, int status)
{
    settle(of_watch(w), status);
}

static void end_drop(redd_future *f)
{
    promise *p = of_future(f);
    if (!p->done)
        redd__http_watch_remove(p->req, &p->watch);
    promise_free(p);
}

static const redd_future_vt end_vt = {"http.end", promise_poll, end_drop};

int redd_http_end_future(redd_http_request *req, redd_future **out)
{
    if (!req->conn)
        return REDD_ECLOSED;
    promise *p = promise_new(req, &end_vt);
    if (!p)
        return UV_ENOMEM;
    p->watch.end = on_end;
    redd__http_watch_add(req, &p->watch);
    *out = &p->future;
    return 0;
}

/* --- room for more output --- */

static void on_drain(redd_http_request *req, void *user)
{
    promise *p = user;
    redd_http_on_drain(req, NULL, NULL);
    redd__http_watch_remove(req, &p->watch);
    settle(p, 0);
}

static void on_end_first(redd__http_watch *w, int status)
{
    promise *p = of_watch(w);
    redd_http_on_drain(p->req, NULL, NULL);
    settle(p, status ? status : REDD_ECLOSED);
}

static void drain_drop(redd_future *f)
{
    promise *p = of_future(f);
    if (!p->done) {
        redd_http_on_drain(p->req, NULL, NULL);
        redd__http_watch_remove(p->req, &p->watch);
    }
    promise_free(p);
}

static const redd_future_vt drain_vt = {"http.drain", promise_poll, drain_drop};

int redd_http_drain_future(redd_http_request *req, redd_future **out)
{
    if (!req->conn)
        return REDD_ECLOSED;
    if (req->drain_fn)
        return REDD_ESTATE;
    promise *p = promise_new(req, &drain_vt);
    if (!p)
        return UV_ENOMEM;
    if (req->full) {
        p->watch.end = on_end_first;
        redd__http_watch_add(req, &p->watch);
        redd_http_on_drain(req, on_drain, p);
    } else {
        p->done = true;
    }
    *out = &p->future;
    return 0;
}
