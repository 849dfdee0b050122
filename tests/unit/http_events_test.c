/* SPDX-License-Identifier: MIT */
/** Server-sent events: what is sent. */
#include "tests/unit/http_events_fixture.h"

#include <uv.h>

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
        assert_int_equal(send_text(&s, "t", "i", data.data), 0);
        bytes_text(&expected, "event: t\nid: i\ndata: ");
        bytes_text(&expected, data.data);
        bytes_text(&expected, "\n\n");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_form),    cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_last_event_id),
        cmocka_unit_test(test_retry),   cmocka_unit_test(test_head),
        cmocka_unit_test(test_errors),  cmocka_unit_test(test_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
