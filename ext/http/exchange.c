/* SPDX-License-Identifier: MIT */
/* From the bytes in hand to the end of a request: heads, the handler, bodies, and what comes next.
 */
#include "ext/http/coding/response.h"
#include "ext/http/connection.h"

#include <uv.h>

#define MAX_EMPTY_LINES 16 /* bytes of line ends before a head (RFC 9112 2.2) */

/* Skips empty lines (each exactly CRLF) and takes a request for the head that begins. Returns 0 or
 * the refusal's status. */
static unsigned begin_head(redd__http_connection *c)
{
    while (c->in_pos < c->in_len && c->in[c->in_pos] == (c->empty_lines & 1 ? '\n' : '\r')) {
        c->in_pos++;
        if (++c->empty_lines > MAX_EMPTY_LINES)
            return 400;
    }
    if (c->in_pos == c->in_len)
        return 0;
    if ((c->empty_lines & 1) || c->in[c->in_pos] == '\n')
        return 400; /* llhttp would skip it */
    c->request = redd__http_request_new(c);
    if (!c->request)
        return 503;
    c->request->began_at = redd_timers_now(c->timer.timers);
    c->head_off = c->in_pos;
    c->head_begun = true;
    c->progress = true;
    redd__http_parse_begin(c, &c->server->state->head_parser);
    c->empty_lines = 0;
    return 0;
}

static int end_of_refused(unsigned status)
{
    switch (status) {
    case 408:
        return UV_ETIMEDOUT;
    case 413:
    case 414:
    case 431:
        return REDD_ELIMIT;
    case 503:
        return UV_ENOMEM;
    default:
        return REDD_EMALFORMED;
    }
}

/* As much of a refused head as was understood, for who looks at it at the end. */
static void show_partial_head(redd__http_connection *c)
{
    redd_http_request *req = c->request;
    if (req->head)
        return;
    req->head = c->in + c->head_off;
    req->head_len = (uint32_t)(c->in_len - c->head_off);
    if (req->target_off > 0)
        req->method_len = req->target_off - 1;
}

void redd__http_connection_refuse(redd__http_connection *c, unsigned status)
{
    redd__http_refuse(c, status);
    c->phase = REDD__HTTP_LINGER;
    c->progress = true;
    if (c->request) {
        show_partial_head(c);
        redd__http_request_end(c->request, end_of_refused(status));
    }
    c->head_begun = false;
}

static void dispatch(redd__http_connection *c)
{
    redd_http_request *req = c->request;
    c->phase = REDD__HTTP_REQUEST;
    c->head_begun = false;
    c->progress = true;
    req->body_ended = req->body_length == 0;
    req->dispatched = true;
    redd__http_meters_dispatch(req->state->meters, c->parser.method);
    req->refs++; /* the handler may end the request, by an upgrade or by closing the server */
    c->server->handler(req, c->server->user);
    req->refs--;
    bool lives_on = req->conn
                        ? redd__http_request_expected(req) || req->answer != REDD__HTTP_ANSWERED
                        : req->refs > 0;
    if (lives_on && redd__http_request_retain(req))
        redd__http_connection_break(c);
    if (!req->conn)
        redd__http_request_settle(req);
}

/* "GET /" CRLF is HTTP/0.9, whose end llhttp would wait for. */
static bool lacks_version(const redd__http_connection *c)
{
    const redd_http_request *req = c->request;
    size_t behind = c->head_off + req->target_off + req->target_len;
    return req->target_len > 0 && behind < c->in_len && c->in[behind] != ' ';
}

/* Returns false when input is missing. */
static bool head_step(redd__http_connection *c)
{
    unsigned status = c->head_begun ? 0 : begin_head(c);
    if (status) {
        redd__http_connection_refuse(c, status);
        return true;
    }
    if (c->in_pos == c->in_len)
        return false;
    redd__http_parsed got = redd__http_parse_head(c);
    size_t head_len = c->in_pos - c->head_off;
    if (got == REDD__HTTP_GOT_ERROR)
        status = c->refusal;
    else if (head_len > c->server->options.max_head)
        status = 431;
    else if (got == REDD__HTTP_NEED_INPUT && !lacks_version(c))
        return false;
    else if (got == REDD__HTTP_NEED_INPUT)
        status = 400;
    if (status == 0) {
        c->request->head = c->in + c->head_off;
        c->request->head_len = (uint32_t)head_len;
        status = redd__http_head_check(c, c->request);
    }
    if (status)
        redd__http_connection_refuse(c, status);
    else
        dispatch(c);
    return true;
}

/* Somebody is told when the response is with the system, and it is not. */
static bool must_leave(const redd__http_connection *c)
{
    return redd__http_end_is_told(c->request) && redd_output_queued(&c->output) > 0;
}

/* There is no room for one more, or it is owed a drain event first. */
static bool cannot_leave(const redd__http_connection *c)
{
    return c->n_leaving == REDD__HTTP_MAX_LEAVING || (c->request->full && c->request->drain_fn);
}

bool redd__http_can_finish(redd__http_connection *c)
{
    const redd_http_request *req = c->request;
    return req->answer == REDD__HTTP_ANSWERED && !req->read_fn &&
           (req->body_ended || req->close_after) && !(must_leave(c) && cannot_leave(c));
}

/* The response is given and nobody reads the body any more. */
static void leave_body(redd_http_request *req)
{
    redd__http_coding_end(req);
    if (redd__http_body_is_small(req))
        req->read_mode = REDD__HTTP_READ_DISCARD;
    else
        req->close_after = true;
}

/* Returns true when the request in hand is over. */
static bool finish_step(redd__http_connection *c)
{
    redd_http_request *req = c->request;
    if (req->answer == REDD__HTTP_ANSWERED && !req->read_fn && !req->body_ended)
        leave_body(req);
    if (c->n_leaving == REDD__HTTP_MAX_LEAVING && redd_output_flush(&c->output) == 0)
        redd__http_left(c);
    if (c->phase != REDD__HTTP_REQUEST || !redd__http_can_finish(c))
        return false;
    c->phase = req->close_after ? REDD__HTTP_LINGER : REDD__HTTP_HEAD;
    c->progress = true;
    if (must_leave(c)) {
        redd__http_leave(c);
        return true;
    }
    redd__http_left(c);
    if (c->request == req) /* an end function may have aborted it */
        redd__http_request_end(req, 0);
    return true;
}

/* A request that nobody can answer any more gets a 500; a response that nobody can finish is cut.
 * Returns true when it was so. */
static bool abandon_step(redd__http_connection *c)
{
    redd_http_request *req = c->request;
    if (req->answer == REDD__HTTP_ANSWERED || redd__http_request_expected(req))
        return false;
    if (redd_output_error(&c->output)) { /* the peer gave up, not the handler */
        redd__http_connection_lose(c, redd_output_error(&c->output));
        return true;
    }
    redd_log(redd_worker_logger(req->state->worker), REDD_LOG_WARN,
             "http: a request was given up before its response was complete");
    if (redd_http_respond(req, 500, NULL, 0, redd_slice_of(NULL, 0)))
        redd__http_connection_break(c);
    return true;
}

void redd__http_advance(redd__http_connection *c)
{
    bool moved = true;
    while (moved) {
        moved = false;
        if (c->phase == REDD__HTTP_HEAD && !redd_output_blocked(&c->output))
            moved = head_step(c);
        else if (c->phase == REDD__HTTP_REQUEST && c->request)
            moved = finish_step(c) ||
                    (redd__http_body_wanted(c->request) && redd__http_body_step(c)) ||
                    abandon_step(c);
        else if (c->phase == REDD__HTTP_PROXY)
            moved = redd__http_proxy_step(c);
    }
    /* Input that follows takes the place of the head. */
    if (c->phase == REDD__HTTP_REQUEST && c->request && redd__http_request_retain(c->request))
        redd__http_connection_break(c);
}
