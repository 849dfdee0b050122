/* SPDX-License-Identifier: MIT */
#include "ext/http/proxy/origin.h"

#include "ext/http/connection.h"
#include "ext/http/proxy/forwarded.h"

static void find(redd_http_request *req)
{
    redd__origin o = {.client = {.host = ""}};
    req->origin_known = true;
    if (req->conn) {
        const redd__http_source *s = redd__http_source_of(req->conn);
        o.client = s->named ? *s->named : s->peer;
        o.https = s->https;
        if (s->trusted)
            redd__forwarded_read(req, req->conn->server->trusted, &o);
    }
    req->origin = (redd__http_origin){.client = o.client, .https = o.https};
    if (o.host.data) {
        req->origin.host_off = (uint32_t)(o.host.data - req->head);
        req->origin.host_len = (uint32_t)o.host.len;
    }
}

static const redd__http_origin *origin_of(const redd_http_request *asked)
{
    redd_http_request *req = (redd_http_request *)(uintptr_t)asked; /* a cache, not a change */
    if (!req->origin_known)
        find(req);
    return &req->origin;
}

void redd_http_client(const redd_http_request *req, redd_address *out)
{
    *out = origin_of(req)->client;
}

redd_slice redd_http_scheme(const redd_http_request *req)
{
    static const redd_slice http = REDD_SLICE("http"), https = REDD_SLICE("https");
    return origin_of(req)->https ? https : http;
}

redd_slice redd_http_client_host(const redd_http_request *req)
{
    const redd__http_origin *o = origin_of(req);
    redd_slice told = redd__http_in_head(req, o->host_off, o->host_len);
    return told.len > 0 ? told : redd_http_host(req);
}

void redd__http_origin_keep(redd_http_request *req)
{
    const redd__http_source *s = redd__http_source_of(req->conn);
    req->peer = s->peer;
    (void)origin_of(req);
    if (s->trusted)
        (void)redd_http_id(req); /* the peer may have given it one */
}
