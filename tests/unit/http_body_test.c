/* SPDX-License-Identifier: MIT */
/** Request bodies that are read: on demand, in pieces or whole, within limits, when they are
 * expected. */
#include "tests/unit/http_must.h"

#define POST(fields) "POST / HTTP/1.1\r\nHost: h\r\n" fields "\r\n"
#define CHUNKED      POST("Transfer-Encoding: chunked\r\n")
#define EXPECT       "Expect: 100-continue\r\n"
#define GET          "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

/** What the handler does, and what it has seen. */
typedef struct reader {
    redd_http_request *req; /* a reference while it works */
    size_t max;             /* of read_all */
    bool by_pieces;
    bool on_demand; /* the test asks for each piece */
    unsigned requests, pieces, lasts, ends;
    int status; /* of the last read */
    int end_status;
    bytes body;
} reader;

static void finish(reader *r)
{
    assert_int_equal(redd_http_respond_text(r->req, 200, "read"), 0);
    redd_http_request_unref(r->req);
    r->req = NULL;
}

static void on_piece(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    reader *r = user;
    r->status = status;
    r->pieces++;
    r->lasts += last;
    assert_ptr_equal(req, r->req);
    if (status) {
        assert_int_equal(data.len, 0);
        redd_http_request_unref(r->req);
        r->req = NULL;
        return;
    }
    bytes_add(&r->body, data.data, data.len);
    if (last)
        finish(r);
    else if (!r->on_demand)
        assert_int_equal(redd_http_read(req, on_piece, r), 0);
}

static void on_end(redd_http_request *req, int status, void *user)
{
    reader *r = user;
    (void)req;
    r->ends++;
    r->end_status = status;
}

static void read_body(redd_http_request *req, void *user)
{
    reader *r = user;
    r->requests++;
    r->req = redd_http_request_ref(req);
    redd_http_on_end(req, on_end, r);
    if (r->by_pieces)
        assert_int_equal(redd_http_read(req, on_piece, r), 0);
    else
        assert_int_equal(redd_http_read_all(req, r->max, on_piece, r), 0);
    /* One read at a time, and none inside the call. */
    assert_int_equal(redd_http_read(req, on_piece, r), REDD_ESTATE);
    assert_int_equal(redd_http_read_all(req, 0, on_piece, r), REDD_ESTATE);
}

typedef struct setting {
    bed b;
    client c;
    reader r;
} setting;

static void setting_begin(setting *s, reader r)
{
    memset(s, 0, sizeof *s);
    s->r = r;
    bed_begin(&s->b, read_body, &s->r);
    client_open(&s->b, &s->c);
}

static void setting_end(setting *s)
{
    client_close(&s->c);
    assert_int_equal(redd_http_server_connections(s->b.server), 0);
    assert_null(s->r.req);
    bytes_free(&s->r.body);
    bed_end(&s->b);
}

static void expect_body(const setting *s, const char *text)
{
    assert_int_equal(s->r.status, 0);
    assert_int_equal(s->r.lasts, 1);
    assert_true(bytes_are(&s->r.body, text, strlen(text)));
}

/* --- in pieces --- */

static void test_pieces_by_length(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.by_pieces = true});
    client_text(&s.c, POST("Content-Length: 11\r\n") "hello");
    assert_int_equal(s.r.pieces, 1);
    client_text(&s.c, " wor");
    assert_int_equal(s.r.pieces, 2);
    assert_int_equal(s.r.lasts, 0);
    client_text(&s.c, "ld");
    assert_int_equal(s.r.pieces, 3);
    assert_int_equal(s.r.lasts, 1);
    assert_int_equal(s.r.ends, 1);
    client_text(&s.c, GET);
    assert_int_equal(s.r.pieces, 3 + 1);
    assert_int_equal(s.r.lasts, 2);
    assert_true(bytes_are(&s.r.body, "hello world", 11));
    assert_true(replies_are(&s.c, "200,200"));
    assert_int_equal(s.r.ends, 2);
    setting_end(&s);
}

static void test_pieces_by_chunks(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.by_pieces = true});
    client_text(&s.c, CHUNKED "5\r\nhello\r\n6\r\n wo");
    assert_int_equal(s.r.pieces, 2);
    client_text(&s.c, "rld\r\n");
    assert_int_equal(s.r.pieces, 3);
    assert_int_equal(s.r.lasts, 0);
    client_text(&s.c, "0\r\nTrailer: x\r\n\r\n");
    expect_body(&s, "hello world");
    assert_true(replies_are(&s.c, "200"));
    setting_end(&s);
}

static void test_no_body(void **state)
{
    (void)state;
    for (int by_pieces = 0; by_pieces < 2; by_pieces++) {
        setting s;
        setting_begin(&s, (reader){.by_pieces = by_pieces});
        client_text(&s.c, GET);
        assert_int_equal(s.r.pieces, 1);
        expect_body(&s, "");
        assert_true(replies_are(&s.c, "200"));
        setting_end(&s);
    }
}

static void after_last(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    (void)status;
    (void)data;
    assert_true(last);
    assert_int_equal(redd_http_read(req, after_last, user), REDD_ESTATE);
    assert_int_equal(redd_http_read_all(req, 0, after_last, user), REDD_ESTATE);
    assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
}

static void read_once(redd_http_request *req, void *user)
{
    assert_int_equal(redd_http_read(req, after_last, user), 0);
}

static void test_nothing_after_the_last(void **state)
{
    (void)state;
    bed b;
    client c;
    bed_begin(&b, read_once, NULL);
    client_open(&b, &c);
    client_text(&c, POST("Content-Length: 5\r\n") "hello" GET);
    assert_true(replies_are(&c, "200,200"));
    client_close(&c);
    bed_end(&b);
}

/** Nothing is taken from the peer while nobody asks. */
static void test_on_demand(void **state)
{
    (void)state;
    setting s;
    bytes big = {0};
    bytes_fill(&big, 'b', 200 * 1024);
    setting_begin(&s, (reader){.by_pieces = true, .on_demand = true});
    client_text(&s.c, POST("Content-Length: 204800\r\n"));
    assert_int_equal(client_put(&s.c, big.data, 1000), 1000);
    bed_settle(&s.b);
    assert_int_equal(s.r.body.len, 1000);
    uint64_t before = bed_memory(&s.b).bytes;
    size_t sent = 1000;
    for (int i = 0; i < 10; i++) {
        sent += client_put(&s.c, big.data, big.len - sent);
        bed_settle(&s.b);
    }
    assert_int_equal(s.r.body.len, 1000);
    assert_true(sent <= 1000 + CLIENT_CAPACITY);
    assert_int_equal(bed_memory(&s.b).bytes, before);
    /* Asked again and again, everything comes. */
    while (s.r.req) {
        unsigned pieces = s.r.pieces;
        assert_int_equal(redd_http_read(s.r.req, on_piece, &s.r), 0);
        assert_int_equal(s.r.pieces, pieces);
        bed_settle(&s.b);
        sent += client_put(&s.c, big.data, big.len - sent);
        bed_settle(&s.b);
        assert_int_equal(s.r.pieces, pieces + 1);
    }
    assert_true(bytes_are(&s.r.body, big.data, big.len));
    client_settle(&s.c);
    assert_true(replies_are(&s.c, "200"));
    bytes_free(&big);
    setting_end(&s);
}

/* --- whole --- */

static void test_whole_in_many_segments(void **state)
{
    (void)state;
    setting s;
    bytes big = {0};
    for (int i = 0; i < 100 * 1024; i++)
        bytes_fill(&big, (char)('a' + i % 26), 1);
    setting_begin(&s, (reader){.max = 0});
    client_text(&s.c, POST("Content-Length: 102400\r\n"));
    client_send_cut(&s.c, big.data, big.len, 777);
    assert_int_equal(s.r.pieces, 1);
    assert_true(bytes_are(&s.r.body, big.data, big.len));
    assert_true(replies_are(&s.c, "200"));
    bytes_free(&big);
    setting_end(&s);
}

/** Memory follows what has come, not what was announced. */
static void test_announced_is_not_allocated(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.max = 0});
    uint64_t before = bed_memory(&s.b).bytes;
    client_text(&s.c, POST("Content-Length: 100000000\r\n") "some");
    assert_true(bed_memory(&s.b).bytes - before < 64 * 1024);
    client_go(&s.c, false);
    assert_int_equal(s.r.status, UV_ECONNRESET);
    assert_int_equal(s.r.ends, 1);
    assert_int_equal(s.r.end_status, UV_ECONNRESET);
    setting_end(&s);
}

typedef struct frugal {
    bed b;
    uint64_t before; /* allocations, when the request came */
    unsigned reads;
} frugal;

static void nothing_allocated(redd_http_request *req, int status, redd_slice data, bool last,
                              void *user)
{
    frugal *f = user;
    assert_int_equal(status, 0);
    assert_true(last);
    assert_int_equal(data.len, 30000);
    assert_int_equal(bed_memory(&f->b).allocations, f->before);
    f->reads++;
    assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
}

static void read_frugally(redd_http_request *req, void *user)
{
    frugal *f = user;
    f->before = bed_memory(&f->b).allocations;
    assert_int_equal(redd_http_read_all(req, 0, nothing_allocated, f), 0);
}

/** What came at once is given from where it is. */
static void test_whole_at_once_is_not_copied(void **state)
{
    (void)state;
    frugal f = {.reads = 0};
    client c;
    bytes request = {0};
    bytes_text(&request, POST("Content-Length: 30000\r\n"));
    bytes_fill(&request, 'b', 30000);
    bed_begin(&f.b, read_frugally, &f);
    client_open(&f.b, &c);
    client_send(&c, request.data, request.len);
    assert_int_equal(f.reads, 1);
    assert_true(replies_are(&c, "200"));
    bytes_free(&request);
    client_close(&c);
    bed_end(&f.b);
}

/* --- limits --- */

static void expect_too_large(setting *s, const char *statuses)
{
    assert_true(replies_are(&s->c, statuses));
    assert_true(s->c.eof);
    assert_int_equal(s->r.pieces, s->r.requests);
    if (s->r.requests) {
        assert_int_equal(s->r.status, REDD_ELIMIT);
        assert_int_equal(s->r.ends, 1);
        assert_int_equal(s->r.end_status, REDD_ELIMIT);
    }
}

static void test_server_limit(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.max = 0});
    s.b.options.max_body = 100;
    bed_serve_anew(&s.b, read_body, &s.r);
    client_close(&s.c);
    client_open(&s.b, &s.c);
    client_text(&s.c, POST("Content-Length: 101\r\n") "x");
    assert_int_equal(s.r.requests, 1);
    expect_too_large(&s, "413");
    s.r = (reader){.body = s.r.body};
    client_close(&s.c);
    client_open(&s.b, &s.c);
    client_text(&s.c, CHUNKED "40\r\n");
    for (int i = 0; i < 64; i++)
        client_text(&s.c, "x");
    client_text(&s.c, "\r\n24\r\n");
    for (int i = 0; i < 36; i++)
        client_text(&s.c, "y");
    assert_true(replies_are(&s.c, ""));
    client_text(&s.c, "\r\n1\r\nz");
    expect_too_large(&s, "413");
    client_close(&s.c);
    client_open(&s.b, &s.c);
    client_text(&s.c, CHUNKED "0\r\n\r\n" POST("Content-Length: 0\r\n"));
    assert_true(replies_are(&s.c, "200,200"));
    setting_end(&s);
}

static void test_limit_of_a_read(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.max = 5});
    client_text(&s.c, POST("Content-Length: 5\r\n") "hello");
    expect_body(&s, "hello");
    s.r = (reader){.max = 5, .body = s.r.body};
    bytes_clear(&s.c.got);
    client_text(&s.c, CHUNKED "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n" GET);
    expect_too_large(&s, "413");
    setting_end(&s);
}

/** A length that is announced is judged before a byte of it, and before 100 Continue. */
static void test_limit_of_a_read_at_the_head(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.max = 5});
    client_text(&s.c, POST("Content-Length: 6\r\n" EXPECT));
    expect_too_large(&s, "413");
    setting_end(&s);
}

/* --- a body that is bad, or does not come --- */

static void test_bad_body(void **state)
{
    (void)state;
    for (int by_pieces = 0; by_pieces < 2; by_pieces++) {
        setting s;
        setting_begin(&s, (reader){.by_pieces = by_pieces});
        client_text(&s.c, CHUNKED "5\r\nhello\r\n");
        client_text(&s.c, "nonsense");
        assert_int_equal(s.r.status, REDD_EMALFORMED);
        assert_int_equal(s.r.ends, 1);
        assert_int_equal(s.r.end_status, REDD_EMALFORMED);
        assert_true(replies_are(&s.c, "400"));
        assert_true(s.c.eof);
        setting_end(&s);
    }
}

static void test_half_closed_in_the_body(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.by_pieces = true});
    client_text(&s.c, POST("Content-Length: 11\r\n") "hello");
    client_finish(&s.c);
    assert_int_equal(s.r.status, UV_ECONNRESET);
    assert_int_equal(s.r.ends, 1);
    assert_int_equal(s.r.end_status, UV_ECONNRESET);
    assert_int_equal(s.c.got.len, 0);
    assert_true(client_ended(&s.c));
    setting_end(&s);
}

/* --- Expect: 100-continue --- */

static void test_continue_when_asked(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.max = 0});
    client_text(&s.c, POST("Content-Length: 5\r\n" EXPECT));
    assert_true(replies_are(&s.c, "100"));
    client_text(&s.c, "hello");
    assert_true(replies_are(&s.c, "100,200"));
    expect_body(&s, "hello");
    setting_end(&s);
}

static void test_no_continue_when_it_came(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.max = 0});
    client_text(&s.c, POST("Content-Length: 5\r\n" EXPECT) "he");
    client_text(&s.c, "llo");
    assert_true(replies_are(&s.c, "200"));
    expect_body(&s, "hello");
    setting_end(&s);
}

static void later(redd_http_request *req, void *user)
{
    reader *r = user;
    r->req = redd_http_request_ref(req);
}

static void test_no_continue_before_asked(void **state)
{
    (void)state;
    bed b;
    client c;
    reader r = {.by_pieces = true};
    bed_begin(&b, later, &r);
    client_open(&b, &c);
    client_text(&c, POST("Transfer-Encoding: chunked\r\n" EXPECT));
    assert_int_equal(c.got.len, 0);
    assert_int_equal(redd_http_read(r.req, on_piece, &r), 0);
    client_settle(&c);
    assert_true(replies_are(&c, "100"));
    client_text(&c, "3\r\nabc\r\n0\r\n\r\n");
    assert_true(replies_are(&c, "100,200"));
    assert_true(bytes_are(&r.body, "abc", 3));
    bytes_free(&r.body);
    client_close(&c);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_by_length),
        cmocka_unit_test(test_pieces_by_chunks),
        cmocka_unit_test(test_no_body),
        cmocka_unit_test(test_nothing_after_the_last),
        cmocka_unit_test(test_on_demand),
        cmocka_unit_test(test_whole_in_many_segments),
        cmocka_unit_test(test_whole_at_once_is_not_copied),
        cmocka_unit_test(test_announced_is_not_allocated),
        cmocka_unit_test(test_server_limit),
        cmocka_unit_test(test_limit_of_a_read),
        cmocka_unit_test(test_limit_of_a_read_at_the_head),
        cmocka_unit_test(test_bad_body),
        cmocka_unit_test(test_half_closed_in_the_body),
        cmocka_unit_test(test_continue_when_asked),
        cmocka_unit_test(test_no_continue_when_it_came),
        cmocka_unit_test(test_no_continue_before_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
