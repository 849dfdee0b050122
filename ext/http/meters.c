/* SPDX-License-Identifier: MIT */
#include "ext/http/meters.h"

#include <redd/http.h>
#include <redd/http_metrics.h>

#include <assert.h>
#include <llhttp.h>
#include <uv.h>

/* --- the table --- */

static const char *const methods[REDD__HTTP_N_METHODS] = {
    "other", "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT"};
static const char *const classes[REDD__HTTP_N_CLASSES] = {"none", "1xx", "2xx",
                                                          "3xx",  "4xx", "5xx"};
static const uint16_t refusal_statuses[REDD__HTTP_N_REFUSALS - 1] = {400, 408, 413, 414, 417,
                                                                     431, 501, 503, 505};
static const char *const refusals[REDD__HTTP_N_REFUSALS] = {"400", "408", "413", "414", "417",
                                                            "431", "501", "503", "505", "other"};
static const char *const ends[REDD__HTTP_N_ENDS] = {"done",      "aborted",   "timed_out",
                                                    "cancelled", "malformed", "too_large"};
static const uint64_t request_bounds[REDD__HTTP_N_REQUEST_BOUNDS] = {0, 1, 10, 100, 1000};
static const uint64_t duration_bounds[REDD__HTTP_N_DURATION_BOUNDS] = {
    REDD__HTTP_FIRST_DURATION, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000};

#define LABELLED(label_name, list) \
    .label = (label_name), .values = (list), .n_values = sizeof(list) / sizeof(*(list))
#define HISTOGRAM(list) \
    .kind = REDD_METRIC_HISTOGRAM, .bounds = (list), .n_bounds = sizeof(list) / sizeof(*(list))

enum { CONNECTION_REQUESTS = 2, REQUEST_DURATION = 8 };

const redd_metric redd__http_metrics[REDD__HTTP_N_METRICS] = {
    {.name = "redd_http_connections", .help = "Connections taken."},
    {.name = "redd_http_connections_open",
     .help = "Connections that are open, upgraded ones not counted.",
     .kind = REDD_METRIC_GAUGE},
    [CONNECTION_REQUESTS] = {.name = "redd_http_connection_requests",
                             .help = "Requests that a connection has brought until its end.",
                             HISTOGRAM(request_bounds)},
    {.name = "redd_http_requests",
     .help = "Requests that a handler has seen.",
     LABELLED("method", methods)},
    {.name = "redd_http_requests_in_flight",
     .help = "Requests that have begun to come and have not ended.",
     .kind = REDD_METRIC_GAUGE},
    {.name = "redd_http_responses",
     .help = "Responses, interim ones and those to refused requests too; none: requests that ended "
             "without one.",
     LABELLED("class", classes)},
    {.name = "redd_http_refused",
     .help = "Requests that the server itself has refused, or their bodies.",
     LABELLED("status", refusals)},
    {.name = "redd_http_ends", .help = "How requests have ended.", LABELLED("how", ends)},
    [REQUEST_DURATION] = {.name = "redd_http_request_duration_seconds",
                          .help = "From the first byte of a request to its end.",
                          .unit = "seconds",
                          .scale = 1000,
                          HISTOGRAM(duration_bounds)},
    {.name = "redd_http_upgrades", .help = "Connections handed over to another protocol."},
    {.name = "redd_http_proxy_refused",
     .help = "Connections closed for want of the PROXY header that they had to begin with."},
};

redd__http_meters *redd__http_meters_of(redd_worker *w)
{
    redd__http_meters *m = (void *)redd_worker_metric(w, redd__http_metrics[0].name);
    assert(&m->proxy_refused ==
           redd_worker_metric(w, redd__http_metrics[REDD__HTTP_N_METRICS - 1].name));
    return m;
}

/* --- counting --- */

const uint8_t redd__http_method_series[] = {
    [HTTP_SOURCE] = 0, [HTTP_GET] = 1,   [HTTP_HEAD] = 2,    [HTTP_POST] = 3,   [HTTP_PUT] = 4,
    [HTTP_DELETE] = 5, [HTTP_PATCH] = 6, [HTTP_OPTIONS] = 7, [HTTP_CONNECT] = 8};

size_t redd__http_end_index(int status)
{
    switch (status) {
    case 0:
        return 0;
    case UV_ETIMEDOUT:
        return 2;
    case UV_ECANCELED:
    case UV_ENOMEM:
        return 3;
    case REDD_EMALFORMED:
        return 4;
    case REDD_ELIMIT:
        return 5;
    default:
        return 1; /* whatever a stream fails with */
    }
}

const char *redd__http_end_name(int status)
{
    return ends[redd__http_end_index(status)];
}

void redd__http_meters_observe_duration(redd__http_meters *m, uint64_t ms)
{
    redd_metric_observe(m->request_duration, &redd__http_metrics[REQUEST_DURATION], ms);
}

void redd__http_meters_connection_end(redd__http_meters *m, uint64_t requests)
{
    redd_metric_add(&m->connections_open, -1);
    redd_metric_observe(m->connection_requests, &redd__http_metrics[CONNECTION_REQUESTS], requests);
}

void redd__http_meters_refused(redd__http_meters *m, unsigned status, bool has_request)
{
    size_t i = 0;
    while (i < REDD__HTTP_N_REFUSALS - 1 && refusal_statuses[i] != status)
        i++;
    redd_metric_add(&m->refused[i], 1);
    if (!has_request)
        redd_metric_add(&m->responses[status / 100], 1);
}

void redd__http_meters_interim(redd__http_meters *m)
{
    redd_metric_add(&m->responses[1], 1);
}

/* --- handlers --- */

static bool may_read(redd_http_request *req)
{
    static const redd_slice get = REDD_SLICE("GET"), head = REDD_SLICE("HEAD");
    redd_slice method = redd_http_method(req);
    if (redd_slice_equal(method, get) || redd_slice_equal(method, head))
        return true;
    redd_http_field allow = {REDD_SLICE("Allow"), REDD_SLICE("GET, HEAD")};
    (void)redd_http_respond(req, 405, &allow, 1, redd_slice_of(NULL, 0));
    return false;
}

void redd_http_metrics_handler(redd_http_request *req, void *user)
{
    enum { TEXT_MAX = 16 << 20 };
    (void)user;
    if (!may_read(req))
        return;
    redd_worker *w = redd_http_worker(req);
    redd_buffer text;
    redd_buffer_init(&text, redd_worker_allocator(w), TEXT_MAX);
    if (redd_metrics_write(redd_worker_runtime(w), &text) ||
        redd_http_respond_typed(req, 200,
                                "application/openmetrics-text; version=1.0.0; charset=utf-8",
                                redd_buffer_slice(&text)))
        (void)redd_http_respond_text(req, 503, "out of memory\n");
    redd_buffer_release(&text);
}

void redd_http_health_handler(redd_http_request *req, void *user)
{
    (void)user;
    if (!may_read(req))
        return;
    bool stopping = redd_worker_stopping(redd_http_worker(req)) != 0;
    (void)redd_http_respond_text(req, stopping ? 503 : 200, stopping ? "stopping\n" : "ok\n");
}
