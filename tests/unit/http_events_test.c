/* SPDX-License-Identifier: MIT */
/** Server-sent events: their form, silence, a client that is slow, and ends. */
#include "ext/http/connection.h"

#include "tests/unit/http_must.h"

#include <redd/http_events.h>

#include <uv.h>

#define REQUEST(method) method " /events HTTP/1.1\r\nHost: h\r\n"
#define GET             REQUEST("GET") "\r\n"

typedef struct stage {
    bed b;
    client c;
    redd_http_events_options options;
    redd_http_events *events;
    int rc;
    unsigned ends, drains;
    int status;
    bool close_inside; /* in whatever is called */
    bytes last_id;
} stage;

static void on_end(redd_http_events *events, int status, void *user)
{
    stage *s = user;
    assert_ptr_equal(events, s->events);
    s->ends++;
    s->status = status;
    redd_slice text = redd_slice_str("late");
    int rc = redd_http_events_send(events, text, text, text);
    assert_int_equal(rc, REDD_ECLOSED);
    redd_http_events_close(events);
    assert_non_null(redd_http_events_request(events));
    s->events = NULL;
}

static void on_drain(redd_http_events *events, void *user)
{
    stage *s = user;
    assert_ptr_equal(events, s->events);
    s->drains++;
    if (s->close_inside)
        redd_http_events_close(events);
}

static void serve(redd_http_request *req, void *user)
{
    stage *s = user;
    redd_slice id = redd_http_last_event_id(req);
    bytes_clear(&s->last_id);
    bytes_text(&s->last_id, id.data ? "" : "none");
    bytes_add(&s->last_id, id.data, id.len);
    s->options.on_end = on_end;
    s->options.on_drain = on_drain;
    s->options.user = s;
    s->rc = redd_http_events_start(req, &s->options, &s->events);
    if (s->rc == 0)
        assert_ptr_equal(redd_http_events_request(s->events), req);
}

static void stage_begin(stage *s)
{
    memset(s, 0, sizeof *s);
    s->options = (redd_http_events_options)REDD_HTTP_EVENTS_OPTIONS_INIT;
    bed_begin(&s->b, serve, s);
}

/* Up to the head of the response. */
static void stage_open(stage *s, const char *request)
{
    client_open(&s->b, &s->c);
    client_text(&s->c, request);
}

static void stage_end(stage *s)
{
    client_close(&s->c);
    bytes_free(&s->last_id);
    assert_int_equal(s->ends, 1);
    assert_null(s->events);
    bed_end(&s->b);
}

static int send_text(stage *s, const char *type, const char *id, const char *data)
{
    int rc = redd_http_events_send(s->events, redd_slice_str(type), redd_slice_str(id),
                                   redd_slice_str(data));
    client_settle(&s->c);
    return rc;
}

/* Closes, and compares all that came. */
static void expect_stream(stage *s, const char *text)
{
    reply r;
    redd_http_events_close(s->events);
    client_settle(&s->c);
    reply_begin(&r, &s->c);
    assert_true(reply_next(&r));
    assert_int_equal(r.status, 200);
    assert_true(reply_field_is(&r, "content-type", "text/event-stream"));
    assert_true(reply_field_is(&r, "cache-control", "no-store"));
    assert_true(reply_at_end(&r));
    bytes_add(&r.body, "", 0);
    assert_string_equal(r.body.data, text);
    reply_end(&r);
    assert_int_equal(s->status, 0);
}

/* --- events --- */

static void test_form(void **state)
{
    (void)state;
    static const struct {
        const char *type, *id, *data, *text;
    } rows[] = {
        {"", "", "hello", "data: hello\n\n"},
        {"t", "", "d", "event: t\ndata: d\n\n"},
        {"", "7", "d", "id: 7\ndata: d\n\n"},
        {"t", "7", "d", "event: t\nid: 7\ndata: d\n\n"},
        {"", "", "", "data: \n\n"},
        {"", "", " d", "data:  d\n\n"},
        {"", "", "a\nb", "data: a\ndata: b\n\n"},
        {"", "", "a\rb", "data: a\ndata: b\n\n"},
        {"", "", "a\r\nb", "data: a\ndata: b\n\n"},
        {"", "", "a\n\rb", "data: a\ndata: \ndata: b\n\n"},
        {"", "", "\n", "data: \ndata: \n\n"},
        {"", "", "\r\n", "data: \ndata: \n\n"},
        {"", "", "a\r", "data: a\ndata: \n\n"},
        {"", "", "a\n\n", "data: a\ndata: \ndata: \n\n"},
        {"", "", "id: 1\nevent: x\n\n:", "data: id: 1\ndata: event: x\ndata: \ndata: :\n\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        stage s;
        stage_begin(&s);
        stage_open(&s, GET);
        assert_int_equal(send_text(&s, rows[i].type, rows[i].id, rows[i].data), 0);
        expect_stream(&s, rows[i].text);
        stage_end(&s);
    }
}

static void test_sizes(void **state)
{
    (void)state;
    stage s;
    bytes data = {0}, expected = {0};
    stage_begin(&s);
    stage_open(&s, GET);
    for (size_t n = 950; n < 1100; n++) {
        bytes_clear(&data);
        bytes_fill(&data, 'd', n);
        bytes_text(&data, "\r\r");
        assert_int_equal(send_text(&s, "t", "i", data.data), 0);
        data.data[n] = '\0';
        bytes_text(&expected, "event: t\nid: i\ndata: ");
        bytes_add(&expected, data.data, n);
        bytes_text(&expected, "\ndata: \ndata: \n\n");
    }
    expect_stream(&s, expected.data);
    bytes_free(&data);
    bytes_free(&expected);
    stage_end(&s);
}

static void test_refused(void **state)
{
    (void)state;
    static const redd_slice none = {NULL, 0},
                            bad[] = {REDD_SLICE("a\nb"), REDD_SLICE("\r"), REDD_SLICE("a\0")};
    stage s;
    stage_begin(&s);
    stage_open(&s, GET);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(redd_http_events_send(s.events, bad[i], none, none), UV_EINVAL);
        assert_int_equal(redd_http_events_send(s.events, none, bad[i], none), UV_EINVAL);
    }
    assert_int_equal(redd_http_events_send(s.events, none, none, bad[2]), 0);
    redd_http_events_close(s.events);
    assert_int_equal(send_text(&s, "", "", "x"), REDD_ESTATE);
    stage_end(&s);
}

static void test_last_event_id(void **state)
{
    (void)state;
    stage s;
    stage_begin(&s);
    stage_open(&s, GET);
    assert_string_equal(s.last_id.data, "none");
    client_close(&s.c);
    s.ends = 0;
    stage_open(&s, REQUEST("GET") "Last-Event-ID: a 7\r\n\r\n");
    assert_string_equal(s.last_id.data, "a 7");
    stage_end(&s);
}

static void test_retry(void **state)
{
    (void)state;
    stage s;
    stage_begin(&s);
    s.options.retry_ms = 2500;
    stage_open(&s, GET);
    send_text(&s, "", "", "x");
    expect_stream(&s, "retry: 2500\n\ndata: x\n\n");
    stage_end(&s);
}

/* The head is all that a HEAD asks for. */
static void test_head(void **state)
{
    (void)state;
    stage s;
    reply r;
    stage_begin(&s);
    s.options.retry_ms = 1;
    stage_open(&s, REQUEST("HEAD") "\r\n");
    client_text(&s.c, GET);
    reply_begin(&r, &s.c);
    assert_true(reply_next_to(&r, true));
    assert_true(reply_field_is(&r, "content-type", "text/event-stream"));
    reply_end(&r);
    assert_int_equal(s.ends, 1);
    assert_non_null(s.events); /* those of the GET behind it */
    client_close(&s.c);
    s.ends--;
    stage_end(&s);
}

static void test_errors(void **state)
{
    (void)state;
    stage s;
    stage_begin(&s);
    s.options.struct_size++;
    stage_open(&s, GET);
    assert_int_equal(s.rc, UV_EINVAL);
    assert_true(replies_are(&s.c, "500")); /* nobody has answered */
    s.ends = 1;
    stage_end(&s);
}

static void serve_twice(redd_http_request *req, void *user)
{
    stage *s = user;
    redd_http_events *other = NULL;
    serve(req, user);
    assert_int_equal(redd_http_events_start(req, &s->options, &other), REDD_ESTATE);
    assert_null(other);
}

static void test_twice(void **state)
{
    (void)state;
    stage s;
    stage_begin(&s);
    bed_serve_anew(&s.b, serve_twice, &s);
    stage_open(&s, GET);
    send_text(&s, "", "", "x");
    expect_stream(&s, "data: x\n\n");
    stage_end(&s);
}

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
        cmocka_unit_test(test_form),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_last_event_id),
        cmocka_unit_test(test_retry),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_heartbeat),
        cmocka_unit_test(test_heartbeat_by_default),
        cmocka_unit_test(test_backpressure),
        cmocka_unit_test(test_stalled),
        cmocka_unit_test(test_client_goes),
        cmocka_unit_test(test_half_closed),
        cmocka_unit_test(test_server_stops),
        cmocka_unit_test(test_lost_inside),
        cmocka_unit_test(test_request_outlives),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
