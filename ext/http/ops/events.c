/* SPDX-License-Identifier: MIT */
/* A stream of server-sent events as a resource; closing it ends the response. */
#include "ext/http/ops/ops.h"
#include "ext/http/ops/request.h"

#include <redd/http_events.h>

#include <uv.h>

typedef struct events_resource {
    redd_resource resource;
    const redd_allocator *alloc;
    redd_http_events *events; /* NULL after their end */
    redd_waker *waker;        /* of the one send that waits for room */
    bool sending;
    bool full;
    int status; /* of the end */
} events_resource;

static events_resource *of_resource(redd_resource *r)
{
    return (events_resource *)(void *)r;
}

static void events_close(redd_resource *r)
{
    if (of_resource(r)->events)
        redd_http_events_close(of_resource(r)->events);
}

static void events_free(redd_resource *r)
{
    redd_free(of_resource(r)->alloc, r, sizeof(events_resource));
}

static const redd_resource_vt events_vt = {"httpEvents", events_close, events_free};

/* The stream holds a reference up to here: its functions never meet a resource that is gone. */
static void on_end(redd_http_events *events, int status, void *user)
{
    events_resource *e = user;
    (void)events;
    e->events = NULL;
    e->status = status ? status : REDD_ECLOSED;
    redd_waker_fire(&e->waker);
    redd_resource_unref(&e->resource);
}

static void on_drain(redd_http_events *events, void *user)
{
    events_resource *e = user;
    (void)events;
    e->full = false;
    redd_waker_fire(&e->waker);
}

REDD__HTTP_OP(events_start)
{
    redd__http_guest_request *q;
    redd_rid rid;
    (void)state, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc)
        return rc;
    events_resource *e = redd_alloc_zero(q->alloc, sizeof *e);
    if (!e)
        return UV_ENOMEM;
    redd_resource_init(&e->resource, &events_vt);
    e->alloc = q->alloc;
    rc = redd_resource_add(w, redd_resource_ref(&e->resource), &rid);
    if (rc) {
        redd_free(e->alloc, e, sizeof *e);
        return rc;
    }
    redd_http_events_options options = REDD_HTTP_EVENTS_OPTIONS_INIT;
    options.heartbeat_ms = argv[1].as.u32;
    options.on_end = on_end;
    options.on_drain = on_drain;
    options.user = e;
    rc = redd_http_events_start(q->req, &options, &e->events);
    if (rc) {
        redd_resource_unref(&e->resource);
        (void)redd_resource_close(w, rid);
        return rc;
    }
    *out = redd_value_resource(rid);
    return 0;
}

/* --- sending --- */

/* Waits for room; the event itself was taken, or is `text[]`, to be offered again. */
typedef struct send_future {
    redd_future future;
    events_resource *events; /* a reference */
    redd_bytes *text[3];     /* type, id, data: references; all NULL once it was taken */
} send_future;

static send_future *of_future(redd_future *f)
{
    return (send_future *)(void *)f;
}

static int offer(events_resource *e, redd_bytes *const text[3])
{
    if (!e->events)
        return e->status;
    int rc = redd_http_events_send(e->events, redd_bytes_slice(text[0]), redd_bytes_slice(text[1]),
                                   redd_bytes_slice(text[2]));
    e->full = rc == REDD_HTTP_FULL || rc == REDD_ELIMIT;
    return rc;
}

static void drop_text(send_future *f)
{
    for (int i = 0; i < 3; i++) {
        redd_bytes_unref(f->text[i]);
        f->text[i] = NULL;
    }
}

static redd_poll send_poll(redd_future *future, redd_waker *waker, redd_value *out)
{
    send_future *f = of_future(future);
    events_resource *e = f->events;
    int rc = e->events ? 0 : e->status;
    if (rc == 0 && !e->full && f->text[0]) {
        rc = offer(e, f->text);
        if (rc != REDD_ELIMIT)
            drop_text(f);
        if (rc == REDD_HTTP_FULL || rc == REDD_ELIMIT)
            rc = 0;
    }
    if (rc == 0 && e->full) {
        redd_waker_keep(&e->waker, waker);
        return REDD_PENDING;
    }
    if (rc)
        *out = redd_value_error(rc);
    return REDD_READY;
}

static void send_drop(redd_future *future)
{
    send_future *f = of_future(future);
    events_resource *e = f->events;
    drop_text(f);
    e->sending = false;
    redd_waker_keep(&e->waker, NULL);
    redd_free(e->alloc, f, sizeof *f);
    redd_resource_unref(&e->resource);
}

static const redd_future_vt send_vt = {"http.send_event", send_poll, send_drop};

/* One at a time: a guest that awaits each send is as slow as its client. */
REDD__HTTP_OP(events_send)
{
    redd_resource *r = NULL;
    redd_bytes *const text[3] = {argv[1].as.bytes, argv[2].as.bytes, argv[3].as.bytes};
    (void)state, (void)out;
    int rc = redd_resource_get(w, argv[0].as.rid, &events_vt, &r);
    if (rc)
        return rc;
    events_resource *e = of_resource(r);
    if (e->sending)
        return UV_EBUSY;
    rc = offer(e, text);
    if (rc != REDD_HTTP_FULL && rc != REDD_ELIMIT)
        return rc;
    send_future *f = redd_alloc_zero(e->alloc, sizeof *f);
    if (!f)
        return rc == REDD_HTTP_FULL ? 0 : UV_ENOMEM; /* an event that was taken is no error */
    f->future.vt = &send_vt;
    f->events = e;
    for (int i = 0; rc == REDD_ELIMIT && i < 3; i++)
        f->text[i] = redd_bytes_ref(text[i]);
    e->sending = true;
    (void)redd_resource_ref(&e->resource);
    *pending = &f->future;
    return 0;
}
