/* SPDX-License-Identifier: MIT */
#include "ext/http/proxy/source.h"

#include "ext/http/connection.h"

#include <uv.h>

const redd__http_source *redd__http_source_of(redd__http_connection *c)
{
    redd__http_source *s = &c->source;
    if (s->known || !c->stream) /* an upgrade has taken the stream */
        return s;
    redd_stream_peer(c->stream, &s->peer);
    s->trusted = redd__networks_have_address(c->server->trusted, &s->peer);
    s->known = true;
    return s;
}

int redd__http_source_name(redd__http_connection *c, const redd_address *client, bool https)
{
    redd__http_source *s = &c->source;
    s->named = redd_alloc(c->server->state->alloc, sizeof *s->named);
    if (!s->named)
        return UV_ENOMEM;
    *s->named = *client;
    s->trusted = redd__networks_have_address(c->server->trusted, client);
    s->https = https;
    return 0;
}

void redd__http_source_fini(redd__http_connection *c)
{
    redd_free(c->server->state->alloc, c->source.named, sizeof *c->source.named);
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
