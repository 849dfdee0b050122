/* SPDX-License-Identifier: MIT */
/* A piece of a streamed response as a future that ends when there is room for the next one: a guest
 * that awaits each write is as slow as its client. */
#include "ext/http/ops/ops.h"
#include "ext/http/ops/request.h"

#include <uv.h>

typedef struct write_future {
    redd_future future;
    const redd_allocator *alloc;
    redd_http_request *req; /* a reference */
    redd_bytes *piece;      /* a reference; NULL once it was taken */
    redd_future *drain;     /* of the room that it waits for */
} write_future;

static write_future *of_future(redd_future *f)
{
    return (write_future *)(void *)f;
}

/* 0: all is done; REDD_HTTP_FULL: room is needed, for this piece or the next; else an error. */
static int offer(write_future *f)
{
    int rc = f->piece ? redd_http_write(f->req, redd_bytes_slice(f->piece)) : 0;
    if (rc == REDD_ELIMIT)
        return REDD_HTTP_FULL;
    redd_bytes_unref(f->piece);
    f->piece = NULL;
    return rc;
}

static redd_poll write_poll(redd_future *future, redd_waker *waker, redd_value *out)
{
    write_future *f = of_future(future);
    int rc = REDD_HTTP_FULL;
    while (rc == REDD_HTTP_FULL) {
        redd_value room = redd_value_undefined();
        rc = f->drain ? 0 : redd_http_drain_future(f->req, &f->drain);
        if (rc)
            break;
        if (redd_future_poll(f->drain, waker, &room) == REDD_PENDING)
            return REDD_PENDING;
        redd_future_drop(f->drain);
        f->drain = NULL;
        rc = room.kind == REDD_ERROR ? room.as.i32 : offer(f);
    }
    if (rc)
        *out = redd_value_error(rc);
    return REDD_READY;
}

static void write_drop(redd_future *future)
{
    write_future *f = of_future(future);
    if (f->drain)
        redd_future_drop(f->drain);
    redd_bytes_unref(f->piece);
    redd_http_request_unref(f->req);
    redd_free(f->alloc, f, sizeof *f);
}

static const redd_future_vt write_vt = {"http.write_response_body", write_poll, write_drop};

REDD__HTTP_OP(write)
{
    redd__http_guest_request *q;
    (void)state, (void)out;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc)
        return rc;
    rc = redd_http_write(q->req, redd_bytes_slice(argv[1].as.bytes));
    if (rc != REDD_HTTP_FULL && rc != REDD_ELIMIT)
        return rc;
    write_future *f = redd_alloc_zero(q->alloc, sizeof *f);
    if (!f)
        return rc == REDD_HTTP_FULL ? 0 : UV_ENOMEM; /* a piece that was taken is no error */
    f->future.vt = &write_vt;
    f->alloc = q->alloc;
    f->req = redd_http_request_ref(q->req);
    f->piece = rc == REDD_ELIMIT ? redd_bytes_ref(argv[1].as.bytes) : NULL;
    *pending = &f->future;
    return 0;
}
