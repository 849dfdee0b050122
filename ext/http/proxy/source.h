/* SPDX-License-Identifier: MIT */
/** Whom a connection is from: its peer, or whom the peer's PROXY header names. */
#ifndef REDD_HTTP_PROXY_SOURCE_H
#define REDD_HTTP_PROXY_SOURCE_H

#include "ext/http/proxy/networks.h"

#include <redd/http.h>

/** One per connection; filled in when it is asked for. */
typedef struct redd__http_source {
    redd_address peer;
    redd_address *named; /* by a PROXY header; NULL: it is the peer */
    bool known;
    bool trusted; /* its word on the client counts */
    bool https;   /* it has spoken TLS to the proxy */
} redd__http_source;

struct redd__http_connection;

const redd__http_source *redd__http_source_of(struct redd__http_connection *c);
/** What a PROXY header has said. UV_ENOMEM. */
int redd__http_source_name(struct redd__http_connection *c, const redd_address *client, bool https);
/** At the connection's end. */
void redd__http_source_fini(struct redd__http_connection *c);

/** The networks of options.trusted. UV_EINVAL, with a logged sentence: redd__networks_parse, or
 *  proxy_protocol without a network that it could come from; UV_ENOMEM. */
int redd__http_trust_parse(const redd_allocator *a, const redd_logger *logger,
                           const redd_http_options *options, redd__networks **out);

#endif
