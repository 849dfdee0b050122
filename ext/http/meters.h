/* SPDX-License-Identifier: MIT */
/** What the server counts: a handful of additions per request. */
#ifndef REDD_HTTP_METERS_H
#define REDD_HTTP_METERS_H

#include <redd/metrics.h>

enum {
    REDD__HTTP_N_METRICS = 11,
    REDD__HTTP_N_METHODS = 9,
    REDD__HTTP_N_CLASSES = 6,
    REDD__HTTP_N_REFUSALS = 10,
    REDD__HTTP_N_ENDS = 6,
    REDD__HTTP_N_REQUEST_BOUNDS = 5,
    REDD__HTTP_N_DURATION_BOUNDS = 13,
    REDD__HTTP_FIRST_DURATION = 1 /* ms, the first of these bounds */
};

extern const redd_metric redd__http_metrics[REDD__HTTP_N_METRICS];

/** A worker's cells, laid out as redd__http_metrics has it. */
typedef struct redd__http_meters {
    redd_metric_cell connections;
    redd_metric_cell connections_open;
    redd_metric_cell connection_requests[REDD__HTTP_N_REQUEST_BOUNDS + 2];
    redd_metric_cell requests[REDD__HTTP_N_METHODS];
    redd_metric_cell requests_in_flight;
    redd_metric_cell responses[REDD__HTTP_N_CLASSES]; /* by the status' first digit */
    redd_metric_cell refused[REDD__HTTP_N_REFUSALS];
    redd_metric_cell ends[REDD__HTTP_N_ENDS]; /* the first: done */
    redd_metric_cell request_duration[REDD__HTTP_N_DURATION_BOUNDS + 2];
    redd_metric_cell upgrades;
    redd_metric_cell proxy_refused;
} redd__http_meters;

redd__http_meters *redd__http_meters_of(redd_worker *w);

/** How a request has ended, as metrics and logs tell it. */
const char *redd__http_end_name(int status);
size_t redd__http_end_index(int status);
void redd__http_meters_observe_duration(redd__http_meters *m, uint64_t ms);

void redd__http_meters_connection_end(redd__http_meters *m, uint64_t requests);
/** The server itself has given that status; without a request, nobody else counts the response. */
void redd__http_meters_refused(redd__http_meters *m, unsigned status, bool has_request);
/** A response that another one follows. */
void redd__http_meters_interim(redd__http_meters *m);

/** The series of llhttp's methods. */
extern const uint8_t redd__http_method_series[];

/** A handler is about to see a request. */
static inline void redd__http_meters_dispatch(redd__http_meters *m, unsigned method)
{
    redd_metric_add(&m->requests[redd__http_method_series[method]], 1);
}

/** A request has ended: with the response `response` (0: none), and `status` as its end function is
 *  told. */
static inline void redd__http_meters_end(redd__http_meters *m, unsigned response, int status,
                                         uint64_t ms)
{
    redd_metric_add(&m->requests_in_flight, -1);
    redd_metric_add(&m->responses[response / 100], 1);
    redd_metric_add(&m->ends[status ? redd__http_end_index(status) : 0], 1);
    if (ms > REDD__HTTP_FIRST_DURATION) {
        redd__http_meters_observe_duration(m, ms);
        return;
    }
    redd_metric_add(&m->request_duration[0], 1);
    redd_metric_add(&m->request_duration[REDD__HTTP_N_DURATION_BOUNDS + 1], (int64_t)ms);
}

#endif
