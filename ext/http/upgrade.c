/* SPDX-License-Identifier: MIT */
/* Handing a connection over: to another protocol (RFC 9110 7.8), or as a tunnel (9.3.6). */
#include "ext/http/connection.h"

#include <uv.h>

bool redd_http_wants_upgrade(const redd_http_request *req, const char *protocol)
{
    if (!req->wants_upgrade)
        return false;
    redd_slice wanted = redd_slice_str(protocol);
    for (size_t n = 0;; n++) {
        redd_slice value = redd_http_field_get(req, "upgrade", n);
        if (!value.data)
            return false;
        if (redd_slice_has_token(value, wanted))
            return true;
    }
}

static int may_upgrade(const redd_http_request *req)
{
    if (!req->conn || req->conn->phase == REDD__HTTP_CLOSED)
        return REDD_ECLOSED;
    if (req->answer != REDD__HTTP_UNANSWERED || req->conn->closing)
        return REDD_ESTATE;
    return req->minor == 0 || req->body_length != 0 ? UV_EINVAL : 0;
}

/* The stream and what waits for it become the caller's; the request has ended. */
static int hand_over(redd_http_request *req, redd_http_upgraded *out)
{
    redd__http_connection *c = req->conn;
    out->peer = redd__http_source_of(c)->peer;
    int rc = redd_output_move(&out->output, &c->output);
    if (rc) {
        redd__http_connection_break(c); /* a 101 that nobody stands behind must not leave */
        return rc;
    }
    out->leftover = redd_slice_of(c->in + c->in_pos, c->in_len - c->in_pos);
    out->stream = c->stream;
    redd_stream_wake(c->stream, NULL);
    redd_timer_stop(&c->timer);
    c->stream = NULL;
    redd_metric_add(&req->state->meters->upgrades, 1);
    c->phase = REDD__HTTP_CLOSED;
    redd__http_connection_wake(c);
    /* The end functions of those before may abort this one; it can do nothing else any more. */
    req->answer = REDD__HTTP_ANSWERED;
    (void)redd_http_request_ref(req);
    redd__http_leaving_end(c, 0);
    if (req->conn)
        redd__http_request_end(req, 0);
    redd_http_request_unref(req);
    return 0;
}

int redd_http_upgrade(redd_http_request *req, const char *protocol, const redd_http_field *fields,
                      size_t n, redd_http_upgraded *out)
{
    int rc = may_upgrade(req);
    if (rc == 0)
        rc = redd__http_write_switch(req, protocol, fields, n);
    return rc ? rc : hand_over(req, out);
}

int redd_http_tunnel(redd_http_request *req, const redd_http_field *fields, size_t n,
                     redd_http_upgraded *out)
{
    static const redd_slice connect = REDD_SLICE("CONNECT");
    int rc = may_upgrade(req);
    if (rc == 0 && !redd_slice_equal(redd_http_method(req), connect))
        rc = UV_EINVAL;
    if (rc == 0)
        rc = redd__http_write_tunnel(req, fields, n);
    return rc ? rc : hand_over(req, out);
}
