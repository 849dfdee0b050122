/* SPDX-License-Identifier: MIT */
/** A server, and what its metrics say after each scene. */
#ifndef REDD_TESTS_UNIT_HTTP_METRICS_SCENE_H
#define REDD_TESTS_UNIT_HTTP_METRICS_SCENE_H

#include "tests/unit/openmetrics.h"

#include <redd/http_metrics.h>
#include <redd/metrics.h>

#define REQUEST(method, target, fields) method " " target " HTTP/1.1\r\nHost: h\r\n" fields "\r\n"
#define GET(target)                     REQUEST("GET", target, "")

/** What the handler holds. */
typedef struct scene {
    bed b;
    client c;
    redd_http_request *req; /* a reference, of /hold */
    redd_http_upgraded up;
} scene;

/* --- the handler --- */

static inline void on_body(redd_http_request *req, int status, redd_slice data, bool last,
                           void *user)
{
    (void)last;
    (void)user;
    if (status == 0)
        assert_int_equal(redd_http_respond(req, 200, NULL, 0, data), 0);
}

static inline void hold(redd_http_request *req, scene *s)
{
    s->req = redd_http_request_ref(req);
}

static inline void start(redd_http_request *req, scene *s)
{
    hold(req, s);
    assert_int_equal(redd_http_start(req, 200, NULL, 0, -1), 0);
}

static inline void inform(redd_http_request *req, scene *s)
{
    (void)s;
    assert_int_equal(redd_http_inform(req, 103, NULL, 0), 0);
    assert_int_equal(redd_http_inform(req, 102, NULL, 0), 0);
    assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
}

static inline void read_body(redd_http_request *req, scene *s)
{
    assert_int_equal(redd_http_read_all(req, 10, on_body, s), 0);
}

static inline void upgrade(redd_http_request *req, scene *s)
{
    assert_int_equal(redd_http_upgrade(req, "foo", NULL, 0, &s->up), 0);
    redd_output_fini(&s->up.output);
    redd_stream_close(s->up.stream, false);
}

static inline void give_up(redd_http_request *req, scene *s)
{
    (void)req;
    (void)s;
}

static inline void metrics(redd_http_request *req, scene *s)
{
    (void)s;
    redd_http_metrics_handler(req, NULL);
}

static inline void health(redd_http_request *req, scene *s)
{
    (void)s;
    redd_http_health_handler(req, NULL);
}

static inline void on_request(redd_http_request *req, void *user)
{
    static const struct {
        const char *path;
        void (*fn)(redd_http_request *req, scene *s);
    } routes[] = {{"/hold", hold},       {"/start", start},     {"/inform", inform},
                  {"/read", read_body},  {"/upgrade", upgrade}, {"/give-up", give_up},
                  {"/metrics", metrics}, {"/health", health}};
    redd_slice path = redd_http_path(req);
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (redd_slice_equal(path, redd_slice_str(routes[i].path))) {
            routes[i].fn(req, user);
            return;
        }
    unsigned status = 200;
    if (path.len == 4)
        status = (unsigned)slice_number(redd_slice_of(path.data + 1, 3), 10);
    assert_int_equal(redd_http_respond(req, status, NULL, 0, redd_slice_of(NULL, 0)), 0);
}

/* --- scenes --- */

static inline void scene_begin(scene *s)
{
    memset(s, 0, sizeof *s);
    bed_begin(&s->b, on_request, s);
    client_open(&s->b, &s->c);
}

static inline void scene_end(scene *s)
{
    redd_http_request_unref(s->req);
    client_close(&s->c);
    bed_end(&s->b);
}

/** A new connection in place of the one before. */
static inline void anew(scene *s)
{
    client_close(&s->c);
    client_open(&s->b, &s->c);
}

/** On a connection of its own. */
static inline void send_anew(scene *s, const char *text)
{
    anew(s);
    client_text(&s->c, text);
}

static inline uint64_t count(scene *s, const char *series)
{
    redd_buffer out;
    redd_buffer_init(&out, redd_allocator_default(), 1 << 20);
    assert_int_equal(redd_metrics_write(s->b.rt, &out), 0);
    om_check(redd_buffer_slice(&out));
    double value = om_value(redd_buffer_slice(&out), series);
    redd_buffer_release(&out);
    return (uint64_t)value;
}

/** Of all series of `metric`, `series` alone has counted, and `n`; the others nothing. */
static inline void expect_only(scene *s, const char *metric, const char *label, const char *value,
                               uint64_t n)
{
    char series[96];
    uint64_t sum = 0;
    (void)snprintf(series, sizeof series, "%s_total{%s=\"%s\"}", metric, label, value);
    assert_int_equal(count(s, series), n);
    for (size_t i = 0; i < (strcmp(label, "status") == 0 ? 10 : 6); i++)
        sum += redd_metric_sum(s->b.rt, metric, i);
    assert_int_equal(sum, n);
}

static inline uint64_t ended(scene *s, const char *how)
{
    char series[96];
    (void)snprintf(series, sizeof series, "redd_http_ends_total{how=\"%s\"}", how);
    return count(s, series);
}

static inline uint64_t responses(scene *s, const char *class)
{
    char series[96];
    (void)snprintf(series, sizeof series, "redd_http_responses_total{class=\"%s\"}", class);
    return count(s, series);
}

#endif
