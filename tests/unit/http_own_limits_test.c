/* SPDX-License-Identifier: MIT */
/** Limits that an application sets: each lets through what it allows and nothing more. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_rows_app.h"

#define LINE    "GET / HTTP/1.1\r\n"
#define HOST    "Host: h\r\n"
#define GET     LINE HOST "\r\n"
#define CHUNKED "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"

typedef struct setting {
    bed b;
    client c;
    rows_app app;
} setting;

static void setting_begin(setting *s)
{
    memset(s, 0, sizeof *s);
    bed_begin(&s->b, rows_app_handler, &s->app);
}

/** A server with the options that now stand in the bed, and a client of it. */
static void serve(setting *s)
{
    bed_serve_anew(&s->b, rows_app_handler, &s->app);
    rows_app_clear(&s->app);
    client_open(&s->b, &s->c);
}

static void setting_end(setting *s)
{
    client_close(&s->c);
    rows_app_free(&s->app);
    bed_end(&s->b);
}

/* Both on one connection, in segments of every size. */
static void check(setting *s, const char *good, const char *bad, const char *status)
{
    char statuses[16];
    (void)snprintf(statuses, sizeof statuses, "200,%s", status);
    for (size_t size = 1; size <= strlen(bad); size++) {
        serve(s);
        client_send_cut(&s->c, good, strlen(good), size);
        assert_true(replies_are(&s->c, "200"));
        assert_false(s->c.eof);
        client_send_cut(&s->c, bad, strlen(bad), size);
        assert_true(replies_are(&s->c, statuses));
        assert_true(s->c.eof);
        assert_false(s->c.reset);
        client_close(&s->c);
    }
}

static void test_head(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s);
    s.b.options.max_head = sizeof GET - 1;
    check(&s, GET, "GET /x HTTP/1.1\r\n" HOST "\r\n", "431");
    check(&s, GET, LINE HOST "A:\r\n\r\n", "431");
    setting_end(&s);
}

static void test_fields(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s);
    s.b.options.max_fields = 3;
    check(&s, LINE HOST "A: b\r\nB: c\r\n\r\n", LINE HOST "A: b\r\nB: c\r\nC: d\r\n\r\n", "431");
    check(&s, CHUNKED "0\r\nA: b\r\n\r\n", CHUNKED "0\r\nA: b\r\nB: c\r\n\r\n", "431");
    setting_end(&s);
}

static void test_target(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s);
    s.b.options.max_target = 4;
    check(&s, "GET /abc HTTP/1.1\r\n" HOST "\r\n", "GET /abcd HTTP/1.1\r\n" HOST "\r\n", "414");
    setting_end(&s);
}

static void test_body(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s);
    s.b.options.max_body = 5;
    check(&s, LINE HOST "Content-Length: 5\r\n\r\nhello",
          LINE HOST "Content-Length: 6\r\n\r\nhello!", "413");
    check(&s, CHUNKED "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
          CHUNKED "3\r\nhel\r\n3\r\nlo!\r\n0\r\n\r\n", "413");
    s.b.options.max_body = 0;
    check(&s, CHUNKED "0\r\n\r\n", CHUNKED "1\r\nh\r\n0\r\n\r\n", "413");
    check(&s, LINE HOST "Content-Length: 0\r\n\r\n", LINE HOST "Content-Length: 1\r\n\r\nh", "413");
    setting_end(&s);
}

static void test_extensions(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s);
    s.b.options.max_extensions = 8;
    check(&s, CHUNKED "1;a=b\r\nx\r\n0;cde\r\n\r\n", CHUNKED "1;a=b\r\nx\r\n0;cdef\r\n\r\n", "413");
    check(&s, CHUNKED "0;a=\"b_ \"\r\n\r\n", CHUNKED "0;a=\"b_  \"\r\n\r\n", "413");
    s.b.options.max_extensions = 0;
    check(&s, CHUNKED "1\r\nx\r\n0\r\n\r\n", CHUNKED "1;a\r\nx\r\n0\r\n\r\n", "413");
    setting_end(&s);
}

static void test_trailers(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s);
    s.b.options.max_trailers = 14;
    check(&s, CHUNKED "0\r\nA: b\r\nC: d\r\n\r\n", CHUNKED "0\r\nA: b\r\nC: de\r\n\r\n", "431");
    s.b.options.max_trailers = 0;
    check(&s, CHUNKED "0\r\n\r\n", CHUNKED "0\r\nA:\r\n\r\n", "431");
    setting_end(&s);
}

/** Who takes a body piece by piece gets what the limit allows, and the end of it. */
static void test_body_in_pieces(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s);
    s.b.options.max_body = 8;
    serve(&s);
    client_text(&s.c, "POST /pieces HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
                      "5\r\nhello\r\n3\r\nyou\r\n");
    assert_true(bytes_are(&s.app.pieces, "helloyou", 8));
    assert_int_equal(s.c.got.len, 0);
    client_text(&s.c, "1\r\n!\r\n");
    assert_true(bytes_are(&s.app.pieces, "helloyou", 8));
    assert_true(replies_are(&s.c, "413"));
    assert_true(s.c.eof);
    setting_end(&s);
}

/* A handler that sets a limit of its own, by its path: "/5". */
static void limit_and_read(redd_http_request *req, void *user)
{
    rows_app *app = user;
    redd_slice path = redd_http_path(req);
    assert_int_equal(redd_http_set_max_body(req, (uint64_t)(path.data[1] - '0')), 0);
    rows_app_handler(req, app);
    assert_int_equal(redd_http_set_max_body(req, 9), REDD_ESTATE);
}

static void test_a_limit_of_the_request(void **state)
{
    (void)state;
    static const struct {
        const char *head, *body, *statuses;
    } rows[] = {
        {"POST /5 HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n", "hello", "200"},
        {"POST /4 HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n", "hello", "413"},
        {"POST /0 HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", "", "200"},
        {"POST /0 HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n", "h", "413"},
        {"POST /5 HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n",
         "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", "200"},
        {"POST /4 HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n",
         "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", "413"},
        {"POST /5 HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n", "hello",
         "100,200"},
        {"POST /4 HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n", "hello",
         "413"},
    };
    /* The server's own limit may be smaller or larger. */
    for (uint64_t max = 1; max <= 9; max += 8)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            setting s;
            setting_begin(&s);
            s.b.options.max_body = max;
            bed_serve_anew(&s.b, limit_and_read, &s.app);
            client_open(&s.b, &s.c);
            client_text(&s.c, rows[i].head);
            client_text(&s.c, rows[i].body);
            assert_true(replies_are(&s.c, rows[i].statuses));
            assert_int_equal(s.c.eof, strstr(rows[i].statuses, "413") != NULL);
            setting_end(&s);
        }
}

/** What is left of a flood of requests is not even looked at. */
static void test_requests_of_a_connection(void **state)
{
    (void)state;
    for (uint64_t max = 1; max <= 3; max++) {
        setting s;
        setting_begin(&s);
        s.b.options.max_requests = max;
        serve(&s);
        client_text(&s.c, GET GET GET GET GET);
        assert_true(s.c.eof);
        assert_int_equal(s.app.requests, max);
        reply r;
        reply_begin(&r, &s.c);
        for (uint64_t i = 1; i <= max; i++) {
            assert_true(reply_next(&r));
            assert_int_equal(reply_closes(&r), i == max);
        }
        assert_true(reply_at_end(&r));
        reply_end(&r);
        setting_end(&s);
    }
}

static void test_any_number_of_requests(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s);
    s.b.options.max_requests = 0;
    serve(&s);
    for (int i = 0; i < 300; i++)
        client_text(&s.c, GET);
    assert_int_equal(s.app.requests, 300);
    assert_false(client_ended(&s.c));
    setting_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_target),
        cmocka_unit_test(test_body),
        cmocka_unit_test(test_body_in_pieces),
        cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_trailers),
        cmocka_unit_test(test_a_limit_of_the_request),
        cmocka_unit_test(test_requests_of_a_connection),
        cmocka_unit_test(test_any_number_of_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
