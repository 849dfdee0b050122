/* SPDX-License-Identifier: MIT */
/** Sending a file, or parts of it, behind a head. */
#ifndef REDD_HTTP_FILES_TRANSFER_H
#define REDD_HTTP_FILES_TRANSFER_H

#include "ext/http/files/range.h"

#include <redd/http.h>

/** What of a file is sent. */
typedef struct redd__parts {
    redd__range ranges[REDD__RANGES_MAX];
    size_t n;      /* 1 or more */
    uint64_t size; /* of the file */
} redd__parts;

/** Answers with the whole of a file (one range over it all, status 200) or with ranges of it (206),
 *  as multipart/byteranges (RFC 9110 14.6) if there are several. `fields` has Content-Type as its
 *  first, and room for one more. Takes `fd`. Errors as redd_http_start: nothing was answered, and
 *  `fd` is still the caller's. */
int redd__transfer_begin(redd_http_request *req, int fd, unsigned status, redd_http_field *fields,
                         size_t n_fields, const redd__parts *parts);

#endif
