/* SPDX-License-Identifier: MIT */
/** What the extension keeps per worker. */
#ifndef REDD_HTTP_STATE_H
#define REDD_HTTP_STATE_H

#include "ext/http/coding/encoders.h"
#include "ext/http/meters.h"
#include "ext/http/proxy/id.h"
#include "runtime/base/list.h"

#include <redd/http.h>

#include <llhttp.h>

/** "Date: Mon, 30 Nov 2026 19:51:11 GMT\r\n" */
#define REDD__HTTP_DATE_LINE 37

typedef struct redd__http_state {
    redd_worker *worker;
    redd_executor *executor;
    redd_timers *timers;
    const redd_allocator *alloc;
    redd_http_options options; /* the worker's defaults */
    llhttp_settings_t settings;
    llhttp_t head_parser;    /* before a head's first byte */
    llhttp_t trailer_parser; /* before the first line of a trailer section */
    redd_pool connections;
    redd_pool requests; /* each with room for options.max_fields fields */
    redd__list servers;
    redd__http_meters *meters;
    redd__http_encoders encoders; /* coding/ */
    char *coded;                  /* coding/: CODED_KEPT bytes, once a body was coded */
    char *decoded;                /* coding/: DECODED_MAX bytes, once a body was decoded */
    redd__list log_lanes;         /* log/access_log.c */
    redd__http_ids ids;           /* proxy/id.c */
    int64_t date_time;            /* the second that date_line was made for */
    char date_line[REDD__HTTP_DATE_LINE + 1];
} redd__http_state;

/** The worker's state, or NULL when the extension is not loaded. */
redd__http_state *redd__http_state_of(const redd_worker *w);

/** The Date field line of this second, REDD__HTTP_DATE_LINE bytes. */
const char *redd__http_date_line(redd__http_state *st);

#endif
