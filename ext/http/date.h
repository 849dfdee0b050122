/* SPDX-License-Identifier: MIT */
/** Dates of HTTP (RFC 9110 5.6.7). */
#ifndef REDD_HTTP_DATE_H
#define REDD_HTTP_DATE_H

#include <redd/slice.h>

/** "Sun, 06 Nov 1994 08:49:37 GMT" */
#define REDD__HTTP_DATE 29

/** Writes REDD__HTTP_DATE bytes for a time since 1970 of a year up to 9999; returns the end. */
char *redd__http_date_put(char *p, int64_t t);
/** Any of the three forms that a recipient must take: as above, "Sunday, 06-Nov-94 08:49:37 GMT",
 *  "Sun Nov  6 08:49:37 1994". `now` tells the century of the second. */
bool redd__http_date_parse(redd_slice s, int64_t now, int64_t *t);

#endif
