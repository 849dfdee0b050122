/* SPDX-License-Identifier: MIT */
/** What a connection may wait for: all by the virtual clock. */
#include "tests/unit/http_must.h"

#define LINE "GET / HTTP/1.1\r\n"
#define HOST "Host: h\r\n"
#define GET  LINE HOST "\r\n"

/** What the handler does: it answers at once, reads the body first, or leaves that to the test. */
typedef struct watch {
    enum { ANSWER, READ_BODY, KEEP } act;
    redd_http_request *req; /* a reference, when KEEP */
    size_t response;        /* bytes of the body */
    unsigned requests, reads, ends;
    int read_status, end_status;
} watch;

static void respond(redd_http_request *req, const watch *w)
{
    bytes body = {0};
    bytes_fill(&body, 'r', w->response);
    assert_int_equal(redd_http_respond(req, 200, NULL, 0, redd_slice_of(body.data, body.len)), 0);
    bytes_free(&body);
}

static void on_body(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    watch *w = user;
    (void)data;
    (void)last;
    w->reads++;
    w->read_status = status;
    if (status == 0)
        respond(req, w);
}

static void on_end(redd_http_request *req, int status, void *user)
{
    watch *w = user;
    (void)req;
    w->ends++;
    w->end_status = status;
}

static void on_request(redd_http_request *req, void *user)
{
    watch *w = user;
    w->requests++;
    redd_http_on_end(req, on_end, w);
    if (w->act == ANSWER)
        respond(req, w);
    else if (w->act == READ_BODY)
        assert_int_equal(redd_http_read_all(req, 0, on_body, w), 0);
    else
        w->req = redd_http_request_ref(req);
}

typedef struct setting {
    bed b;
    client c;
    watch w;
} setting;

static void setting_begin(setting *s, watch w, size_t capacity)
{
    memset(s, 0, sizeof *s);
    s->w = w;
    bed_begin(&s->b, on_request, &s->w);
    client_open_sized(&s->b, &s->c, capacity);
}

static void setting_end(setting *s)
{
    client_close(&s->c);
    assert_int_equal(redd_http_server_connections(s->b.server), 0);
    assert_int_equal(s->w.ends, s->w.requests);
    bed_end(&s->b);
}

/** The last response is this one, and nothing follows it. */
static void expect_last(const client *c, unsigned status, bool closed)
{
    reply r;
    unsigned last = 0;
    reply_begin(&r, c);
    while (reply_next(&r))
        last = r.status;
    assert_true(reply_at_end(&r));
    assert_int_equal(last, status);
    assert_int_equal(c->eof, closed);
    assert_false(c->reset);
    reply_end(&r);
}

/* --- the head --- */

static void test_head_timeout(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (watch){.act = ANSWER}, CLIENT_CAPACITY);
    client_text(&s.c, "GET / HT");
    client_wait(&s.c, 29999);
    assert_false(client_ended(&s.c));
    client_wait(&s.c, 1);
    expect_last(&s.c, 408, true);
    assert_int_equal(s.w.requests, 0);
    setting_end(&s);
}

/** One deadline for the whole head, however the peer dribbles. */
static void test_head_drips(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (watch){.act = ANSWER}, CLIENT_CAPACITY);
    client_text(&s.c, LINE HOST "A: ");
    for (int i = 0; i < 29; i++) {
        client_wait(&s.c, 1000);
        client_text(&s.c, "d");
        assert_false(client_ended(&s.c));
    }
    client_wait(&s.c, 1000);
    expect_last(&s.c, 408, true);
    setting_end(&s);
}

/** The deadline is each head's own. */
static void test_head_deadline_starts_with_the_head(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (watch){.act = ANSWER}, CLIENT_CAPACITY);
    for (int i = 0; i < 3; i++) {
        client_wait(&s.c, 50000);
        client_text(&s.c, LINE);
        client_wait(&s.c, 29000);
        client_text(&s.c, HOST "\r\n");
        expect_last(&s.c, 200, false);
    }
    setting_end(&s);
}

/** Line ends before a head are no beginning of one. */
static void test_empty_lines_are_idle(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (watch){.act = ANSWER}, CLIENT_CAPACITY);
    client_wait(&s.c, 40000);
    client_text(&s.c, "\r\n");
    client_wait(&s.c, 34999);
    assert_false(client_ended(&s.c));
    client_wait(&s.c, 1);
    assert_true(s.c.eof);
    assert_int_equal(s.c.got.len, 0);
    setting_end(&s);
}

/* What has come when the time is over is looked at first: here the loop was busy for too long. */
static void check_judged_late(const char *first, uint64_t ms, const char *rest, unsigned status,
                              watch w)
{
    setting s;
    setting_begin(&s, w, CLIENT_CAPACITY);
    client_text(&s.c, first);
    size_t n = strlen(rest);
    /* The bytes arrive and the time passes before the loop turns. */
    assert_int_equal(client_put(&s.c, rest, n), n);
    client_wait(&s.c, ms);
    expect_last(&s.c, status, false);
    setting_end(&s);
}

static void test_never_judged_unread(void **state)
{
    (void)state;
    watch answer = {.act = ANSWER}, body = {.act = READ_BODY};
    check_judged_late(LINE, 30000, HOST "\r\n", 200, answer);
    check_judged_late("", 75000, GET, 200, answer);
    check_judged_late(LINE HOST "Content-Length: 5\r\n\r\n", 30000, "hello", 200, body);
}

/** A head that begins at the last moment has its own time. */
static void test_begun_at_the_last_moment(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (watch){.act = ANSWER}, CLIENT_CAPACITY);
    assert_int_equal(client_put(&s.c, "G", 1), 1);
    client_wait(&s.c, 75000);
    assert_false(client_ended(&s.c));
    client_wait(&s.c, 29999);
    client_text(&s.c, "ET / HTTP/1.1\r\n" HOST "\r\n");
    expect_last(&s.c, 200, false);
    setting_end(&s);
}

/* --- idle --- */

static void test_keep_alive_timeout(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (watch){.act = ANSWER}, CLIENT_CAPACITY);
    client_wait(&s.c, 74999);
    client_text(&s.c, GET);
    client_wait(&s.c, 74999);
    assert_false(client_ended(&s.c));
    client_wait(&s.c, 1);
    expect_last(&s.c, 200, true);
    assert_int_equal(redd_http_server_connections(s.b.server), 0);
    setting_end(&s);
}

static void test_own_timeouts(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (watch){.act = ANSWER}, CLIENT_CAPACITY);
    s.b.options.keep_alive_ms = 100;
    s.b.options.head_timeout_ms = 50;
    bed_serve_anew(&s.b, on_request, &s.w);
    client_close(&s.c);
    client_open(&s.b, &s.c);
    client_wait(&s.c, 99);
    assert_false(client_ended(&s.c));
    client_text(&s.c, "G");
    client_wait(&s.c, 49);
    assert_false(client_ended(&s.c));
    client_wait(&s.c, 1);
    expect_last(&s.c, 408, true);
    setting_end(&s);
}

/* --- the body; its rate is http_rate_test's --- */

static void without_rate(setting *s)
{
    s->b.options.min_body_rate = 0;
    client_close(&s->c);
    bed_serve_anew(&s->b, on_request, &s->w);
    client_open(&s->b, &s->c);
}

static void test_body_timeout(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (watch){.act = READ_BODY}, CLIENT_CAPACITY);
    without_rate(&s);
    client_text(&s.c, LINE HOST "Content-Length: 50\r\n\r\n");
    for (int i = 0; i < 5; i++) {
        client_wait(&s.c, 29999);
        client_text(&s.c, "x");
    }
    client_wait(&s.c, 29999);
    assert_int_equal(s.w.reads, 0);
    client_wait(&s.c, 1);
    expect_last(&s.c, 408, true);
    assert_int_equal(s.w.reads, 1);
    assert_int_equal(s.w.read_status, UV_ETIMEDOUT);
    assert_int_equal(s.w.end_status, UV_ETIMEDOUT);
    setting_end(&s);
}

/** A rest of a body that is to be dropped has no more time than any other. */
static void test_dropped_body_timeout(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (watch){.act = ANSWER}, CLIENT_CAPACITY);
    without_rate(&s);
    client_text(&s.c, LINE HOST "Content-Length: 50\r\n\r\nhello");
    expect_last(&s.c, 200, false);
    client_wait(&s.c, 29999);
    assert_false(client_ended(&s.c));
    client_wait(&s.c, 1);
    assert_true(s.c.reset);
    assert_int_equal(s.w.end_status, UV_ETIMEDOUT);
    setting_end(&s);
}

/** A handler may take its time. */
static void test_handler_has_no_deadline(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (watch){.act = KEEP, .response = 10}, CLIENT_CAPACITY);
    client_text(&s.c, GET);
    client_wait(&s.c, 24 * 3600 * 1000);
    assert_false(client_ended(&s.c));
    respond(s.w.req, &s.w);
    redd_http_request_unref(s.w.req);
    client_settle(&s.c);
    expect_last(&s.c, 200, false);
    client_wait(&s.c, 74999);
    assert_false(client_ended(&s.c));
    client_wait(&s.c, 1);
    assert_true(s.c.eof);
    setting_end(&s);
}

/* --- output --- */

static void test_write_stall(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (watch){.act = ANSWER, .response = 100000}, 4096);
    client_put(&s.c, GET, strlen(GET));
    bed_settle(&s.b);
    redd_clock_advance(s.b.clock, 29999);
    bed_settle(&s.b);
    assert_int_equal(s.w.ends, 0);
    redd_clock_advance(s.b.clock, 1);
    bed_settle(&s.b);
    assert_int_equal(s.w.ends, 1);
    assert_int_equal(s.w.end_status, UV_ETIMEDOUT);
    client_settle(&s.c);
    assert_true(s.c.reset);
    setting_end(&s);
}

/** Each byte that the peer takes gives it more time. */
static void test_slow_reader_is_no_stall(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (watch){.act = ANSWER, .response = 50000}, 4096);
    client_put(&s.c, GET, strlen(GET));
    bed_settle(&s.b);
    while (s.w.ends == 0) {
        redd_clock_advance(s.b.clock, 29999);
        bed_settle(&s.b);
        assert_true(client_take(&s.c, 1000) > 0);
        bed_settle(&s.b);
    }
    assert_int_equal(s.w.end_status, 0);
    client_settle(&s.c);
    expect_last(&s.c, 200, false);
    setting_end(&s);
}

/** Requests behind a stalled response do not keep the connection. */
static void test_stall_with_pipelined_requests(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (watch){.act = ANSWER, .response = 100000}, 4096);
    client_put(&s.c, GET GET GET "GET / HT", strlen(GET GET GET "GET / HT"));
    bed_settle(&s.b);
    for (int i = 0; i < 29; i++) {
        redd_clock_advance(s.b.clock, 1000);
        (void)client_put(&s.c, GET, strlen(GET));
        bed_settle(&s.b);
    }
    assert_int_equal(s.w.ends, 0);
    redd_clock_advance(s.b.clock, 1000);
    bed_settle(&s.b);
    assert_int_equal(s.w.requests, 1);
    assert_int_equal(s.w.end_status, UV_ETIMEDOUT);
    setting_end(&s);
}

/** A refused peer that goes on sending is not listened to for ever. */
static void test_discarded_input_is_bounded(void **state)
{
    (void)state;
    setting s;
    bytes noise = {0};
    bytes_fill(&noise, 'n', 32768);
    setting_begin(&s, (watch){.act = ANSWER}, CLIENT_CAPACITY);
    client_text(&s.c, "nonsense\r\n\r\n");
    assert_true(s.c.eof);
    size_t sent = 0, n;
    while ((n = client_put(&s.c, noise.data, noise.len)) > 0) {
        sent += n;
        assert_true(sent < 2 << 20);
        bed_turns(&s.b, 1);
    }
    assert_true(sent > 1 << 20);
    assert_int_equal(redd_http_server_connections(s.b.server), 0);
    bytes_free(&noise);
    setting_end(&s);
}

/** A timer for each of many connections, and each at its own time. */
static void test_many_connections(void **state)
{
    (void)state;
    enum { CLIENTS = 50 };
    bed b;
    client c[CLIENTS];
    watch w = {.act = ANSWER};
    bed_begin(&b, on_request, &w);
    for (int i = 0; i < CLIENTS; i++) {
        client_open_sized(&b, &c[i], 512);
        redd_clock_advance(b.clock, 10);
    }
    redd_clock_advance(b.clock, 75000 - CLIENTS * 10 - 1);
    bed_settle(&b);
    for (int i = 0; i < CLIENTS; i++) {
        assert_int_equal(redd_http_server_connections(b.server), CLIENTS - i);
        redd_clock_advance(b.clock, i ? 10 : 1);
        bed_settle(&b);
    }
    assert_int_equal(redd_http_server_connections(b.server), 0);
    for (int i = 0; i < CLIENTS; i++)
        client_close(&c[i]);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head_timeout),
        cmocka_unit_test(test_head_drips),
        cmocka_unit_test(test_head_deadline_starts_with_the_head),
        cmocka_unit_test(test_empty_lines_are_idle),
        cmocka_unit_test(test_never_judged_unread),
        cmocka_unit_test(test_begun_at_the_last_moment),
        cmocka_unit_test(test_keep_alive_timeout),
        cmocka_unit_test(test_own_timeouts),
        cmocka_unit_test(test_body_timeout),
        cmocka_unit_test(test_dropped_body_timeout),
        cmocka_unit_test(test_handler_has_no_deadline),
        cmocka_unit_test(test_write_stall),
        cmocka_unit_test(test_slow_reader_is_no_stall),
        cmocka_unit_test(test_stall_with_pipelined_requests),
        cmocka_unit_test(test_discarded_input_is_bounded),
        cmocka_unit_test(test_many_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
