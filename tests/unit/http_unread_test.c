/* SPDX-License-Identifier: MIT */
/** Request bodies that nobody reads, or not to their end: what follows them on the connection must
 * never be taken for a request if it could be part of them. */
#include "tests/unit/http_must.h"

#define POST(fields) "POST / HTTP/1.1\r\nHost: h\r\n" fields "\r\n"
#define CHUNKED      POST("Transfer-Encoding: chunked\r\n")
#define EXPECT       "Expect: 100-continue\r\n"
#define GET          "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

/** What the handlers of this test have seen. */
typedef struct reader {
    unsigned requests, pieces, ends;
    int status; /* of the last read */
    int end_status;
    bytes body;
} reader;

static void on_end(redd_http_request *req, int status, void *user)
{
    reader *r = user;
    (void)req;
    r->ends++;
    r->end_status = status;
}

static void ignore_body(redd_http_request *req, void *user)
{
    ((reader *)user)->requests++;
    assert_int_equal(redd_http_respond_text(req, 200, "no matter"), 0);
}

static void stream_ignoring_body(redd_http_request *req, void *user)
{
    ((reader *)user)->requests++;
    assert_int_equal(redd_http_start(req, 200, NULL, 0, 2), 0);
    assert_int_equal(redd_http_write(req, redd_slice_str("no")), 0);
    assert_int_equal(redd_http_finish(req), 0);
}

static void check_ignored(redd_http_handler_fn handler, const char *head, size_t body,
                          const char *statuses, bool closed)
{
    bed b;
    client c;
    reader r = {0};
    bytes big = {0};
    bytes_fill(&big, 'G', body);
    bytes_text(&big, GET);
    bed_begin(&b, handler, &r);
    client_open(&b, &c);
    client_text(&c, head);
    client_send(&c, big.data, big.len);
    assert_true(replies_are(&c, statuses));
    assert_int_equal(c.eof, closed);
    assert_false(c.reset);
    bytes_free(&big);
    client_close(&c);
    bed_end(&b);
}

static void test_not_asked_for(void **state)
{
    (void)state;
    const redd_http_handler_fn handlers[] = {ignore_body, stream_ignoring_body};
    for (int i = 0; i < 2; i++) {
        redd_http_handler_fn h = handlers[i];
        check_ignored(h, POST("Content-Length: 5\r\n"), 5, "200,200", false);
        check_ignored(h, POST("Content-Length: 65536\r\n"), 65536, "200,200", false);
        check_ignored(h, POST("Content-Length: 65537\r\n"), 65537, "200", true);
        check_ignored(h, POST("Content-Length: 1000000\r\n"), 1000000, "200", true);
        check_ignored(h, CHUNKED "5\r\nhello\r\n0\r\n\r\n", 0, "200", true);
        check_ignored(h, POST("Content-Length: 5\r\n" EXPECT), 0, "200", true);
        check_ignored(h, POST("Content-Length: 0\r\n" EXPECT), 0, "200,200", false);
    }
}

/** The response says that it is the last one, where it is. */
static void test_not_asked_for_says_so(void **state)
{
    (void)state;
    bed b;
    client c;
    reply p;
    reader r = {0};
    bed_begin(&b, ignore_body, &r);
    client_open(&b, &c);
    client_text(&c, POST("Content-Length: 65537\r\n"));
    reply_begin(&p, &c);
    assert_true(reply_next(&p));
    assert_true(reply_closes(&p));
    reply_end(&p);
    client_close(&c);
    bed_end(&b);
}

/** A handler that answers in the middle of the body, and reads no further. */
static void on_some(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    reader *r = user;
    r->status = status;
    r->pieces++;
    bytes_add(&r->body, data.data, data.len);
    if (!status && !last)
        assert_int_equal(redd_http_respond_text(req, 200, "enough"), 0);
}

static void read_some(redd_http_request *req, void *user)
{
    reader *r = user;
    r->requests++;
    redd_http_on_end(req, on_end, r);
    assert_int_equal(redd_http_read(req, on_some, user), 0);
}

static void test_answered_half_way(void **state)
{
    (void)state;
    bed b;
    client c;
    reader r = {0};
    bed_begin(&b, read_some, &r);
    client_open(&b, &c);
    client_text(&c, POST("Content-Length: 11\r\n") "hello");
    assert_true(replies_are(&c, "200"));
    assert_int_equal(r.ends, 0);
    client_text(&c, " world" POST("Content-Length: 9\r\n") "again");
    assert_int_equal(r.ends, 1);
    assert_int_equal(r.pieces, 2);
    assert_int_equal(r.requests, 2);
    assert_true(replies_are(&c, "200,200"));
    client_text(&c, "more" CHUNKED "5\r\nhello\r\n");
    assert_int_equal(r.ends, 3);
    assert_true(replies_are(&c, "200,200,200"));
    assert_true(c.eof);
    bytes_free(&r.body);
    client_close(&c);
    bed_end(&b);
}

/** A handler that answers first, and has a read in work. */
static void on_some_ignored(redd_http_request *req, int status, redd_slice data, bool last,
                            void *user)
{
    reader *r = user;
    (void)req;
    (void)last;
    r->status = status;
    r->pieces++;
    bytes_add(&r->body, data.data, data.len);
}

static void answer_while_reading(redd_http_request *req, void *user)
{
    reader *r = user;
    r->requests++;
    redd_http_on_end(req, on_end, r);
    assert_int_equal(redd_http_read(req, on_some_ignored, user), 0);
    assert_int_equal(redd_http_respond_text(req, 200, "early"), 0);
}

static void test_answered_while_reading(void **state)
{
    (void)state;
    bed b;
    client c;
    reader r = {0};
    bed_begin(&b, answer_while_reading, &r);
    client_open(&b, &c);
    client_text(&c, POST("Content-Length: 11\r\n"));
    assert_true(replies_are(&c, "200"));
    assert_int_equal(r.pieces, 0);
    client_text(&c, "hello");
    assert_int_equal(r.pieces, 1);
    assert_int_equal(r.ends, 0);
    client_text(&c, " world" GET);
    assert_int_equal(r.pieces, 2);
    assert_int_equal(r.ends, 2);
    assert_true(replies_are(&c, "200,200"));
    bytes_free(&r.body);
    client_close(&c);
    bed_end(&b);
}

/** After the final status no 100 Continue may come. */
static void test_answered_while_expecting(void **state)
{
    (void)state;
    bed b;
    client c;
    reader r = {0};
    bed_begin(&b, answer_while_reading, &r);
    client_open(&b, &c);
    client_text(&c, POST("Content-Length: 5\r\n" EXPECT));
    assert_true(replies_are(&c, "200"));
    client_text(&c, "hello" GET);
    assert_true(replies_are(&c, "200,200"));
    assert_int_equal(r.ends, 2);
    bytes_free(&r.body);
    client_close(&c);
    bed_end(&b);
}

/** Whoever has given its answer does not miss the rest of a body: the answer is owed all the same.
 */
static void respond_at_length(redd_http_request *req, void *user)
{
    reader *r = user;
    bytes body = {0};
    bytes_fill(&body, 'r', 30000);
    r->requests++;
    redd_http_on_end(req, on_end, r);
    assert_int_equal(redd_http_respond(req, 200, NULL, 0, redd_slice_of(body.data, body.len)), 0);
    bytes_free(&body);
}

static void test_answered_and_half_closed(void **state)
{
    (void)state;
    for (size_t capacity = 1024; capacity <= CLIENT_CAPACITY; capacity *= 64) {
        bed b;
        client c;
        reader r = {0};
        static const char request[] = POST("Content-Length: 5\r\n") "hel";
        bed_begin(&b, respond_at_length, &r);
        client_open_sized(&b, &c, capacity);
        assert_int_equal(client_put(&c, request, sizeof request - 1), sizeof request - 1);
        bed_settle(&b);
        assert_int_equal(r.ends, 0);
        assert_int_equal(redd_stream_shutdown(c.stream), 0);
        bed_settle(&b);
        client_settle(&c);
        assert_true(replies_are(&c, "200"));
        assert_true(c.eof);
        assert_false(c.reset);
        assert_int_equal(r.requests, 1);
        assert_int_equal(r.ends, 1);
        assert_int_equal(r.end_status, 0);
        client_close(&c);
        bed_end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_asked_for),
        cmocka_unit_test(test_not_asked_for_says_so),
        cmocka_unit_test(test_answered_half_way),
        cmocka_unit_test(test_answered_while_reading),
        cmocka_unit_test(test_answered_while_expecting),
        cmocka_unit_test(test_answered_and_half_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
