/* SPDX-License-Identifier: MIT */
/* What a connection waits for, and for how long. One timer; its deadline moves by a store. */
#include "ext/http/connection.h"

#include <uv.h>

#define LINGER_MS     2000 /* for the peer to read a last response and close */
#define RATE_GRACE_MS 5000 /* of waiting for a body, before its rate is looked at */

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

/* How long the body may have been waited for, with what has come of it. */
static uint64_t allowed_ms(const redd__http_connection *c)
{
    uint64_t rate = c->server->options.min_body_rate, n = c->request->body_received;
    if (rate == 0)
        return UINT64_MAX;
    uint64_t ms = n / rate * 1000 + n % rate * 1000 / rate + 1;
    return ms < RATE_GRACE_MS ? RATE_GRACE_MS : ms;
}

static uint64_t awaited_ms(const redd_http_request *req, uint64_t now)
{
    return req->awaited_ms + (req->awaited ? now - req->awaited_since : 0);
}

/* Bytes came, but too few for all the time that they were waited for. */
static bool body_is_slow(const redd__http_connection *c, uint64_t now)
{
    return c->wait == REDD__HTTP_WAIT_BODY && c->request && redd__http_body_wanted(c->request) &&
           awaited_ms(c->request, now) >= allowed_ms(c);
}

void redd__http_judge(redd__http_connection *c)
{
    uint64_t now = redd_timers_now(c->timer.timers);
    bool late = c->overdue && now >= c->deadline && (!c->progress || body_is_slow(c, now));
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

/* Only the time in which the peer is waited for counts: a handler may take its own. */
static void stop_awaiting(redd_http_request *req, uint64_t now)
{
    req->awaited_ms = awaited_ms(req, now);
    req->awaited = false;
}

/* Returns how long the next bytes may take. */
static uint64_t await_body(redd__http_connection *c, uint64_t now)
{
    redd_http_request *req = c->request;
    req->awaited = true;
    req->awaited_since = now;
    uint64_t allowed = allowed_ms(c), idle = wait_ms(c, REDD__HTTP_WAIT_BODY);
    uint64_t left = allowed > req->awaited_ms ? allowed - req->awaited_ms : 0;
    return left < idle ? left : idle;
}

void redd__http_set_deadline(redd__http_connection *c)
{
    redd__http_wait wait = current_wait(c);
    if (wait == c->wait && !c->progress)
        return;
    uint64_t now = redd_timers_now(c->timer.timers);
    if (c->wait == REDD__HTTP_WAIT_BODY && c->request)
        stop_awaiting(c->request, now);
    c->wait = (uint8_t)wait;
    if (wait == REDD__HTTP_WAIT_NONE)
        return;
    uint64_t ms = wait == REDD__HTTP_WAIT_BODY ? await_body(c, now) : wait_ms(c, wait);
    c->deadline = now + ms;
    if (redd_timer_active(&c->timer) && c->timer_at <= c->deadline)
        return;
    c->timer_at = c->deadline;
    redd_timer_start(&c->timer, ms);
}
