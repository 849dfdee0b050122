/* SPDX-License-Identifier: MIT */
/* Tells whom it takes for its client: "host port scheme client-host peer id". */
#include <redd/redd.h>

#include <stdio.h>

static void serve(redd_http_request *req, void *user)
{
    redd_address client, peer;
    char text[1024];
    (void)user;
    redd_http_client(req, &client);
    redd_http_peer(req, &peer);
    redd_slice scheme = redd_http_scheme(req), host = redd_http_client_host(req);
    redd_slice id = redd_http_id(req);
    (void)snprintf(text, sizeof text, "%s %u %.*s %.*s %s %.*s",
                   client.local ? "unix" : client.host, (unsigned)client.port, (int)scheme.len,
                   scheme.data, (int)host.len, host.data, peer.host, (int)id.len, id.data);
    redd_http_respond_text(req, 200, text);
}

REDD_SERVE(serve)
