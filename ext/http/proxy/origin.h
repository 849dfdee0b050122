/* SPDX-License-Identifier: MIT */
/** Who asks, as a request's getters tell it. */
#ifndef REDD_HTTP_PROXY_ORIGIN_H
#define REDD_HTTP_PROXY_ORIGIN_H

#include <redd/http.h>

/** Found at the first question, and kept in the request. */
typedef struct redd__http_origin {
    redd_address client;
    bool https;
    uint32_t host_off, host_len; /* in the head; 0: not told */
} redd__http_origin;

/** At the end of a request that is still held: what its connection tells is asked for now. */
void redd__http_origin_keep(redd_http_request *req);

#endif
