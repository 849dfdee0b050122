/* SPDX-License-Identifier: MIT */
/** The trailer section of a chunked body (RFC 9112 7.1.2): its lines are read and judged as a
 *  head's, and kept apart from the fields. */
#ifndef REDD_HTTP_TRAILERS_H
#define REDD_HTTP_TRAILERS_H

#include "ext/http/connection.h"

/** Takes what the connection's input has of the section, at the first call from its first line on.
 *  An error's status is in `refusal`. */
redd__http_parsed redd__http_trailers_read(redd__http_connection *c);

#endif
