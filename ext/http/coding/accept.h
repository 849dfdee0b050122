/* SPDX-License-Identifier: MIT */
/** Accept-Encoding (RFC 9110 12.5.3). */
#ifndef REDD_HTTP_CODING_ACCEPT_H
#define REDD_HTTP_CODING_ACCEPT_H

#include "ext/http/coding/codec.h"

#include <redd/http.h>

/** A set of codings. */
#define REDD__HTTP_CODING_BIT(coding) (1U << (coding))

/** What this build encodes. */
unsigned redd__http_codings_encoded(void);

/** The best coding of `offered` for the request. Highest weight first, then the server's order
 *  zstd, br, gzip; identity comes last among equals, and where nothing of `offered` is accepted: a
 *  406 helps nobody (RFC 9110 12.5.3 leaves it to us). */
redd__http_coding redd__http_coding_accepted(const redd_http_request *req, unsigned offered);

#endif
