/* SPDX-License-Identifier: MIT */
/** What the server counts, and the handlers that tell it. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_metrics_scene.h"

/* --- requests --- */

static void methods(void **state)
{
    static const char *const names[] = {"GET",   "HEAD",    "POST",    "PUT",  "DELETE",
                                        "PATCH", "OPTIONS", "CONNECT", "TRACE"};
    (void)state;
    scene s;
    memset(&s, 0, sizeof s);
    bed_begin(&s.b, on_request, &s);
    s.b.options.connect = 1;
    bed_serve_anew(&s.b, on_request, &s);
    client_open(&s.b, &s.c);
    for (size_t i = 0; i < 9; i++) {
        char text[128], series[64];
        const char *target = i == 7 ? "h:1" : "/200";
        for (size_t k = 0; k <= i; k++) {
            (void)snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: h:1\r\n\r\n", names[i],
                           target);
            if (i == 7)
                (void)snprintf(text, sizeof text,
                               "CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\nConnection: close\r\n\r\n");
            anew(&s);
            client_text(&s.c, text);
        }
        (void)snprintf(series, sizeof series, "redd_http_requests_total{method=\"%s\"}",
                       i < 8 ? names[i] : "other");
        assert_int_equal(count(&s, series), i + 1);
    }
    assert_int_equal(count(&s, "redd_http_connections_total"), 46);
    scene_end(&s);
}

static void classes(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    client_text(&s.c, GET("/200") GET("/204") GET("/299") GET("/301") GET("/304") GET("/404"));
    client_text(&s.c, GET("/503") GET("/inform") REQUEST("HEAD", "/200", ""));
    client_text(&s.c, REQUEST("POST", "/read", "Content-Length: 2\r\nExpect: 100-continue\r\n"));
    client_text(&s.c, "hi");
    client_text(&s.c, GET("/give-up"));
    assert_int_equal(responses(&s, "1xx"), 3);
    assert_int_equal(responses(&s, "2xx"), 6);
    assert_int_equal(responses(&s, "3xx"), 2);
    assert_int_equal(responses(&s, "4xx"), 1);
    assert_int_equal(responses(&s, "5xx"), 2);
    assert_int_equal(responses(&s, "none"), 0);
    assert_int_equal(ended(&s, "done"), 11);
    send_anew(&s, GET("/hold"));
    client_go(&s.c, true);
    assert_int_equal(responses(&s, "none"), 1);
    assert_int_equal(ended(&s, "aborted"), 1);
    assert_int_equal(count(&s, "redd_http_request_duration_seconds_count"), 12);
    scene_end(&s);
}

static void upgrades(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    client_text(&s.c, REQUEST("GET", "/upgrade", "Connection: upgrade\r\nUpgrade: foo\r\n"));
    assert_int_equal(count(&s, "redd_http_upgrades_total"), 1);
    assert_int_equal(count(&s, "redd_http_connections_open"), 0);
    expect_only(&s, "redd_http_responses", "class", "1xx", 1);
    expect_only(&s, "redd_http_ends", "how", "done", 1);
    scene_end(&s);
}

/* --- connections --- */

static void connections(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    client_text(&s.c, GET("/200"));
    client_text(&s.c, GET("/200") REQUEST("GET", "/200", "Connection: close\r\n"));
    anew(&s);
    anew(&s);
    send_anew(&s, GET("/200"));
    client other;
    client_open(&s.b, &other);
    assert_int_equal(count(&s, "redd_http_connections_total"), 5);
    assert_int_equal(count(&s, "redd_http_connections_open"), 2);
    client_close(&other);
    anew(&s);
    assert_int_equal(count(&s, "redd_http_connections_open"), 1);
    assert_int_equal(count(&s, "redd_http_connection_requests_bucket{le=\"0.0\"}"), 3);
    assert_int_equal(count(&s, "redd_http_connection_requests_bucket{le=\"1.0\"}"), 4);
    assert_int_equal(count(&s, "redd_http_connection_requests_bucket{le=\"10.0\"}"), 5);
    assert_int_equal(count(&s, "redd_http_connection_requests_count"), 5);
    assert_int_equal(count(&s, "redd_http_connection_requests_sum"), 4);
    scene_end(&s);
}

static void in_flight(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    assert_int_equal(count(&s, "redd_http_requests_in_flight"), 0);
    client_text(&s.c, "\r\n");
    assert_int_equal(count(&s, "redd_http_requests_in_flight"), 0);
    client_text(&s.c, "G"); /* from the first byte on */
    assert_int_equal(count(&s, "redd_http_requests_in_flight"), 1);
    client_text(&s.c, "ET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_int_equal(count(&s, "redd_http_requests_total{method=\"GET\"}"), 1);
    assert_int_equal(count(&s, "redd_http_requests_in_flight"), 1);
    assert_int_equal(redd_http_respond_text(s.req, 200, "ok"), 0);
    client_settle(&s.c);
    assert_int_equal(count(&s, "redd_http_requests_in_flight"), 0); /* whoever still holds it */
    scene_end(&s);
}

static void durations(void **state)
{
    static const uint64_t times[] = {0, 1, 2, 40, 10000, 10001};
    static const struct {
        const char *le;
        uint64_t count;
    } buckets[] = {{"0.001", 2}, {"0.002", 3}, {"0.025", 3}, {"0.05", 4},
                   {"5.0", 4},   {"10.0", 5},  {"+Inf", 6}};
    (void)state;
    scene s;
    scene_begin(&s);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        client_text(&s.c, GET("/hold"));
        client_wait(&s.c, times[i]);
        assert_int_equal(redd_http_respond_text(s.req, 200, "ok"), 0);
        client_settle(&s.c);
        redd_http_request_unref(s.req);
        s.req = NULL;
    }
    for (size_t i = 0; i < sizeof buckets / sizeof *buckets; i++) {
        char series[96];
        (void)snprintf(series, sizeof series,
                       "redd_http_request_duration_seconds_bucket{le=\"%s\"}", buckets[i].le);
        assert_int_equal(count(&s, series), buckets[i].count);
    }
    assert_int_equal(redd_metric_sum(s.b.rt, "redd_http_request_duration_seconds", 14), 20044);
    assert_int_equal(count(&s, "redd_http_request_duration_seconds_sum"), 20);
    scene_end(&s);
}

/* --- refusals --- */

static void refusals(void **state)
{
    static const struct {
        const char *status, *how, *text;
    } cases[] = {
        {"400", "malformed", "GET / HTTP/1.1\r\n\r\n"},
        {"400", "malformed", "GET /\r\n"},
        {"417", "malformed", REQUEST("POST", "/200", "Expect: gold\r\nContent-Length: 1\r\n")},
        {"501", "malformed", REQUEST("BREW", "/200", "")},
        {"505", "malformed", "GET /200 HTTP/2.0\r\nHost: h\r\n\r\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scene s;
        char status_class[4] = {cases[i].status[0], 'x', 'x', '\0'};
        scene_begin(&s);
        client_text(&s.c, cases[i].text);
        assert_true(replies_are(&s.c, cases[i].status));
        expect_only(&s, "redd_http_refused", "status", cases[i].status, 1);
        expect_only(&s, "redd_http_responses", "class", status_class, 1);
        expect_only(&s, "redd_http_ends", "how", cases[i].how, 1);
        assert_int_equal(count(&s, "redd_http_requests_in_flight"), 0);
        assert_int_equal(count(&s, "redd_http_requests_total{method=\"GET\"}"), 0);
        scene_end(&s);
    }
}

static void refused_limits(void **state)
{
    (void)state;
    scene s;
    bytes target = {0};
    bytes_text(&target, "GET /");
    bytes_fill(&target, 'a', 9000);
    scene_begin(&s);
    client_send(&s.c, target.data, target.len);
    expect_only(&s, "redd_http_refused", "status", "414", 1);
    expect_only(&s, "redd_http_ends", "how", "too_large", 1);
    scene_end(&s);
    bytes_clear(&target);
    bytes_text(&target, "GET / HTTP/1.1\r\nX: ");
    bytes_fill(&target, 'a', 70000);
    scene_begin(&s);
    client_send(&s.c, target.data, target.len);
    expect_only(&s, "redd_http_refused", "status", "431", 1);
    expect_only(&s, "redd_http_ends", "how", "too_large", 1);
    scene_end(&s);
    bytes_free(&target);
}

static void refused_bodies(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    client_text(&s.c, REQUEST("POST", "/read", "Transfer-Encoding: chunked\r\n") "b\r\n");
    assert_int_equal(count(&s, "redd_http_refused_total{status=\"413\"}"), 1);
    assert_int_equal(ended(&s, "too_large"), 1);
    send_anew(&s, REQUEST("POST", "/read", "Transfer-Encoding: chunked\r\n") "x\r\n");
    assert_int_equal(count(&s, "redd_http_refused_total{status=\"400\"}"), 1);
    assert_int_equal(ended(&s, "malformed"), 1);
    send_anew(&s, REQUEST("POST", "/read", "Content-Length: 3\r\n") "x");
    client_wait(&s.c, 30001);
    assert_int_equal(count(&s, "redd_http_refused_total{status=\"408\"}"), 1);
    assert_int_equal(ended(&s, "timed_out"), 1);
    assert_int_equal(responses(&s, "4xx"), 3);
    assert_int_equal(count(&s, "redd_http_requests_total{method=\"POST\"}"), 3);
    assert_int_equal(count(&s, "redd_http_requests_in_flight"), 0);
    scene_end(&s);
}

static void refused_without_a_request(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    client_text(&s.c, "\n");
    expect_only(&s, "redd_http_refused", "status", "400", 1);
    expect_only(&s, "redd_http_responses", "class", "4xx", 1);
    expect_only(&s, "redd_http_ends", "how", "done", 0);
    anew(&s);
    redd_counting_allocator_fail_at(s.b.counting, 1, true);
    client_put(&s.c, "GET", 3);
    bed_settle(&s.b);
    redd_counting_allocator_fail_at(s.b.counting, 0, false);
    assert_int_equal(count(&s, "redd_http_refused_total{status=\"503\"}"), 1);
    assert_int_equal(responses(&s, "5xx"), 1);
    assert_int_equal(count(&s, "redd_http_requests_in_flight"), 0);
    scene_end(&s);
}

/** A client that goes, or is too slow, is not refused. */
static void gone(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    client_text(&s.c, "GET / HT");
    client_go(&s.c, false);
    assert_int_equal(ended(&s, "aborted"), 1);
    assert_int_equal(responses(&s, "none"), 1);
    expect_only(&s, "redd_http_refused", "status", "400", 0);
    send_anew(&s, "GET / HT");
    client_wait(&s.c, 30001);
    expect_only(&s, "redd_http_refused", "status", "408", 1);
    assert_int_equal(ended(&s, "timed_out"), 1);
    send_anew(&s, GET("/start"));
    redd_http_server_close(s.b.server, REDD_STOP_FORCED);
    client_settle(&s.c);
    assert_int_equal(ended(&s, "cancelled"), 1);
    assert_int_equal(responses(&s, "2xx"), 1);
    assert_int_equal(count(&s, "redd_http_requests_in_flight"), 0);
    assert_int_equal(count(&s, "redd_http_connections_open"), 0);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods),        cmocka_unit_test(classes),
        cmocka_unit_test(upgrades),       cmocka_unit_test(connections),
        cmocka_unit_test(in_flight),      cmocka_unit_test(durations),
        cmocka_unit_test(refusals),       cmocka_unit_test(refused_limits),
        cmocka_unit_test(refused_bodies), cmocka_unit_test(refused_without_a_request),
        cmocka_unit_test(gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
