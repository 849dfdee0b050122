/* SPDX-License-Identifier: MIT */
/** Whole responses: framing, the fate of the connection, fields, large bodies. */
#include "tests/unit/http_must.h"

#include <stdio.h>

/** What the handler of this test answers with, and how that went. */
typedef struct answer {
    unsigned status;
    const redd_http_field *fields;
    size_t n;
    redd_slice body;
    int rc;
} answer;

static void respond(redd_http_request *req, void *user)
{
    answer *a = user;
    a->rc = redd_http_respond(req, a->status, a->fields, a->n, a->body);
    if (a->rc)
        assert_int_equal(redd_http_respond_text(req, 500, "refused"), 0);
}

/* One exchange on a connection of its own; `r` is left at the response. */
static void exchange(bed *b, client *c, const char *request, reply *r)
{
    bool to_head = strncmp(request, "HEAD ", 5) == 0;
    client_open(b, c);
    client_text(c, request);
    reply_begin(r, c);
    assert_true(reply_next_to(r, to_head));
    assert_true(reply_at_end(r));
}

static void exchange_end(client *c, reply *r)
{
    reply_end(r);
    client_close(c);
}

#define GET_11  "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
#define HEAD_11 "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n"
#define GET_10  "GET / HTTP/1.0\r\n\r\n"
#define KEEP_10 "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
#define CLOSE_11                                         \
    "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n" \
    "\r\nGET /more HTTP/1.1\r\nHost: h\r\n\r\n"

/* --- bodies that are not sent --- */

static void test_head(void **state)
{
    (void)state;
    bed b;
    client c;
    reply r;
    answer a = {.status = 200, .body = REDD_SLICE("twelve bytes")};
    bed_begin(&b, respond, &a);
    exchange(&b, &c, HEAD_11, &r);
    assert_true(reply_field_is(&r, "content-length", "12"));
    client_text(&c, GET_11);
    assert_true(reply_next(&r));
    assert_true(reply_body_is(&r, "twelve bytes"));
    exchange_end(&c, &r);
    bed_end(&b);
}

static void check_bodyless(unsigned status, const char *body, const char *length)
{
    bed b;
    client c;
    reply r;
    answer a = {.status = status, .body = redd_slice_str(body)};
    bed_begin(&b, respond, &a);
    exchange(&b, &c, GET_11, &r);
    assert_int_equal(r.status, status);
    if (length)
        assert_true(reply_field_is(&r, "content-length", length));
    else
        assert_null(reply_field(&r, "content-length").data);
    assert_null(reply_field(&r, "transfer-encoding").data);
    assert_false(client_ended(&c));
    exchange_end(&c, &r);
    bed_end(&b);
}

static void test_bodyless_statuses(void **state)
{
    (void)state;
    check_bodyless(204, "", NULL);
    check_bodyless(204, "never sent", NULL);
    check_bodyless(304, "", NULL);
    check_bodyless(304, "eight by", "8");
    check_bodyless(200, "", "0");
    check_bodyless(205, "", "0");
}

/* --- the connection's fate --- */

static void check_fate(const char *request, const answer *given, const char *connection, bool ends)
{
    bed b;
    client c;
    reply r;
    answer a = *given;
    bed_begin(&b, respond, &a);
    exchange(&b, &c, request, &r);
    assert_int_equal(a.rc, 0);
    if (connection)
        assert_true(reply_field_is(&r, "connection", connection));
    else
        assert_null(reply_field(&r, "connection").data);
    assert_int_equal(c.eof, ends);
    exchange_end(&c, &r);
    assert_int_equal(redd_http_server_connections(b.server), 0);
    bed_end(&b);
}

static void test_fate_of_the_connection(void **state)
{
    (void)state;
    static const redd_http_field close = {REDD_SLICE("connection"), REDD_SLICE("Close")};
    static const redd_http_field upgrade = {REDD_SLICE("Upgrade"), REDD_SLICE("foo/2")};
    static const redd_http_field both[] = {{REDD_SLICE("Upgrade"), REDD_SLICE("foo/2")},
                                           {REDD_SLICE("Connection"), REDD_SLICE("close")}};
    answer plain = {.status = 200, .body = REDD_SLICE("x")};
    answer closing = {.status = 200, .fields = &close, .n = 1};
    answer offering = {.status = 426, .fields = &upgrade, .n = 1};
    answer refusing = {.status = 426, .fields = both, .n = 2};
    check_fate(GET_11, &plain, NULL, false);
    check_fate(CLOSE_11, &plain, "close", true);
    check_fate(GET_10, &plain, "close", true);
    check_fate(KEEP_10, &plain, "keep-alive", false);
    check_fate(GET_11, &closing, "close", true);
    check_fate(KEEP_10, &closing, "close", true);
    check_fate(GET_11, &offering, "upgrade", false);
    check_fate(GET_11, &refusing, "upgrade, close", true);
}

/* After its last response the server ends its side, and forgets a peer that does not. */
static void test_linger(void **state)
{
    (void)state;
    bed b;
    client c;
    answer a = {.status = 200, .body = REDD_SLICE("x")};
    bed_begin(&b, respond, &a);
    client_open(&b, &c);
    client_text(&c, CLOSE_11);
    assert_true(c.eof);
    assert_int_equal(redd_http_server_connections(b.server), 1);
    client_text(&c, GET_11);
    assert_int_equal(redd_http_server_connections(b.server), 1);
    client_wait(&c, 1999);
    assert_int_equal(redd_http_server_connections(b.server), 1);
    client_wait(&c, 1);
    assert_int_equal(redd_http_server_connections(b.server), 0);
    c.eof = false; /* look again */
    client_settle(&c);
    assert_true(c.eof);
    assert_false(c.reset);
    client_close(&c);
    bed_end(&b);
}

/* --- fields --- */

static int try_field(bed *b, answer *a, redd_http_field field, client *c, reply *r)
{
    a->fields = &field;
    a->n = 1;
    exchange(b, c, GET_11, r);
    return a->rc;
}

static bool is_token(unsigned ch)
{
    return ch > 0 && ch < 128 &&
           strchr("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
                  (int)ch);
}

static void test_every_byte_in_a_name(void **state)
{
    (void)state;
    bed b;
    client c;
    reply r;
    answer a = {.status = 200};
    bed_begin(&b, respond, &a);
    for (unsigned ch = 0; ch < 256; ch++) {
        char name[] = {'x', (char)ch, 'y', '\0'};
        redd_http_field field = {redd_slice_of(name, 3), REDD_SLICE("v")};
        int rc = try_field(&b, &a, field, &c, &r);
        assert_int_equal(rc, is_token(ch) ? 0 : UV_EINVAL);
        assert_int_equal(r.status, rc ? 500 : 200);
        if (rc == 0)
            assert_true(reply_field_is(&r, name, "v"));
        exchange_end(&c, &r);
    }
    redd_http_field nameless = {REDD_SLICE(""), REDD_SLICE("v")};
    assert_int_equal(try_field(&b, &a, nameless, &c, &r), UV_EINVAL);
    exchange_end(&c, &r);
    bed_end(&b);
}

static void test_every_byte_in_a_value(void **state)
{
    (void)state;
    bed b;
    client c;
    reply r;
    answer a = {.status = 200};
    bed_begin(&b, respond, &a);
    for (unsigned ch = 0; ch < 256; ch++) {
        char value[] = {'x', (char)ch, 'y', '\0'};
        redd_http_field field = {REDD_SLICE("name"), redd_slice_of(value, 3)};
        bool control = (ch < 0x20 && ch != '\t') || ch == 0x7f;
        int rc = try_field(&b, &a, field, &c, &r);
        assert_int_equal(rc, control ? UV_EINVAL : 0);
        assert_int_equal(r.status, rc ? 500 : 200);
        if (rc == 0)
            assert_true(reply_field_is(&r, "name", value));
        exchange_end(&c, &r);
    }
    bed_end(&b);
}

static void test_fields_of_the_server(void **state)
{
    (void)state;
    static const redd_http_field taken[] = {
        {REDD_SLICE("Content-Length"), REDD_SLICE("5")},
        {REDD_SLICE("content-length"), REDD_SLICE("0")},
        {REDD_SLICE("Transfer-Encoding"), REDD_SLICE("chunked")},
        {REDD_SLICE("Connection"), REDD_SLICE("keep-alive")},
        {REDD_SLICE("Connection"), REDD_SLICE("upgrade")},
        {REDD_SLICE("Keep-Alive"), REDD_SLICE("timeout=5")},
    };
    bed b;
    client c;
    reply r;
    answer a = {.status = 200};
    bed_begin(&b, respond, &a);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        assert_int_equal(try_field(&b, &a, taken[i], &c, &r), UV_EINVAL);
        assert_int_equal(r.status, 500);
        exchange_end(&c, &r);
    }
    redd_http_field date = {REDD_SLICE("Date"), REDD_SLICE("mine")};
    assert_int_equal(try_field(&b, &a, date, &c, &r), 0);
    assert_true(reply_field_is(&r, "date", "mine"));
    exchange_end(&c, &r);
    redd_http_field empty = {REDD_SLICE("A"), {NULL, 0}};
    assert_int_equal(try_field(&b, &a, empty, &c, &r), 0);
    assert_true(reply_field_is(&r, "a", ""));
    exchange_end(&c, &r);
    bed_end(&b);
}

static void test_every_status(void **state)
{
    (void)state;
    static const unsigned bad[] = {0, 1, 99, 100, 101, 199, 600, 999, 1200, UINT32_MAX};
    bed b;
    client c;
    reply r;
    answer a = {.status = 200};
    bed_begin(&b, respond, &a);
    for (a.status = 200; a.status <= 599; a.status++) {
        exchange(&b, &c, HEAD_11, &r);
        assert_int_equal(a.rc, 0);
        assert_int_equal(r.status, a.status);
        exchange_end(&c, &r);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        a.status = bad[i];
        exchange(&b, &c, GET_11, &r);
        assert_int_equal(a.rc, UV_EINVAL);
        assert_int_equal(r.status, 500);
        exchange_end(&c, &r);
    }
    bed_end(&b);
}

static void test_fields_in_order(void **state)
{
    (void)state;
    static const redd_http_field fields[] = {{REDD_SLICE("Set-Cookie"), REDD_SLICE("a=1")},
                                             {REDD_SLICE("X"), REDD_SLICE("y")},
                                             {REDD_SLICE("Set-Cookie"), REDD_SLICE("b=2")}};
    bed b;
    client c;
    reply r;
    answer a = {.status = 200, .fields = fields, .n = 3};
    bed_begin(&b, respond, &a);
    exchange(&b, &c, GET_11, &r);
    assert_true(redd_slice_equal(reply_field_nth(&r, "set-cookie", 0), redd_slice_str("a=1")));
    assert_true(redd_slice_equal(reply_field_nth(&r, "set-cookie", 1), redd_slice_str("b=2")));
    assert_null(reply_field_nth(&r, "set-cookie", 2).data);
    exchange_end(&c, &r);
    bed_end(&b);
}

/* --- one answer only --- */

static void answer_twice(redd_http_request *req, void *user)
{
    const redd_slice nothing = {NULL, 0};
    (void)user;
    assert_int_equal(redd_http_write(req, redd_slice_str("x")), REDD_ESTATE);
    assert_int_equal(redd_http_finish(req), REDD_ESTATE);
    assert_int_equal(redd_http_respond_text(req, 200, "first"), 0);
    assert_int_equal(redd_http_respond_text(req, 200, "second"), REDD_ESTATE);
    assert_int_equal(redd_http_start(req, 200, NULL, 0, -1), REDD_ESTATE);
    assert_int_equal(redd_http_write(req, nothing), REDD_ESTATE);
    assert_int_equal(redd_http_finish(req), REDD_ESTATE);
}

static void test_one_answer_only(void **state)
{
    (void)state;
    bed b;
    client c;
    reply r;
    bed_begin(&b, answer_twice, NULL);
    exchange(&b, &c, GET_11, &r);
    assert_true(reply_body_is(&r, "first"));
    exchange_end(&c, &r);
    bed_end(&b);
}

/* --- large bodies --- */

static char pattern(size_t i)
{
    return (char)('a' + (i * 7 + i / 4096) % 26);
}

static void fill_pattern(bytes *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char ch = pattern(i);
        bytes_add(b, &ch, 1);
    }
}

/* The peer takes `gulp` bytes a turn. */
static void check_large(size_t size, size_t capacity, size_t gulp)
{
    bed b;
    client c;
    reply r;
    bytes body = {0};
    fill_pattern(&body, size);
    answer a = {.status = 200, .body = redd_slice_of(body.data, body.len)};
    bed_begin(&b, respond, &a);
    client_open_sized(&b, &c, capacity);
    client_put(&c, GET_11 GET_11, 2 * strlen(GET_11));
    for (int still = 0; still < 4; still++) {
        bed_turns(&b, 1);
        if (client_take(&c, gulp))
            still = 0;
        /* One response at a time waits, and no copy of it but what the peer is still owed. */
        assert_true(bed_memory(&b).bytes < size * 2 + 512 * 1024);
    }
    reply_begin(&r, &c);
    for (int i = 0; i < 2; i++) {
        assert_true(reply_next(&r));
        assert_true(bytes_are(&r.body, body.data, body.len));
    }
    assert_true(reply_at_end(&r));
    reply_end(&r);
    bytes_free(&body);
    client_close(&c);
    bed_end(&b);
}

static void test_large_bodies(void **state)
{
    (void)state;
    check_large(16 * 1024, CLIENT_CAPACITY, SIZE_MAX);
    check_large(16 * 1024 + 1, CLIENT_CAPACITY, SIZE_MAX);
    check_large(64 * 1024, 4096, 1000);
    check_large(100 * 1024, CLIENT_CAPACITY, SIZE_MAX);
    check_large(100 * 1024, 4096, 100);
    check_large(10 * 1024 * 1024, CLIENT_CAPACITY, 32 * 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_bodyless_statuses),
        cmocka_unit_test(test_fate_of_the_connection),
        cmocka_unit_test(test_linger),
        cmocka_unit_test(test_every_byte_in_a_name),
        cmocka_unit_test(test_every_byte_in_a_value),
        cmocka_unit_test(test_fields_of_the_server),
        cmocka_unit_test(test_every_status),
        cmocka_unit_test(test_fields_in_order),
        cmocka_unit_test(test_one_answer_only),
        cmocka_unit_test(test_large_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
