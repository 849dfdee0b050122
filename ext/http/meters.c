/* SPDX-License-Identifier: MIT */
#include "ext/http/meters.h"

#include "ext/http/request.h"

#include <redd/http_metrics.h>

#include <uv.h>

/* --- the table --- */

enum { METHODS = 9, CLASSES = 5, REFUSALS = 12, ENDS = 6 };

static const char *const methods[METHODS] = {"GET",   "HEAD",    "POST",    "PUT",  "DELETE",
                                             "PATCH", "OPTIONS", "CONNECT", "other"};
static const char *const classes[CLASSES] = {"1xx", "2xx", "3xx", "4xx", "5xx"};
static const uint16_t refusal_statuses[REFUSALS - 1] = {400, 408, 413, 414, 417, 431,
                                                        500, 501, 503, 505, 415};
static const char *const refusals[REFUSALS] = {"400", "408", "413", "414", "417", "431",
                                               "500", "501", "503", "505", "415", "other"};
static const char *const ends[ENDS] = {"done",      "aborted",   "timed_out",
                                       "cancelled", "malformed", "too_large"};
static const uint64_t bounds[] = {1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000};

#define LABELLED(label_name, list) \
    .label = (label_name), .values = (list), .n_values = sizeof(list) / sizeof(*(list))

const redd_metric redd__http_metrics[REDD__HTTP_N_METRICS] = {
    {.name = "redd_http_connections", .help = "Connections taken."},
    {.name = "redd_http_connections_open",
     .help = "Connections that are open, upgraded ones not counted.",
     .kind = REDD_METRIC_GAUGE},
    {.name = "redd_http_requests",
     .help = "Requests that a handler has seen.",
     LABELLED("method", methods)},
    {.name = "redd_http_requests_in_flight",
     .help = "Requests that a handler has seen and that have not ended.",
     .kind = REDD_METRIC_GAUGE},
    {.name = "redd_http_responses",
     .help = "Responses, those to refused requests too.",
     LABELLED("class", classes)},
    {.name = "redd_http_refused",
     .help = "Requests that the server itself has refused.",
     LABELLED("status", refusals)},
    {.name = "redd_http_ends", .help = "How requests have ended.", LABELLED("how", ends)},
    {.name = "redd_http_received_bytes", .help = "Bytes of bodies of requests.", .unit = "bytes"},
    {.name = "redd_http_sent_bytes", .help = "Bytes of bodies of responses.", .unit = "bytes"},
    {.name = "redd_http_request_duration_seconds",
     .help = "From the first byte of a request to its end.",
     .kind = REDD_METRIC_HISTOGRAM,
     .unit = "seconds",
     .bounds = bounds,
     .n_bounds = sizeof bounds / sizeof *bounds,
     .scale = 1000},
    {.name = "redd_http_upgrades", .help = "Connections handed over to another protocol."},
    {.name = "redd_http_proxy_refused",
     .help = "Connections closed for want of the PROXY header that they had to begin with."},
};
static const redd_metric *const duration = &redd__http_metrics[9];

void redd__http_meters_init(redd__http_meters *m, redd_worker *w)
{
    redd_metric_cell **cells[REDD__HTTP_N_METRICS] = {
        &m->connections, &m->connections_open, &m->requests, &m->in_flight,
        &m->responses,   &m->refused,          &m->ends,     &m->received,
        &m->sent,        &m->duration,         &m->upgrades, &m->proxy_refused};
    for (size_t i = 0; i < REDD__HTTP_N_METRICS; i++)
        *cells[i] = redd_worker_metric(w, redd__http_metrics[i].name);
}

/* --- counting --- */

static size_t method_index(const redd_http_request *req)
{
    redd_slice method = redd_http_method(req);
    if (method.len == 3 && method.data[0] == 'G')
        return 0;
    for (size_t i = 1; i < METHODS - 1; i++)
        if (redd_slice_equal(method, redd_slice_str(methods[i])))
            return i;
    return METHODS - 1;
}

static size_t refusal_index(unsigned status)
{
    size_t i = 0;
    while (i < REFUSALS - 1 && refusal_statuses[i] != status)
        i++;
    return i;
}

static size_t end_index(int status)
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
    return ends[end_index(status)];
}

void redd__http_meters_begin(redd__http_meters *m, const redd_http_request *req)
{
    redd_metric_add(m->in_flight, 1);
    redd_metric_add(&m->requests[method_index(req)], 1);
}

void redd__http_meters_end(redd__http_meters *m, const redd_http_request *req, int status)
{
    if (req->dispatched)
        redd_metric_add(m->in_flight, -1);
    else
        redd_metric_add(&m->refused[refusal_index(req->status)], 1);
    if (req->status)
        redd_metric_add(&m->responses[req->status / 100 - 1], 1);
    redd_metric_add(&m->ends[end_index(status)], 1);
    if (req->body_received)
        redd_metric_add(m->received, (int64_t)req->body_received);
    if (req->sent)
        redd_metric_add(m->sent, (int64_t)req->sent);
    redd_metric_observe(m->duration, duration, req->ended_at - req->began_at);
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
