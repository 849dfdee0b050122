/* SPDX-License-Identifier: MIT */
#include "ext/http/coding/decoding.h"
#include "ext/http/connection.h"
#include "ext/http/date.h"
#include "ext/http/log/lane.h"
#include "ext/http/ops/ops.h"
#include "ext/http/put.h"

#include <uv.h>

#define KEEP_OBJECTS 4096 /* free connections and requests that a worker keeps for reuse */

static const redd_option options[] = {
    {"http.max_head", "size of a request's line and fields", REDD_UNIT_BYTES, 64 << 10, 1 << 10,
     16 << 20},
    {"http.max_fields", "number of a request's fields", REDD_UNIT_COUNT, 128, 8, 4096},
    {"http.max_target", "size of a request's target", REDD_UNIT_BYTES, 8 << 10, 64, 1 << 20},
    {"http.max_body", "size of a request's body", REDD_UNIT_BYTES, 128 << 20, 0, UINT64_C(1) << 62},
    {"http.max_extensions", "size of all chunk extensions of a request's body", REDD_UNIT_BYTES,
     16 << 10, 0, 1 << 20},
    {"http.max_trailers", "size of the trailers of a request's body", REDD_UNIT_BYTES, 16 << 10, 0,
     1 << 20},
    {"http.max_requests", "requests of one connection; 0: any number", REDD_UNIT_COUNT, 1000000, 0,
     UINT64_C(1) << 62},
    {"http.max_queued", "output that may wait per connection before a streamed piece is refused",
     REDD_UNIT_BYTES, 1 << 20, 16 << 10, 1 << 30},
    {"http.head_timeout", "time for a request's line and fields", REDD_UNIT_MILLIS, 30000, 1,
     86400000},
    {"http.body_timeout", "time between two pieces of a request's body", REDD_UNIT_MILLIS, 30000, 1,
     86400000},
    {"http.write_timeout", "time that output may wait without progress", REDD_UNIT_MILLIS, 30000, 1,
     86400000},
    {"http.keep_alive", "time between two requests of a connection", REDD_UNIT_MILLIS, 75000, 1,
     86400000},
    {"http.min_body_rate", "bytes a second that a request's body must come at; 0: any",
     REDD_UNIT_BYTES, 240, 0, 1 << 30},
    {"http.connect", "hand CONNECT to the app", REDD_UNIT_SWITCH, 0, 0, 1},
    {"http.compress", "compress responses as clients accept it", REDD_UNIT_SWITCH, 0, 0, 1},
    {"http.compress_min", "size of the smallest response to compress", REDD_UNIT_BYTES, 1 << 10, 0,
     1 << 30},
    {"http.compress_level", "from 1 (fast) to 9 (small)", REDD_UNIT_COUNT, 5, 1, 9},
    {"http.request_id", "send an X-Request-Id with each response", REDD_UNIT_SWITCH, 0, 0, 1},
    {"http.proxy_protocol", "connections from http.trusted begin with a PROXY header",
     REDD_UNIT_SWITCH, 0, 0, 1},
    {"http.trusted", "networks whose word on the client counts: 10.0.0.0/8, ::1, unix",
     REDD_UNIT_TEXT, 0, 0, 4096},
};

static const redd_dependency deps[] = {{"net", NULL}};

redd__http_state *redd__http_state_of(const redd_worker *w)
{
    return redd_worker_state(w, "http");
}

static void read_options(const redd_runtime *rt, redd_http_options *o)
{
    *o = (redd_http_options){
        .struct_size = sizeof *o,
        .max_head = redd_runtime_option(rt, "http.max_head"),
        .max_fields = redd_runtime_option(rt, "http.max_fields"),
        .max_target = redd_runtime_option(rt, "http.max_target"),
        .max_body = redd_runtime_option(rt, "http.max_body"),
        .max_extensions = redd_runtime_option(rt, "http.max_extensions"),
        .max_trailers = redd_runtime_option(rt, "http.max_trailers"),
        .max_requests = redd_runtime_option(rt, "http.max_requests"),
        .max_queued = redd_runtime_option(rt, "http.max_queued"),
        .head_timeout_ms = redd_runtime_option(rt, "http.head_timeout"),
        .body_timeout_ms = redd_runtime_option(rt, "http.body_timeout"),
        .write_timeout_ms = redd_runtime_option(rt, "http.write_timeout"),
        .keep_alive_ms = redd_runtime_option(rt, "http.keep_alive"),
        .min_body_rate = redd_runtime_option(rt, "http.min_body_rate"),
        .connect = redd_runtime_option(rt, "http.connect"),
        .compress = redd_runtime_option(rt, "http.compress"),
        .compress_min = redd_runtime_option(rt, "http.compress_min"),
        .compress_level = redd_runtime_option(rt, "http.compress_level"),
        .request_id = redd_runtime_option(rt, "http.request_id"),
        .proxy_protocol = redd_runtime_option(rt, "http.proxy_protocol"),
        .trusted = redd_runtime_option_text(rt, "http.trusted"),
    };
}

void redd_http_options_init(const redd_worker *w, redd_http_options *out)
{
    *out = redd__http_state_of(w)->options;
}

const char *redd__http_date_line(redd__http_state *st)
{
    int64_t now = redd_timers_unix_time(st->timers);
    if (now != st->date_time) {
        char *p = REDD__PUT(st->date_line, "Date: ");
        p = redd__http_date_put(p, now);
        (void)REDD__PUT(p, "\r\n");
        st->date_time = now;
    }
    return st->date_line;
}

/* Options are checked by their form alone when they are set. */
static int init(redd_runtime *rt, void **shared)
{
    redd_http_options o;
    redd__networks *trusted;
    (void)shared;
    read_options(rt, &o);
    int rc =
        redd__http_trust_parse(redd_runtime_allocator(rt), redd_runtime_logger(rt), &o, &trusted);
    redd__networks_free(trusted);
    return rc;
}

static int worker_init(redd_worker *w, void *shared, void **state)
{
    (void)shared;
    const redd_allocator *a = redd_worker_allocator(w);
    redd__http_state *st = redd_alloc_zero(a, sizeof *st);
    if (!st)
        return UV_ENOMEM;
    st->worker = w;
    st->executor = redd_worker_executor(w);
    st->timers = redd_worker_timers(w);
    st->alloc = a;
    st->date_time = INT64_MIN;
    read_options(redd_worker_runtime(w), &st->options);
    redd__http_parse_init(st);
    st->meters = redd__http_meters_of(w);
    redd__list_init(&st->servers);
    redd__list_init(&st->log_lanes);
    redd_pool_init(&st->connections, a, sizeof(redd__http_connection), KEEP_OBJECTS);
    redd_pool_init(&st->requests, a,
                   sizeof(redd_http_request) + st->options.max_fields * sizeof(redd__http_span),
                   KEEP_OBJECTS);
    int rc = redd__http_ids_init(&st->ids);
    if (rc) {
        redd_free(a, st, sizeof *st);
        return rc;
    }
    *state = st;
    return 0;
}

static void worker_stop(redd_worker *w, void *state, redd_stop_mode mode)
{
    redd__http_state *st = state;
    (void)w;
    /* A forced stop drops the tasks themselves: closing is enough here, and leaves the servers to
     * their owners. */
    (void)mode;
    redd_http_server *s;
    while ((s = redd__http_server_open(st)))
        redd_http_server_close(s, REDD_STOP_GRACEFUL);
}

static void worker_fini(redd_worker *w, void *state)
{
    redd__http_state *st = state;
    (void)w;
    redd__http_servers_release(st);
    redd__log_lanes_release(st);
    redd__http_encoders_fini(&st->encoders);
    redd_free(st->alloc, st->coded, REDD__HTTP_CODED_KEPT);
    redd_free(st->alloc, st->decoded, REDD__HTTP_DECODED_MAX);
    redd_pool_fini(&st->requests);
    redd_pool_fini(&st->connections);
    redd_free(st->alloc, st, sizeof *st);
}

const redd_extension redd_http_extension = {
    REDD_EXTENSION_HEAD,
    .name = "http",
    .version = REDD_VERSION,
    .deps = deps,
    .n_deps = sizeof deps / sizeof *deps,
    .ops = redd__http_ops,
    .n_ops = REDD__HTTP_N_OPS,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .metrics = redd__http_metrics,
    .n_metrics = REDD__HTTP_N_METRICS,
    .init = init,
    .worker_init = worker_init,
    .worker_stop = worker_stop,
    .worker_fini = worker_fini,
};
