/* SPDX-License-Identifier: MIT */
/** The networks whose word on the client counts: "10.0.0.0/8, ::1, unix". */
#ifndef REDD_HTTP_PROXY_NETWORKS_H
#define REDD_HTTP_PROXY_NETWORKS_H

#include "ext/http/proxy/address.h"

#include <redd/log.h>

typedef struct redd__networks redd__networks;

/** NULL in `*out` for a text without networks. UV_EINVAL: a part is none, and a logged sentence
 *  tells which and what was expected; UV_ENOMEM. */
int redd__networks_parse(const redd_allocator *a, const char *text, const redd_logger *logger,
                         redd__networks **out);
/** NULL is allowed. */
void redd__networks_free(redd__networks *n);
/** NULL: has none. */
bool redd__networks_have(const redd__networks *n, const redd__ip *ip);
/** As redd__networks_have; an address without a host, but for a unix socket's, is in none. */
bool redd__networks_have_address(const redd__networks *n, const redd_address *address);

#endif
