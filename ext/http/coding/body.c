/* SPDX-License-Identifier: MIT */
/* Bodies that are decoded between the wire and the handler: a piece of the wire stays where it is
 * until all that it holds was asked for, and no other is read before. */
#include "ext/http/coding/decoding.h"
#include "ext/http/connection.h"

#include <uv.h>

/* Decoded bytes after which other connections have their turn: a small piece can hold many. */
#define TURN (64U << 10)

static int read_codings(const redd_http_request *req, redd__http_coding *codings, size_t *n)
{
    redd_slice list;
    int rc = 0;
    *n = 0;
    for (size_t i = 0; rc == 0; i++) {
        list = redd_http_field_get(req, "content-encoding", i);
        if (!list.data)
            break;
        rc = redd__http_codings_parse(list, codings, n);
    }
    return rc;
}

/* Decoded pieces lie in the worker's memory during the call that gives them. */
static int get_memory(redd__http_state *st)
{
    if (!st->decoded)
        st->decoded = redd_alloc(st->alloc, REDD__HTTP_DECODED_MAX);
    return st->decoded ? 0 : UV_ENOMEM;
}

int redd_http_decode(redd_http_request *req, uint64_t max)
{
    redd__http_coding codings[REDD__HTTP_CODINGS_MAX];
    size_t n;
    if (!req->conn)
        return REDD_ECLOSED;
    if (req->decoding || req->read_fn || req->body_received > 0 || req->last_given)
        return REDD_ESTATE;
    int rc = read_codings(req, codings, &n);
    if (rc)
        return rc;
    if (max == 0)
        max = req->body_max;
    if (n > 0) {
        rc = get_memory(req->state);
        return rc ? rc
                  : redd__http_decoding_new(req->state->alloc, codings, n, max, &req->decoding);
    }
    if (max < req->body_max)
        req->body_max = max;
    return 0;
}

static unsigned refusal_of(int error)
{
    return error == REDD_ELIMIT ? 413 : error == UV_ENOMEM ? 503 : 400;
}

bool redd__http_decode_step(redd__http_connection *c, redd_http_request *req)
{
    redd__http_decoding *d = req->decoding;
    if (d->spent >= TURN) {
        d->spent = 0;
        c->poll_again = true;
        return false;
    }
    redd_slice wire = redd_slice_of("", 0), out;
    if (d->pending > 0)
        wire = redd_slice_of(c->in + c->in_pos - d->pending, d->pending);
    int step = redd__http_decoding_step(d, &wire, req->state->decoded, &out);
    d->pending = wire.len;
    d->owes = step == REDD__HTTP_STEP_ROOM;
    d->spent += out.len;
    bool last = req->body_ended && !redd__http_decoding_waits(d);
    if (step >= 0 && last && !redd__http_decoding_may_end(d, step))
        step = REDD_EMALFORMED; /* it was cut */
    if (step < 0)
        redd__http_body_fail(c, req, refusal_of(step));
    else if (out.len > 0 || last)
        redd__http_body_deliver(c, req, out, last);
    return true;
}
