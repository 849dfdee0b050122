/* SPDX-License-Identifier: MIT */
/** Sending a file, or parts of it, behind a head. */
#ifndef REDD_HTTP_FILES_TRANSFER_H
#define REDD_HTTP_FILES_TRANSFER_H

#include "ext/http/files/range.h"

#include <redd/http.h>

/** Answers with the whole of a file (one range over it all, status 200) or with ranges of it (206),
 *  as multipart/byteranges (RFC 9110 14.6) if there are several. `fields` has Content-Type as its
 *  first, and room for two more. Takes `fd`. Errors as redd_http_start: nothing was answered. */
int redd__transfer_begin(redd_http_request *req, int fd, unsigned status, redd_http_field *fields,
                         size_t n_fields, const redd__range *ranges, size_t n_ranges,
                         uint64_t size);

#endif
