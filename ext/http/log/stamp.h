/* SPDX-License-Identifier: MIT */
/** The time of a line as text. */
#ifndef REDD_HTTP_LOG_STAMP_H
#define REDD_HTTP_LOG_STAMP_H

#include <stdint.h>

/** "30/Nov/2026:23:35:01 +0000" */
#define REDD__STAMP_COMMON 26
/** "2026-11-30T23:35:01.250Z" (RFC 3339) */
#define REDD__STAMP_RFC3339 24

/** Both forms, in UTC. The date is worked out once a second. */
typedef struct redd__stamp {
    int64_t second; /* that the texts below were made for */
    char common[REDD__STAMP_COMMON];
    char rfc3339[REDD__STAMP_RFC3339];
} redd__stamp;

void redd__stamp_init(redd__stamp *s);
/** `ms` since 1970, of a year up to 9999. */
void redd__stamp_set(redd__stamp *s, int64_t ms);

#endif
