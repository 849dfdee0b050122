/* SPDX-License-Identifier: MIT */
/** What the server counts. */
#ifndef REDD_HTTP_METERS_H
#define REDD_HTTP_METERS_H

#include <redd/metrics.h>

struct redd_http_request;

#define REDD__HTTP_N_METRICS 12
extern const redd_metric redd__http_metrics[REDD__HTTP_N_METRICS];

/** A worker's cells, each the first of its metric. */
typedef struct redd__http_meters {
    redd_metric_cell *connections, *connections_open, *requests, *in_flight, *responses, *refused,
        *ends, *received, *sent, *duration, *upgrades, *proxy_refused;
} redd__http_meters;

void redd__http_meters_init(redd__http_meters *m, redd_worker *w);
/** How a request has ended, as metrics and logs tell it. */
const char *redd__http_end_name(int status);
/** A handler is about to see the request. */
void redd__http_meters_begin(redd__http_meters *m, const struct redd_http_request *req);
/** The request has ended. */
void redd__http_meters_end(redd__http_meters *m, const struct redd_http_request *req, int status);

#endif
