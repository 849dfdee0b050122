/* SPDX-License-Identifier: MIT */
/* The PROXY header that stands before everything else on a connection from a trusted peer. */
#include "ext/http/connection.h"
#include "ext/http/proxy/header.h"

void redd__http_proxy_begin(redd__http_connection *c)
{
    if (redd__http_source_of(c)->trusted)
        c->phase = REDD__HTTP_PROXY;
}

void redd__http_proxy_refuse(redd__http_connection *c)
{
    redd_metric_add(&c->server->state->meters->proxy_refused, 1);
    c->phase = REDD__HTTP_CLOSED;
}

bool redd__http_proxy_step(redd__http_connection *c)
{
    redd__proxy_header h;
    if (c->in_pos == c->in_len)
        return false;
    switch (redd__proxy_parse(redd_slice_of(c->in + c->in_pos, c->in_len - c->in_pos), &h)) {
    case REDD__PROXY_MORE:
        c->head_begun = true; /* the header is needed whole, as a head is */
        return false;
    case REDD__PROXY_BAD:
        redd__http_proxy_refuse(c);
        return true;
    default:
        break;
    }
    if (h.named && redd__http_source_name(c, &h.client, h.https)) {
        redd__http_connection_break(c);
        return true;
    }
    c->in_pos += h.len;
    c->head_begun = false;
    c->progress = true;
    c->phase = REDD__HTTP_HEAD;
    return true;
}
