/* SPDX-License-Identifier: MIT */
/* Request bodies, on demand: nothing is parsed or read from the peer before somebody asks. */
#include "ext/http/coding/decoding.h"
#include "ext/http/trailers.h"

#include <uv.h>

static int may_read(const redd_http_request *req)
{
    if (!req->conn)
        return REDD_ECLOSED;
    if (req->read_fn || req->last_given || req->read_mode == REDD__HTTP_READ_DISCARD)
        return REDD_ESTATE;
    return 0;
}

static void ask(redd_http_request *req, redd__http_read_mode mode, redd_http_read_fn fn, void *user)
{
    req->read_mode = (uint8_t)mode;
    req->read_fn = fn;
    req->read_user = user;
    redd__http_connection_wake(req->conn);
}

int redd_http_read(redd_http_request *req, redd_http_read_fn fn, void *user)
{
    int rc = may_read(req);
    if (rc == 0)
        ask(req, REDD__HTTP_READ_PIECE, fn, user);
    return rc;
}

int redd_http_read_all(redd_http_request *req, size_t max, redd_http_read_fn fn, void *user)
{
    int rc = may_read(req);
    if (rc)
        return rc;
    uint64_t *limit = req->decoding ? &req->decoding->left : &req->body_max;
    if (max && max < *limit)
        *limit = max;
    redd_buffer_init(&req->body, req->state->alloc, *limit);
    ask(req, REDD__HTTP_READ_ALL, fn, user);
    return 0;
}

int redd_http_set_max_body(redd_http_request *req, uint64_t max)
{
    if (!req->conn)
        return REDD_ECLOSED;
    if (req->read_fn || req->body_received > 0 || req->last_given)
        return REDD_ESTATE;
    req->body_max = max;
    return 0;
}

bool redd__http_body_wanted(const redd_http_request *req)
{
    if (req->read_mode == REDD__HTTP_READ_DISCARD)
        return !req->body_ended;
    return req->read_fn != NULL;
}

bool redd__http_body_is_small(const redd_http_request *req)
{
    uint64_t left = (uint64_t)req->body_length - req->body_received;
    return req->body_length >= 0 && left <= REDD__HTTP_DISCARD_MAX && !req->expects_continue;
}

static void give(redd_http_request *req, redd_slice data, bool last)
{
    redd_http_read_fn fn = req->read_fn;
    req->read_fn = NULL;
    req->read_mode = REDD__HTTP_READ_NONE;
    req->last_given = last;
    /* The function may end the request and with it the memory that it reads from. */
    (void)redd_http_request_ref(req);
    fn(req, 0, data, last, req->read_user);
    if (last && req->body.data)
        redd_buffer_release(&req->body);
    redd_http_request_unref(req);
}

/* RFC 9110 10.1.1: only when the body is wanted, and none of it has come. */
static void proceed(redd__http_connection *c, redd_http_request *req)
{
    static const redd_slice line = REDD_SLICE("HTTP/1.1 100 Continue\r\n\r\n");
    if (req->answer == REDD__HTTP_UNANSWERED && c->in_pos == c->in_len &&
        redd_output_write(&c->output, line) == 0)
        redd__http_meters_interim(req->state->meters);
    req->expects_continue = false;
}

void redd__http_body_fail(redd__http_connection *c, redd_http_request *req, unsigned refusal)
{
    int status = refusal == 413 || refusal == 431 ? REDD_ELIMIT
                 : refusal == 503                 ? UV_ENOMEM
                                                  : REDD_EMALFORMED;
    if (req->answer == REDD__HTTP_STREAMING) {
        redd__http_connection_lose(c, status);
        return;
    }
    if (req->answer == REDD__HTTP_UNANSWERED)
        redd__http_refuse(c, refusal);
    c->phase = REDD__HTTP_LINGER;
    redd__http_request_end(req, status);
}

void redd__http_body_deliver(redd__http_connection *c, redd_http_request *req, redd_slice piece,
                             bool last)
{
    if (req->read_mode == REDD__HTTP_READ_PIECE || (last && req->body.len == 0)) {
        give(req, piece, last);
        return;
    }
    if (redd_buffer_append(&req->body, piece.data, piece.len))
        redd__http_body_fail(c, req, 503);
    else if (last)
        give(req, redd_buffer_slice(&req->body), true);
}

/* The piece ends at the connection's in_pos. */
static void take(redd__http_connection *c, redd_http_request *req, redd_slice piece, bool last)
{
    req->body_received += piece.len;
    req->body_ended = last;
    if (req->read_mode == REDD__HTTP_READ_DISCARD)
        return;
    if (req->decoding)
        req->decoding->pending = piece.len; /* the next step decodes it */
    else
        redd__http_body_deliver(c, req, piece, last);
}

static bool length_step(redd__http_connection *c, redd_http_request *req)
{
    uint64_t left = (uint64_t)req->body_length - req->body_received;
    redd_slice piece = redd_slice_of(c->in + c->in_pos, c->in_len - c->in_pos);
    bool last = piece.len >= left;
    if (last)
        piece.len = (size_t)left;
    c->in_pos += piece.len;
    take(c, req, piece, last);
    return true;
}

static bool trailers_step(redd__http_connection *c, redd_http_request *req)
{
    switch (redd__http_trailers_read(c)) {
    case REDD__HTTP_NEED_INPUT:
        return false;
    case REDD__HTTP_GOT_LINES:
        take(c, req, redd_slice_of(NULL, 0), true);
        return true;
    default:
        redd__http_body_fail(c, req, c->refusal);
        return true;
    }
}

static bool chunk_step(redd__http_connection *c, redd_http_request *req)
{
    const redd__http_chunk_limits limits = {.body = req->body_max,
                                            .extensions = c->server->options.max_extensions};
    redd_slice rest = redd_slice_of(c->in + c->in_pos, c->in_len - c->in_pos);
    redd_slice piece = redd_slice_of(NULL, 0);
    redd__http_chunk_event event = redd__http_chunked_next(&req->chunks, &rest, &limits, &piece);
    c->in_pos = c->in_len - rest.len;
    switch (event) {
    case REDD__HTTP_CHUNK_MORE:
        return false;
    case REDD__HTTP_CHUNK_DATA:
    case REDD__HTTP_CHUNK_END:
        take(c, req, piece, event == REDD__HTTP_CHUNK_END);
        return true;
    case REDD__HTTP_CHUNK_TRAILERS:
        return trailers_step(c, req);
    case REDD__HTTP_CHUNK_LIMIT:
        redd__http_body_fail(c, req, 413);
        return true;
    default:
        redd__http_body_fail(c, req, 400);
        return true;
    }
}

/* A step of decoding is next: it comes before anything further of the wire. */
static bool decodes(const redd_http_request *req)
{
    const redd__http_decoding *d = req->decoding;
    return d && (redd__http_decoding_waits(d) || req->body_ended);
}

bool redd__http_body_step(redd__http_connection *c)
{
    redd_http_request *req = c->request;
    if (req->body_length > 0 && (uint64_t)req->body_length > req->body_max) {
        redd__http_body_fail(c, req, 413);
        return true;
    }
    if (req->expects_continue)
        proceed(c, req);
    if (decodes(req))
        return redd__http_decode_step(c, req);
    if (req->body_ended) {
        take(c, req, redd_slice_of(NULL, 0), true);
        return true;
    }
    if (c->in_pos == c->in_len)
        return false;
    c->progress = true;
    return req->chunked ? chunk_step(c, req) : length_step(c, req);
}
