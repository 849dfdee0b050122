/* SPDX-License-Identifier: MIT */
/** Server-sent events: silence, a client that is slow, and ends. */
#include "ext/http/connection.h"

#include "tests/unit/http_events_fixture.h"

#include <uv.h>

/* --- silence --- */

static void test_heartbeat(void **state)
{
    (void)state;
    stage s;
    stage_begin(&s);
    s.options.heartbeat_ms = 1000;
    stage_open(&s, GET);
    client_wait(&s.c, 999);
    send_text(&s, "", "", "a"); /* not silent until then */
    client_wait(&s.c, 999);
    send_text(&s, "", "", "b");
    client_wait(&s.c, 1000);
    client_wait(&s.c, 999);
    send_text(&s, "", "", "c");
    client_wait(&s.c, 2000);
    expect_stream(&s, "data: a\n\ndata: b\n\n:\n\ndata: c\n\n:\n\n:\n\n");
    client_wait(&s.c, 5000);
    assert_int_equal(s.ends, 1);
    stage_end(&s);
}

static void test_heartbeat_by_default(void **state)
{
    (void)state;
    stage s;
    stage_begin(&s);
    stage_open(&s, GET);
    client_wait(&s.c, 14999);
    client_wait(&s.c, 1);
    client_wait(&s.c, 14999);
    expect_stream(&s, ":\n\n");
    stage_end(&s);
}

/* --- a slow client --- */

static void fill(stage *s)
{
    bytes data = {0};
    bytes_fill(&data, 'd', 10000);
    int rc = 0;
    for (int i = 0; i < 1000 && rc != REDD_ELIMIT; i++) {
        rc = redd_http_events_send(s->events, redd_slice_str(""), redd_slice_str(""),
                                   redd_slice_of(data.data, data.len));
        assert_true(rc == 0 || rc == REDD_HTTP_FULL || rc == REDD_ELIMIT);
    }
    assert_int_equal(rc, REDD_ELIMIT);
    bytes_free(&data);
}

static void test_backpressure(void **state)
{
    (void)state;
    stage s;
    stage_begin(&s);
    s.options.heartbeat_ms = 1000;
    client_open_sized(&s.b, &s.c, 4096);
    client_put(&s.c, GET, strlen(GET));
    bed_settle(&s.b);
    for (unsigned round = 1; round <= 3; round++) {
        fill(&s);
        bed_settle(&s.b);
        assert_int_equal(s.drains, round - 1);
        redd_clock_advance(s.b.clock, 3000); /* beats add nothing to what waits */
        client_settle(&s.c);
        assert_int_equal(s.drains, round);
    }
    assert_null(strstr(s.c.got.data, ":\n\n"));
    client_wait(&s.c, 1000);
    assert_non_null(strstr(s.c.got.data, ":\n\n"));
    assert_int_equal(s.drains, 3);
    s.close_inside = true;
    fill(&s);
    client_settle(&s.c);
    assert_int_equal(s.drains, 4);
    assert_int_equal(s.status, 0);
    stage_end(&s);
}

/* Bytes until the next one makes a write say FULL. */
static size_t gap(const redd_http_request *req)
{
    uint64_t half = req->conn->server->options.max_queued / 2;
    return (size_t)half - redd_output_queued(&req->conn->output);
}

/* A beat that meets a full output is nobody's: whoever was not told to wait is not told to go on.
 */
static void test_beat_on_the_brink(void **state)
{
    (void)state;
    static const char filler[] = "fifteen bytes..";
    stage s;
    stage_begin(&s);
    s.options.heartbeat_ms = 1000;
    client_open_sized(&s.b, &s.c, 4096);
    client_put(&s.c, GET, strlen(GET));
    bed_settle(&s.b);
    redd_http_request *req = redd_http_events_request(s.events);
    while (gap(req) > 20)
        assert_int_equal(redd_http_write(req, redd_slice_of(filler, 9)), 0);
    assert_int_equal(redd_http_write(req, redd_slice_of(filler, gap(req) - 5)), 0);
    assert_int_equal(gap(req), 0);
    redd_clock_advance(s.b.clock, 1000);
    client_settle(&s.c);
    assert_non_null(strstr(s.c.got.data, ":\n\n"));
    assert_int_equal(s.drains, 0);
    redd_http_events_close(s.events);
    client_settle(&s.c);
    stage_end(&s);
}

static void test_stalled(void **state)
{
    (void)state;
    stage s;
    stage_begin(&s);
    client_open_sized(&s.b, &s.c, 4096);
    client_put(&s.c, GET, strlen(GET));
    bed_settle(&s.b);
    fill(&s);
    bed_settle(&s.b);
    redd_clock_advance(s.b.clock, s.b.options.write_timeout_ms + 1000);
    bed_settle(&s.b);
    assert_int_equal(s.status, UV_ETIMEDOUT);
    stage_end(&s);
}

/* --- ends --- */

static void test_client_goes(void **state)
{
    (void)state;
    for (int reset = 0; reset < 2; reset++) {
        stage s;
        stage_begin(&s);
        stage_open(&s, GET);
        assert_int_equal(s.ends, 0);
        client_go(&s.c, reset); /* noticed without a beat */
        assert_int_equal(s.ends, 1);
        assert_true(s.status == UV_ECONNRESET || s.status == UV_EPIPE);
        stage_end(&s);
    }
}

/* A client that has nothing more to say still listens. */
static void test_half_closed(void **state)
{
    (void)state;
    stage s;
    stage_begin(&s);
    stage_open(&s, GET);
    client_finish(&s.c);
    send_text(&s, "", "", "still here");
    assert_int_equal(s.ends, 0);
    expect_stream(&s, ":\n\ndata: still here\n\n");
    stage_end(&s);
}

static void test_server_stops(void **state)
{
    (void)state;
    stage s;
    stage_begin(&s);
    stage_open(&s, GET);
    redd_http_server_close(s.b.server, REDD_STOP_FORCED);
    client_settle(&s.c);
    assert_int_equal(s.status, UV_ECANCELED);
    stage_end(&s);
}

/* The connection is lost inside of a call. */
static void test_lost_inside(void **state)
{
    (void)state;
    stage s;
    stage_begin(&s);
    stage_open(&s, GET);
    redd__http_connection_lose(redd_http_events_request(s.events)->conn, UV_ECONNRESET);
    assert_int_equal(s.status, UV_ECONNRESET);
    stage_end(&s);
}

/* The request goes on living with who holds it, the events do not. */
static void test_request_outlives(void **state)
{
    (void)state;
    stage s;
    stage_begin(&s);
    stage_open(&s, GET);
    redd_http_request *req = redd_http_request_ref(redd_http_events_request(s.events));
    client_go(&s.c, true);
    assert_int_equal(s.ends, 1);
    assert_true(redd_slice_equal(redd_http_path(req), redd_slice_str("/events")));
    redd_http_request_unref(req);
    stage_end(&s);
}

/* --- memory runs out --- */

static void test_memory_runs_out(void **state)
{
    (void)state;
    uint64_t failures = 1;
    for (uint64_t n = 1; failures > 0; n++) {
        stage s;
        bytes data = {0};
        stage_begin(&s);
        s.options.retry_ms = 10;
        s.options.heartbeat_ms = 1000;
        bytes_fill(&data, 'd', 5000);
        client_open(&s.b, &s.c);
        redd_counting_allocator_fail_at(s.b.counting, n, false);
        client_text(&s.c, GET);
        if (s.events)
            (void)send_text(&s, "t", "", data.data);
        client_wait(&s.c, 1000);
        if (s.events)
            redd_http_events_close(s.events);
        client_settle(&s.c);
        failures = bed_memory(&s.b).failures;
        redd_counting_allocator_fail_at(s.b.counting, 0, false);
        client_close(&s.c);
        assert_int_equal(s.ends, s.rc == 0 && s.last_id.data ? 1 : 0);
        s.ends = 1;
        bytes_free(&data);
        stage_end(&s);
        assert_true(failures > 0 || n > 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heartbeat),       cmocka_unit_test(test_heartbeat_by_default),
        cmocka_unit_test(test_backpressure),    cmocka_unit_test(test_beat_on_the_brink),
        cmocka_unit_test(test_stalled),         cmocka_unit_test(test_client_goes),
        cmocka_unit_test(test_half_closed),     cmocka_unit_test(test_server_stops),
        cmocka_unit_test(test_lost_inside),     cmocka_unit_test(test_request_outlives),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
