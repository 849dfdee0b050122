/* SPDX-License-Identifier: MIT */
#include "ext/http/proxy/source.h"

#include "ext/http/connection.h"

#include <uv.h>

const redd__http_source *redd__http_source_of(redd__http_connection *c)
{
    redd__http_source *s = &c->source;
    if (s->known || !c->stream) /* an upgrade has taken the stream */
        return s;
    redd_stream_peer(c->stream, &s->address);
    s->trusted = redd__networks_have_address(c->server->trusted, &s->address);
    s->known = true;
    return s;
}

void redd__http_source_set(redd__http_connection *c, const redd_address *client, bool https)
{
    c->source = (redd__http_source){
        .address = *client,
        .known = true,
        .trusted = redd__networks_have_address(c->server->trusted, client),
        .https = https,
    };
}

int redd__http_trust_parse(const redd_allocator *a, const redd_logger *logger,
                           const redd_http_options *options, redd__networks **out)
{
    int rc = redd__networks_parse(a, options->trusted, logger, out);
    if (rc == 0 && options->proxy_protocol && !*out) {
        redd_log(logger, REDD_LOG_ERROR,
                 "http.proxy_protocol is on, but http.trusted names no network that a PROXY header "
                 "may come from");
        rc = UV_EINVAL;
    }
    return rc;
}
