/* SPDX-License-Identifier: MIT */
/** One line of an access log, in each of the formats. */
#ifndef REDD_HTTP_LOG_LINE_H
#define REDD_HTTP_LOG_LINE_H

#include "ext/http/log/stamp.h"

#include <redd/access_log.h>

/** What a line tells. A text whose data is NULL was not understood, or not sent. */
typedef struct redd__log_entry {
    redd_slice client, method, target, host, referer, user_agent, request_id;
    redd_slice outcome;
    int minor;       /* of HTTP/1.minor; -1: not understood */
    unsigned status; /* 0: there was no response */
    uint64_t bytes_sent, bytes_received, duration_ms;
} redd__log_entry;

/** No line is longer: texts that would make it so are cut, and end with "..." then. */
#define REDD__LOG_LINE_MAX (16U << 10)

/** As much as the line can need, at most REDD__LOG_LINE_MAX. */
size_t redd__log_line_bound(const redd__log_entry *e);

/** Writes the line with its end, and returns where it ends. Nothing that a peer has sent can end a
 *  line or a quoted text: bytes below 0x20 and above 0x7e, quotes and backslashes are written as
 *  \xHH, in JSON as \u00HH. */
char *redd__log_line_put(char *p, redd_access_log_format format, const redd__log_entry *e,
                         const redd__stamp *now);

#endif
