/* SPDX-License-Identifier: MIT */
/** What proxies say of the client: Forwarded (RFC 7239) and X-Forwarded-For, -Proto and -Host. */
#ifndef REDD_HTTP_PROXY_FORWARDED_H
#define REDD_HTTP_PROXY_FORWARDED_H

#include "ext/http/proxy/networks.h"

#include <redd/http.h>

/** Who asks, and how. */
typedef struct redd__origin {
    redd_address client;
    bool https;
    redd_slice host; /* data NULL: not told */
} redd__origin;

/**
 * Reads the fields of a request that came from a trusted client of the connection, whom `o` holds,
 * and puts into `o` what they tell. Addresses are walked from the last, which the peer itself has
 * added, to the first that is not trusted: that is the client, since what stands before it is its
 * own word only. What is malformed, hidden ("_name") or "unknown" ends the walk at the address
 * behind it.
 *
 * A request with both Forwarded and X-Forwarded fields tells nothing: a proxy that writes the ones
 * and lets the others pass would let the client tell them.
 */
void redd__forwarded_read(const redd_http_request *req, const redd__networks *trusted,
                          redd__origin *o);

#endif
