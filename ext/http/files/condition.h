/* SPDX-License-Identifier: MIT */
/** Validators and the conditions on them (RFC 9110 8.8, 13). */
#ifndef REDD_HTTP_FILES_CONDITION_H
#define REDD_HTTP_FILES_CONDITION_H

#include "ext/http/date.h"

#include <redd/http.h>

#include <sys/stat.h>

typedef struct redd__validators {
    char etag[48]; /* a strong one, quoted */
    size_t etag_len;
    int64_t modified;
    char modified_text[REDD__HTTP_DATE];
} redd__validators;

/** Of a file: the moment of its last change, to the nanosecond, its size, and the content coding
 *  (NULL: none) that tells it from its neighbours, whose moment is often the same. A moment in the
 *  future is told as `now` (RFC 9110 8.8.2.1). */
void redd__validators_of(const struct stat *st, const char *coding, int64_t now,
                         redd__validators *out);

/** What the request's conditions come to: 0 (go on), 304 or 412, in the order of RFC 9110 13.2.2.
 */
unsigned redd__conditions_judge(const redd_http_request *req, const redd__validators *v,
                                int64_t now);
/** Whether a Range counts: there is no If-Range, or it names exactly this representation. */
bool redd__if_range_holds(const redd_http_request *req, const redd__validators *v, int64_t now);

#endif
