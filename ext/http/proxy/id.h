/* SPDX-License-Identifier: MIT */
/** Request ids: made here, or a trusted peer's. */
#ifndef REDD_HTTP_PROXY_ID_H
#define REDD_HTTP_PROXY_ID_H

#include <redd/slice.h>

/** An id that is made here: hex digits, first the worker's, then the request's. */
#define REDD__HTTP_ID_LEN    32
#define REDD__HTTP_ID_PREFIX 16
/** The longest that is taken over. */
#define REDD__HTTP_ID_MAX 128
/** "X-Request-Id: " to CRLF. */
#define REDD__HTTP_ID_LINE_MAX (14 + REDD__HTTP_ID_MAX + 2)

struct redd_http_request;

/** What a worker makes ids of. */
typedef struct redd__http_ids {
    char prefix[REDD__HTTP_ID_PREFIX];
    uint64_t next;
} redd__http_ids;

/** An error of the system's source of random numbers. */
int redd__http_ids_init(redd__http_ids *ids);
/** The field line, at most REDD__HTTP_ID_LINE_MAX bytes. */
char *redd__http_id_put_line(char *p, struct redd_http_request *req);

#endif
