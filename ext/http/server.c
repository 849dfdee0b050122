/* SPDX-License-Identifier: MIT */
#include "ext/http/server.h"

#include "ext/http/connection.h"

#include <uv.h>

/* Connections taken per turn: a burst of them must not keep those that are open waiting. */
#define ACCEPT_BATCH 64

void redd__http_server_unref(redd_http_server *s)
{
    if (--s->refs > 0)
        return;
    void (*end_fn)(void *) = s->end_fn;
    void *end_user = s->end_user;
    redd__list_remove(&s->link);
    redd__networks_free(s->trusted);
    redd_free(s->state->alloc, s, sizeof *s);
    if (end_fn)
        end_fn(end_user);
}

void redd_http_server_on_end(redd_http_server *s, void (*fn)(void *user), void *user)
{
    s->end_fn = fn;
    s->end_user = user;
}

void redd_http_server_on_exchange(redd_http_server *s, redd_http_exchange_fn fn, void *user)
{
    s->exchange_fn = fn;
    s->exchange_user = user;
}

static void take_stream(redd_http_server *s, redd_stream *stream)
{
    int rc = redd__http_connection_new(s, stream);
    if (rc == 0)
        return;
    redd_log(redd_worker_logger(s->state->worker), REDD_LOG_WARN, "http: connection dropped: %s",
             redd_error_text(rc));
    redd_stream_close(stream, true);
}

static redd_poll accept_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    redd_http_server *s = REDD__LIST_ITEM(f, redd_http_server, future);
    (void)out;
    redd_waker_keep(&s->waker, waker);
    for (int i = 0; i < ACCEPT_BATCH && !s->closing; i++) {
        redd_stream *stream = NULL;
        if (redd_acceptor_poll(s->acceptor, waker, &stream) == REDD_PENDING)
            return REDD_PENDING;
        take_stream(s, stream);
    }
    if (s->closing)
        return REDD_READY;
    redd_waker_wake(waker);
    return REDD_PENDING;
}

static void accept_drop(redd_future *f)
{
    redd_http_server *s = REDD__LIST_ITEM(f, redd_http_server, future);
    redd_acceptor_close(s->acceptor);
    s->acceptor = NULL;
    s->closing = true;
    redd_waker_keep(&s->waker, NULL);
    redd__http_server_unref(s);
}

static const redd_future_vt accept_vt = {"http.accept", accept_poll, accept_drop};

static int start_accepting(redd_http_server *s, redd_listener *listener)
{
    int rc = redd_acceptor_open(listener, s->state->worker, &s->acceptor);
    if (rc)
        return rc;
    s->future.vt = &accept_vt;
    s->refs++;
    rc = redd_spawn(s->state->executor, &s->future, NULL);
    if (rc) {
        s->refs--;
        redd_acceptor_close(s->acceptor);
        s->acceptor = NULL;
    }
    return rc;
}

/** A server never takes more fields than a pooled request has room for. */
static void clamp_options(redd_http_server *s)
{
    if (s->options.max_fields > s->state->options.max_fields)
        s->options.max_fields = s->state->options.max_fields;
}

int redd_http_serve(redd_worker *w, redd_listener *listener, const redd_http_options *options,
                    redd_http_handler_fn handler, void *user, redd_http_server **out)
{
    redd__http_state *st = redd__http_state_of(w);
    if (!st || !handler || (options && options->struct_size != sizeof *options))
        return UV_EINVAL;
    if (redd_worker_stopping(w))
        return REDD_ECLOSED;
    redd_http_server *s = redd_alloc_zero(st->alloc, sizeof *s);
    if (!s)
        return UV_ENOMEM;
    s->state = st;
    s->options = options ? *options : st->options;
    clamp_options(s);
    s->handler = handler;
    s->user = user;
    s->refs = 1;
    s->owned = true;
    redd__list_init(&s->connections);
    redd__list_append(&st->servers, &s->link);
    int rc = redd__http_trust_parse(st->alloc, redd_worker_logger(w), &s->options, &s->trusted);
    if (rc == 0 && listener)
        rc = start_accepting(s, listener);
    if (rc) {
        redd__http_server_unref(s);
        return rc;
    }
    if (out)
        *out = s;
    return 0;
}

int redd_http_serve_stream(redd_http_server *s, redd_stream *stream)
{
    if (s->closing)
        return REDD_ECLOSED;
    return redd__http_connection_new(s, stream);
}

size_t redd_http_server_connections(const redd_http_server *s)
{
    return s->n_connections;
}

static void give_up(redd_http_server *s)
{
    if (s->owned) {
        s->owned = false;
        redd__http_server_unref(s);
    }
}

void redd_http_server_close(redd_http_server *s, redd_stop_mode mode)
{
    s->closing = true;
    s->refs++;
    if (s->waker)
        redd_waker_wake(s->waker);
    /* Closing only marks and wakes: no connection leaves the list here. */
    for (redd__list *l = s->connections.next; l != &s->connections; l = l->next) {
        redd__http_connection *c = REDD__LIST_ITEM(l, redd__http_connection, link);
        if (mode == REDD_STOP_FORCED)
            redd__http_connection_abort(c);
        else
            redd__http_connection_close(c);
    }
    give_up(s);
    redd__http_server_unref(s);
}

redd_http_server *redd__http_server_open(redd__http_state *st)
{
    for (redd__list *l = st->servers.next; l != &st->servers; l = l->next) {
        redd_http_server *s = REDD__LIST_ITEM(l, redd_http_server, link);
        if (!s->closing)
            return s;
    }
    return NULL;
}

void redd__http_servers_release(redd__http_state *st)
{
    redd_http_server *s;
    while ((s = redd__http_server_open(st))) {
        s->closing = true;
        give_up(s);
    }
}
