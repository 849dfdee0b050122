/* SPDX-License-Identifier: MIT */
/* What a connection waits for, and for how long. One timer; its deadline moves by a store. */
#include "ext/http/connection.h"

#include <uv.h>

#define LINGER_MS 2000 /* for the peer to read a last response and close */

void redd__http_on_timer(redd_timer *t, void *user)
{
    redd__http_connection *c = user;
    uint64_t now = redd_timers_now(t->timers);
    if (c->wait == REDD__HTTP_WAIT_NONE)
        return;
    if (now < c->deadline) {
        c->timer_at = c->deadline;
        redd_timer_start(t, c->deadline - now);
        return;
    }
    /* What came while the loop was busy speaks for the peer: look before judging. */
    if (redd__http_wants_input(c))
        c->stream->ready |= REDD_STREAM_READ;
    if (c->wait == REDD__HTTP_WAIT_WRITE)
        c->stream->ready |= REDD_STREAM_WRITE;
    c->overdue = true;
    redd__http_connection_wake(c);
}

static void body_timed_out(redd__http_connection *c)
{
    redd_http_request *req = c->request;
    if (req->answer == REDD__HTTP_UNANSWERED) {
        redd__http_refuse(c, 408);
        c->phase = REDD__HTTP_LINGER;
        redd__http_request_end(req, UV_ETIMEDOUT);
    } else {
        redd__http_connection_lose(c, UV_ETIMEDOUT);
    }
}

void redd__http_judge(redd__http_connection *c)
{
    bool late = c->overdue && !c->progress && redd_timers_now(c->timer.timers) >= c->deadline;
    c->overdue = false;
    if (!late || c->phase == REDD__HTTP_CLOSED)
        return;
    switch (c->wait) {
    case REDD__HTTP_WAIT_HEAD:
        redd__http_connection_refuse(c, 408);
        break;
    case REDD__HTTP_WAIT_BODY:
        body_timed_out(c);
        break;
    case REDD__HTTP_WAIT_PROXY:
        redd__http_proxy_refuse(c);
        break;
    case REDD__HTTP_WAIT_IDLE:
    case REDD__HTTP_WAIT_LINGER:
        c->phase = REDD__HTTP_CLOSED;
        break;
    default:
        redd__http_connection_lose(c, UV_ETIMEDOUT);
        break;
    }
}

static redd__http_wait current_wait(const redd__http_connection *c)
{
    if (redd_output_queued(&c->output) > 0 || redd__http_sends_file(c))
        return REDD__HTTP_WAIT_WRITE;
    if (c->phase == REDD__HTTP_LINGER)
        return REDD__HTTP_WAIT_LINGER;
    if (c->phase == REDD__HTTP_HEAD)
        return c->head_begun ? REDD__HTTP_WAIT_HEAD : REDD__HTTP_WAIT_IDLE;
    if (c->phase == REDD__HTTP_PROXY)
        return REDD__HTTP_WAIT_PROXY;
    return redd__http_wants_input(c) ? REDD__HTTP_WAIT_BODY : REDD__HTTP_WAIT_NONE;
}

static uint64_t wait_ms(const redd__http_connection *c, redd__http_wait wait)
{
    const redd_http_options *o = &c->server->options;
    switch (wait) {
    case REDD__HTTP_WAIT_HEAD:
    case REDD__HTTP_WAIT_PROXY:
        return o->head_timeout_ms;
    case REDD__HTTP_WAIT_BODY:
        return o->body_timeout_ms;
    case REDD__HTTP_WAIT_WRITE:
        return o->write_timeout_ms;
    case REDD__HTTP_WAIT_LINGER:
        return LINGER_MS;
    default:
        return o->keep_alive_ms;
    }
}

void redd__http_set_deadline(redd__http_connection *c)
{
    redd__http_wait wait = current_wait(c);
    if (wait == c->wait && !c->progress)
        return;
    c->wait = (uint8_t)wait;
    if (wait == REDD__HTTP_WAIT_NONE)
        return;
    uint64_t ms = wait_ms(c, wait);
    c->deadline = redd_timers_now(c->timer.timers) + ms;
    if (redd_timer_active(&c->timer) && c->timer_at <= c->deadline)
        return;
    c->timer_at = c->deadline;
    redd_timer_start(&c->timer, ms);
}
