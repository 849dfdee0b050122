/* SPDX-License-Identifier: MIT */
/** The PROXY protocol, versions 1 and 2 (HAProxy's proxy-protocol.txt): whom a connection is from,
 *  before its first byte. */
#ifndef REDD_HTTP_PROXY_HEADER_H
#define REDD_HTTP_PROXY_HEADER_H

#include <redd/stream.h>

/** Bytes that a header may have. */
#define REDD__PROXY_LINE_MAX   107U
#define REDD__PROXY_BINARY_MAX (4U << 10)

typedef enum redd__proxy_parsed {
    REDD__PROXY_MORE = 0, /* it is the beginning of one */
    REDD__PROXY_DONE,
    REDD__PROXY_BAD
} redd__proxy_parsed;

typedef struct redd__proxy_header {
    size_t len; /* of the header */
    bool named; /* else the peer speaks for itself */
    bool https; /* the client has spoken TLS to the proxy (PP2_TYPE_SSL) */
    redd_address client;
} redd__proxy_header;

/** `in` is all that has come of the connection. */
redd__proxy_parsed redd__proxy_parse(redd_slice in, redd__proxy_header *out);

#endif
