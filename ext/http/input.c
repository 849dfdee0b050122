/* SPDX-License-Identifier: MIT */
/* Input memory: the worker's read buffer during a poll, the connection's own for what must outlive
 * it. */
#include "ext/http/coding/decoding.h"
#include "ext/http/connection.h"

#include <uv.h>

#define HELD_MIN    1024       /* own memory grows from here by doubling */
#define DISCARD_MAX (1U << 20) /* bytes that a lingering connection takes from its peer */

bool redd__http_wants_input(const redd__http_connection *c)
{
    switch (c->phase) {
    case REDD__HTTP_HEAD:
        /* While output waits for the peer nothing further is taken from it: a peer that sends but
         * does not read costs what is in hand and no more. */
        return !redd_output_blocked(&c->output) && (c->head_begun || c->in_pos == c->in_len);
    case REDD__HTTP_REQUEST:
        return c->request && redd__http_body_wanted(c->request) && !c->request->body_ended &&
               c->in_pos == c->in_len && !redd__http_decoding_waits(c->request->decoding);
    case REDD__HTTP_LINGER:
        return c->shut;
    case REDD__HTTP_PROXY:
        return true;
    default:
        return false;
    }
}

void redd__http_input_release(redd__http_connection *c)
{
    if (c->held)
        redd_free(c->server->state->alloc, c->in, c->held);
    c->in = NULL;
    c->in_pos = c->in_len = c->head_off = c->held = 0;
}

/* Where bytes are still needed from: an incomplete head is needed whole, and of a body what was not
 * decoded yet. */
static size_t needed_from(const redd__http_connection *c)
{
    if (c->head_begun)
        return c->head_off;
    const redd_http_request *req = c->request;
    return c->in_pos - (req && req->decoding ? req->decoding->pending : 0);
}

/* Moves the needed bytes to own memory with at least `room` bytes behind them. */
static int hold(redd__http_connection *c, size_t room)
{
    size_t from = needed_from(c), keep = c->in_len - from, pos = c->in_pos - from;
    size_t size = HELD_MIN;
    while (size < keep + room)
        size *= 2;
    char *memory = redd_alloc(c->server->state->alloc, size);
    if (!memory)
        return UV_ENOMEM;
    if (keep > 0)
        memcpy(memory, c->in + from, keep);
    redd__http_input_release(c);
    c->in = memory;
    c->held = size;
    c->in_pos = pos;
    c->in_len = keep;
    return 0;
}

int redd__http_input_settle(redd__http_connection *c)
{
    if (c->phase == REDD__HTTP_LINGER || needed_from(c) == c->in_len) {
        redd__http_input_release(c);
        return 0;
    }
    return c->held ? 0 : hold(c, 0);
}

/* Where the next bytes go: behind an incomplete head, else into the worker's buffer. */
static int input_room(redd__http_connection *c, char **room, size_t *size)
{
    if (!c->head_begun) {
        redd__http_input_release(c);
        *room = c->in = redd_read_buffer(c->server->state->worker, size);
        return 0;
    }
    int rc = c->in_len == c->held ? hold(c, c->in_len - c->head_off + HELD_MIN) : 0;
    *room = c->in + c->in_len;
    *size = c->held - c->in_len;
    return rc;
}

/* The peer sends no more. Responses that are under way still go out to a half-closed peer. */
static void on_eof(redd__http_connection *c)
{
    redd_http_request *req = c->request;
    if (req && req->answer == REDD__HTTP_ANSWERED && !req->read_fn) {
        /* Nobody misses the rest of the body; the response is owed all the same. */
        req->body_ended = true;
        redd__http_advance(c);
        return;
    }
    bool unsent = c->phase == REDD__HTTP_HEAD && redd_output_queued(&c->output) > 0;
    c->head_begun = false;
    c->phase = unsent ? REDD__HTTP_LINGER : REDD__HTTP_CLOSED;
    if (req)
        redd__http_request_end(req, UV_ECONNRESET);
}

static void discard(redd__http_connection *c)
{
    size_t size, n;
    char *buffer = redd_read_buffer(c->server->state->worker, &size);
    int rc = redd_stream_read(c->stream, buffer, size, &n);
    c->discarded += n;
    if ((rc && rc != UV_EAGAIN) || (rc == 0 && n == 0) || c->discarded > DISCARD_MAX)
        c->phase = REDD__HTTP_CLOSED;
}

void redd__http_input_read(redd__http_connection *c)
{
    char *room;
    size_t size, n = 0;
    if (!(c->stream->ready & REDD_STREAM_READ))
        return;
    if (c->phase == REDD__HTTP_LINGER) {
        discard(c);
        return;
    }
    int rc = input_room(c, &room, &size);
    if (rc == 0)
        rc = redd_stream_read(c->stream, room, size, &n);
    if (rc == UV_EAGAIN)
        return;
    if (rc) {
        redd__http_connection_lose(c, rc);
    } else if (n == 0) {
        on_eof(c);
    } else {
        c->in_len += n;
        redd__http_advance(c);
    }
}
