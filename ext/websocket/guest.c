/* SPDX-License-Identifier: MIT */
#include "ext/websocket/guest.h"
#include "ext/websocket/connection.h"

#include <uv.h>

/* Reading pauses at either and goes on when the guest has taken everything. */
#define QUEUE_EVENTS 64
#define QUEUE_BYTES  (64U << 10)

struct redd__ws_queued_event {
    redd__ws_queued_event *next;
    redd_bytes *payload;
    redd__ws_event kind;
};

static redd__ws_guest *of_resource(redd_resource *r)
{
    return REDD__LIST_ITEM(r, redd__ws_guest, resource);
}

/* --- events from the connection --- */

static void changed(redd__ws_guest *g)
{
    redd_waker_fire(&g->waker);
}

static bool queue_full(const redd__ws_guest *g)
{
    return g->n_events >= QUEUE_EVENTS || g->n_bytes >= QUEUE_BYTES;
}

static void push(redd__ws_guest *g, redd__ws_event kind, redd_slice payload)
{
    const redd_allocator *a = g->state->alloc;
    redd__ws_queued_event *e = redd_alloc(a, sizeof *e);
    if (!e || redd_bytes_copy(a, payload, &e->payload) != 0) {
        redd_free(a, e, sizeof *e);
        redd__ws_lost(g->ws, UV_ENOMEM); /* better no connection than one that loses messages */
        return;
    }
    e->next = NULL;
    e->kind = kind;
    *g->last = e;
    g->last = &e->next;
    g->n_events++;
    g->n_bytes += payload.len;
    if (queue_full(g))
        redd__ws_pause(g->ws, true);
    changed(g);
}

static void on_message(redd_ws *ws, redd_ws_kind kind, redd_slice data, void *user)
{
    (void)ws; /* the guest's */
    push(user, kind == REDD_WS_TEXT ? REDD__WS_EVENT_TEXT : REDD__WS_EVENT_BINARY, data);
}

static void on_pong(redd_ws *ws, redd_slice payload, void *user)
{
    (void)ws; /* the guest's */
    push(user, REDD__WS_EVENT_PONG, payload);
}

/* Needs no memory but for the reason. */
static void on_close(redd_ws *ws, const redd_ws_close_event *event, void *user)
{
    redd__ws_guest *g = user;
    (void)ws; /* the guest's */
    g->close_due = true;
    g->close_code = event->code;
    g->error_due = event->status != 0;
    g->error = event->status ? redd_error_text(event->status) : NULL;
    if (event->reason.len)
        (void)redd_bytes_copy(g->state->alloc, event->reason, &g->reason);
    changed(g);
    redd_resource_unref(&g->resource);
}

static const redd_ws_handlers handlers = {
    .struct_size = sizeof handlers,
    .message = on_message,
    .pong = on_pong,
    .close = on_close,
};

/* --- the resource --- */

static redd__ws_queued_event *pop(redd__ws_guest *g)
{
    redd__ws_queued_event *e = g->first;
    g->first = e->next;
    if (!g->first)
        g->last = &g->first;
    g->n_events--;
    g->n_bytes -= redd_bytes_slice(e->payload).len;
    return e;
}

/* A guest that lets go of an open connection wants no more of it; a closing handshake goes on. */
static void guest_close(redd_resource *r)
{
    redd__ws_guest *g = of_resource(r);
    if (redd__ws_can_send(g->ws))
        redd_ws_terminate(g->ws);
}

static void guest_free(redd_resource *r)
{
    redd__ws_guest *g = of_resource(r);
    const redd_allocator *a = g->state->alloc;
    while (g->first) {
        redd__ws_queued_event *e = pop(g);
        redd_bytes_unref(e->payload);
        redd_free(a, e, sizeof *e);
    }
    redd_bytes_unref(g->buffer);
    redd_bytes_unref(g->reason);
    redd_waker_unref(g->waker);
    redd_ws_unref(g->ws);
    redd_free(a, g, sizeof *g);
}

static const redd_resource_vt guest_vt = {"webSocket", guest_close, guest_free};

static int guest_new(redd__ws_state *st, redd__ws_guest **out, redd_rid *rid)
{
    redd__ws_guest *g = redd_alloc_zero(st->alloc, sizeof *g);
    if (!g)
        return UV_ENOMEM;
    redd_resource_init(&g->resource, &guest_vt);
    g->state = st;
    g->last = &g->first;
    int err = redd_resource_add(st->worker, &g->resource, rid);
    if (err)
        redd_free(st->alloc, g, sizeof *g);
    else
        *out = g;
    return err;
}

static int upgrade_with(redd__ws_guest *g, redd_http_request *req, const char *protocol)
{
    const char *protocols[] = {protocol, NULL};
    redd_ws_options o = g->state->options;
    if (protocol)
        o.protocols = protocols;
    int err = redd__ws_accept(req, &o, &handlers, g, &g->ws);
    if (err)
        return err;
    (void)redd_ws_ref(g->ws);
    (void)redd_resource_ref(&g->resource); /* the connection's, up to its close event */
    return 0;
}

int redd__ws_guest_upgrade(redd__ws_state *st, redd_http_request *req, redd_slice protocol,
                           redd_rid *rid)
{
    redd__ws_guest *g;
    char *text = protocol.len ? redd_alloc_string(st->alloc, protocol.data, protocol.len) : NULL;
    if (protocol.len && !text)
        return UV_ENOMEM;
    int err = guest_new(st, &g, rid);
    if (!err) {
        err = upgrade_with(g, req, text);
        if (err) {
            redd_resource *r;
            if (redd_resource_take(st->worker, *rid, &guest_vt, &r) == 0)
                redd_resource_unref(r);
        }
    }
    redd_free(st->alloc, text, protocol.len + 1);
    return err;
}

int redd__ws_guest_get(redd_worker *w, redd_rid rid, redd__ws_guest **out)
{
    redd_resource *r;
    int err = redd_resource_get(w, rid, &guest_vt, &r);
    if (!err)
        *out = of_resource(r);
    return err;
}

/* --- asking for events --- */

bool redd__ws_guest_next(redd__ws_guest *g, redd_value *out)
{
    if (g->first) {
        redd__ws_queued_event *e = pop(g);
        redd_bytes_unref(g->buffer);
        g->buffer = e->payload;
        g->buffer_is_text = e->kind == REDD__WS_EVENT_TEXT;
        *out = redd_value_u32((uint32_t)e->kind);
        redd_free(g->state->alloc, e, sizeof *e);
        if (!g->first)
            redd__ws_pause(g->ws, false);
    } else if (g->error_due) {
        g->error_due = false;
        *out = redd_value_u32(REDD__WS_EVENT_ERROR);
    } else if (g->close_due) {
        g->close_due = false;
        *out = redd_value_u32(g->close_code);
    } else if (g->close_code) {
        *out = redd_value_error(REDD_ECLOSED);
    } else {
        return false;
    }
    return true;
}

typedef struct event_future {
    redd_future future;
    redd__ws_guest *guest;
} event_future;

static redd_poll event_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    redd__ws_guest *g = ((event_future *)(void *)f)->guest;
    if (redd__ws_guest_next(g, out))
        return REDD_READY;
    redd_waker_keep(&g->waker, waker);
    return REDD_PENDING;
}

static void event_drop(redd_future *f)
{
    event_future *ef = (event_future *)(void *)f;
    redd__ws_guest *g = ef->guest;
    g->waiting = false;
    redd_waker_keep(&g->waker, NULL);
    redd_free(g->state->alloc, ef, sizeof *ef);
    redd_resource_unref(&g->resource);
}

static const redd_future_vt event_vt = {"websocket event", event_poll, event_drop};

int redd__ws_guest_wait(redd__ws_guest *g, redd_future **out)
{
    if (g->waiting)
        return REDD_ESTATE;
    event_future *ef = redd_alloc(g->state->alloc, sizeof *ef);
    if (!ef)
        return UV_ENOMEM;
    ef->future.vt = &event_vt;
    ef->guest = g;
    (void)redd_resource_ref(&g->resource);
    g->waiting = true;
    *out = &ef->future;
    return 0;
}
