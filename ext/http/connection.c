/* SPDX-License-Identifier: MIT */
/* The task of a connection: each poll reads at most once and writes at most once. */
#include "ext/http/connection.h"

#include <uv.h>

#define OUTPUT_RESERVE (64U << 10) /* for heads and frames beyond http.max_queued */

void redd__http_connection_break(redd__http_connection *c)
{
    c->phase = REDD__HTTP_CLOSED;
    c->reset = true;
    redd__http_connection_wake(c);
}

void redd__http_connection_lose(redd__http_connection *c, int status)
{
    redd__http_connection_break(c);
    redd__http_leaving_end(c, status);
    if (c->request)
        redd__http_request_end(c->request, status);
}

static void notify_drain(redd__http_connection *c)
{
    redd_http_request *req = c->request;
    if (!req || !req->full || redd__http_sends_file(c) ||
        redd_output_queued(&c->output) > req->low_mark)
        return;
    req->full = false;
    if (req->drain_fn) {
        req->drain_fn(req, req->drain_user);
        c->poll_again = true;
    }
}

static void send_output(redd__http_connection *c)
{
    size_t before = redd_output_queued(&c->output);
    int rc = redd_output_uncork(&c->output); /* also tells what failed since the last poll */
    if (rc && rc != UV_EAGAIN)
        redd__http_connection_lose(c, rc);
    else if (redd_output_queued(&c->output) < before)
        c->progress = true;
    if (rc == 0)
        redd__http_left(c);
    if (rc == 0 && redd__http_sends_file(c))
        redd__http_file_step(c);
    notify_drain(c);
}

static void linger(redd__http_connection *c)
{
    if (c->shut || redd_output_queued(&c->output) > 0)
        return;
    c->shut = true;
    if (redd_stream_shutdown(c->stream))
        c->phase = REDD__HTTP_CLOSED;
}

/* No request is in hand. One that has begun to come is none yet, unless more of it is there to be
 * read. */
static bool owes_nothing(const redd__http_connection *c)
{
    if (c->phase != REDD__HTTP_HEAD)
        return c->phase == REDD__HTTP_PROXY;
    bool more = c->head_begun && (c->stream->ready & REDD_STREAM_READ);
    return !more && !redd_output_blocked(&c->output);
}

static void run(redd__http_connection *c)
{
    redd_output_cork(&c->output);
    if (c->stream->ready & REDD_STREAM_RESET)
        redd__http_connection_lose(c, UV_ECONNRESET);
    if ((c->stream->ready & REDD_STREAM_HANGUP) && redd__http_hangup_watch(c->request))
        redd__http_watch_hangup(c->request);
    redd__http_advance(c);
    if (redd__http_wants_input(c))
        redd__http_input_read(c);
    if (c->phase != REDD__HTTP_CLOSED && redd__http_input_settle(c))
        redd__http_connection_lose(c, UV_ENOMEM);
    send_output(c);
    if (c->overdue) {
        redd__http_judge(c);
        send_output(c);
    }
    if (c->phase == REDD__HTTP_LINGER)
        linger(c);
    if (c->closing && owes_nothing(c))
        c->phase = REDD__HTTP_CLOSED;
}

/* What the end of a write may have made possible. */
static bool can_go_on(redd__http_connection *c)
{
    if (c->phase == REDD__HTTP_HEAD)
        return !redd_output_blocked(&c->output) && !c->head_begun && c->in_pos < c->in_len;
    return c->phase == REDD__HTTP_REQUEST && c->request && redd__http_can_finish(c);
}

/* A peer that only ended its sending side is still waiting for its response: while nothing is read
 * a hangup is of no interest, but to who watches for it. */
static void set_interest(redd__http_connection *c)
{
    unsigned events = redd__http_wants_input(c) ? REDD_STREAM_READ : 0;
    if (redd_output_queued(&c->output) > 0 || redd__http_sends_file(c))
        events |= REDD_STREAM_WRITE;
    if (redd__http_hangup_watch(c->request))
        events |= REDD_STREAM_HANGUP;
    redd_stream_interest(c->stream, events);
}

static redd_poll connection_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    redd__http_connection *c = REDD__LIST_ITEM(f, redd__http_connection, future);
    (void)out;
    if (c->phase == REDD__HTTP_CLOSED)
        return REDD_READY;
    redd_waker_keep(&c->waker, waker);
    redd_stream_wake(c->stream, waker);
    c->polling = true;
    run(c);
    c->polling = false;
    if (c->phase == REDD__HTTP_CLOSED)
        return REDD_READY;
    set_interest(c);
    redd__http_set_deadline(c);
    c->progress = false;
    bool readable = redd__http_wants_input(c) && (c->stream->ready & REDD_STREAM_READ);
    if (readable || c->poll_again || can_go_on(c))
        redd_waker_wake(waker);
    c->poll_again = false;
    return REDD_PENDING;
}

static void connection_drop(redd_future *f)
{
    redd__http_connection *c = REDD__LIST_ITEM(f, redd__http_connection, future);
    redd_http_server *server = c->server;
    c->phase = REDD__HTTP_CLOSED;
    /* What the stream has failed with, perhaps in somebody else's turn, says why. */
    int status = redd_output_error(&c->output) ? redd_output_error(&c->output) : UV_ECANCELED;
    redd__http_leaving_end(c, status);
    if (c->request)
        redd__http_request_end(c->request, status);
    redd_timer_stop(&c->timer);
    redd__http_input_release(c);
    redd__http_source_fini(c);
    if (c->stream) {
        bool unsent = redd_output_queued(&c->output) > 0;
        redd_output_fini(&c->output);
        redd_stream_close(c->stream, unsent || c->reset);
    }
    redd_waker_keep(&c->waker, NULL);
    redd__list_remove(&c->link);
    server->n_connections--;
    redd__http_meters_connection_end(server->state->meters, c->requests);
    redd_pool_put(&server->state->connections, c);
    redd__http_server_unref(server);
}

static const redd_future_vt connection_vt = {"http.connection", connection_poll, connection_drop};

int redd__http_connection_new(redd_http_server *server, redd_stream *stream)
{
    redd__http_state *st = server->state;
    redd__http_connection *c = redd_pool_get(&st->connections);
    if (!c)
        return UV_ENOMEM;
    memset(c, 0, sizeof *c);
    c->future.vt = &connection_vt;
    c->server = server;
    c->stream = stream;
    redd_timer_init(&c->timer, st->timers, redd__http_on_timer, c);
    redd_output_init(&c->output, st->worker, stream, server->options.max_queued + OUTPUT_RESERVE);
    int rc = redd_spawn(st->executor, &c->future, NULL);
    if (rc) {
        redd_output_fini(&c->output);
        redd_pool_put(&st->connections, c);
        return rc;
    }
    redd__list_append(&server->connections, &c->link);
    server->n_connections++;
    redd_metric_add(&st->meters->connections, 1);
    redd_metric_add(&st->meters->connections_open, 1);
    server->refs++;
    if (server->options.proxy_protocol)
        redd__http_proxy_begin(c);
    if (server->logged)
        (void)redd__http_source_of(c); /* a peer that has gone cannot be asked any more */
    return 0;
}

void redd__http_connection_close(redd__http_connection *c)
{
    c->closing = true;
    if (redd__http_wants_input(c))
        c->stream->ready |= REDD_STREAM_READ; /* a request that has come is still answered */
    redd__http_connection_wake(c);
}

void redd__http_connection_abort(redd__http_connection *c)
{
    c->phase = REDD__HTTP_CLOSED;
    redd__http_connection_wake(c);
}
