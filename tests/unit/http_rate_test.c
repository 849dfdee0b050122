/* SPDX-License-Identifier: MIT */
/** The rate at which a body must come, by the virtual clock: bytes over the time that they were
 * waited for, from its fifth second on. */
#include "tests/unit/http_must.h"

#define HEAD(fields) "POST / HTTP/1.1\r\nHost: h\r\n" fields "\r\n"
#define CHUNKED      HEAD("Transfer-Encoding: chunked\r\n")

enum { RATE = 100 };

/** A handler that reads the body, and what it has seen. */
typedef struct reader {
    bool on_demand; /* piece by piece, when the test asks */
    bool early;     /* begins its response first */
    redd_http_request *req;
    unsigned reads, ends;
    int status, end_status;
} reader;

static void on_body(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    reader *r = user;
    (void)data;
    r->reads++;
    r->status = status;
    if (status || !last)
        return;
    assert_int_equal(r->early ? redd_http_finish(req) : redd_http_respond_text(req, 200, "ok"), 0);
}

static void on_end(redd_http_request *req, int status, void *user)
{
    reader *r = user;
    r->ends++;
    r->end_status = status;
    if (r->req)
        redd_http_request_unref(req);
    r->req = NULL;
}

static void on_request(redd_http_request *req, void *user)
{
    reader *r = user;
    redd_http_on_end(req, on_end, r);
    if (r->early)
        assert_int_equal(redd_http_start(req, 200, NULL, 0, -1), 0);
    if (r->on_demand)
        r->req = redd_http_request_ref(req);
    else
        assert_int_equal(redd_http_read_all(req, 0, on_body, r), 0);
}

typedef struct setting {
    bed b;
    client c;
    reader r;
} setting;

static void setting_begin(setting *s, reader r, const char *head)
{
    memset(s, 0, sizeof *s);
    s->r = r;
    bed_begin(&s->b, on_request, &s->r);
    s->b.options.min_body_rate = RATE;
    bed_serve_anew(&s->b, on_request, &s->r);
    client_open(&s->b, &s->c);
    client_text(&s->c, head);
}

static void setting_end(setting *s)
{
    client_close(&s->c);
    assert_int_equal(s->r.ends, 1);
    bed_end(&s->b);
}

/** Nothing has been judged yet. */
static void expect_open(const setting *s)
{
    assert_false(client_ended(&s->c));
    assert_int_equal(s->c.got.len, 0);
    assert_int_equal(s->r.ends, 0);
}

static void expect_408(const setting *s)
{
    assert_true(replies_are(&s->c, "408"));
    assert_true(s->c.eof);
    assert_int_equal(s->r.reads, 1);
    assert_int_equal(s->r.status, UV_ETIMEDOUT);
    assert_int_equal(s->r.end_status, UV_ETIMEDOUT);
}

/** Sends `n` bytes each second, `seconds` times. */
static void trickle(setting *s, size_t n, int seconds)
{
    bytes piece = {0};
    bytes_fill(&piece, 'x', n);
    while (seconds-- > 0) {
        client_send(&s->c, piece.data, piece.len);
        client_wait(&s->c, 1000);
    }
    bytes_free(&piece);
}

static void test_nothing_comes(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.on_demand = false}, HEAD("Content-Length: 5000\r\n"));
    client_wait(&s.c, 4999);
    expect_open(&s);
    client_wait(&s.c, 1);
    expect_408(&s);
    setting_end(&s);
}

/** However often something comes. */
static void test_drips(void **state)
{
    (void)state;
    for (int chunked = 0; chunked < 2; chunked++) {
        setting s;
        setting_begin(&s, (reader){.on_demand = false},
                      chunked ? CHUNKED "ffff\r\n" : HEAD("Content-Length: 5000\r\n"));
        for (int i = 0; i < 49; i++) {
            client_wait(&s.c, 100);
            client_text(&s.c, "x");
            expect_open(&s);
        }
        client_wait(&s.c, 100);
        expect_408(&s);
        setting_end(&s);
    }
}

/** Also when it comes in the very moment of the judgement. */
static void test_drips_at_the_deadline(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.on_demand = false}, HEAD("Content-Length: 5000\r\n"));
    client_wait(&s.c, 4000);
    assert_int_equal(client_put(&s.c, "x", 1), 1);
    client_wait(&s.c, 1000);
    expect_408(&s);
    setting_end(&s);
}

/** And when something comes at every turn from then on. */
static void test_drips_on_and_on(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.on_demand = false}, HEAD("Content-Length: 5000\r\n"));
    redd_clock_advance(s.b.clock, 5000);
    for (int i = 0; i < 20; i++) {
        (void)client_put(&s.c, "x", 1);
        bed_turns(&s.b, 1);
    }
    (void)client_take(&s.c, SIZE_MAX);
    expect_408(&s);
    setting_end(&s);
}

/** Enough of it is. */
static void test_saved_at_the_deadline(void **state)
{
    (void)state;
    setting s;
    bytes some = {0};
    bytes_fill(&some, 'x', 5 * RATE);
    setting_begin(&s, (reader){.on_demand = false}, HEAD("Content-Length: 5000\r\n"));
    client_wait(&s.c, 4000);
    assert_int_equal(client_put(&s.c, some.data, some.len), some.len);
    client_wait(&s.c, 1000);
    expect_open(&s);
    client_wait(&s.c, 1);
    expect_408(&s);
    bytes_free(&some);
    setting_end(&s);
}

static void test_at_the_rate(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.on_demand = false}, HEAD("Content-Length: 20000\r\n"));
    trickle(&s, RATE, 199);
    expect_open(&s);
    trickle(&s, RATE, 1);
    assert_true(replies_are(&s.c, "200"));
    setting_end(&s);
}

static void test_below_the_rate(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.on_demand = false}, HEAD("Content-Length: 20000\r\n"));
    trickle(&s, RATE - 1, 5);
    expect_408(&s);
    setting_end(&s);
}

/** The rate is that of all that has come: who was fast has time for more. */
static void test_fast_then_slow(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.on_demand = false}, HEAD("Content-Length: 20000\r\n"));
    trickle(&s, 20 * RATE, 1);
    trickle(&s, 1, 18);
    expect_open(&s);
    client_wait(&s.c, 1000 + 180);
    expect_open(&s);
    client_wait(&s.c, 1);
    expect_408(&s);
    setting_end(&s);
}

/** The pause of a peer is bounded all the same. */
static void test_fast_then_silent(void **state)
{
    (void)state;
    setting s;
    bytes much = {0};
    bytes_fill(&much, 'x', 10000);
    setting_begin(&s, (reader){.on_demand = false}, HEAD("Content-Length: 20000\r\n"));
    client_send(&s.c, much.data, much.len);
    client_wait(&s.c, 29999);
    expect_open(&s);
    client_wait(&s.c, 1);
    expect_408(&s);
    bytes_free(&much);
    setting_end(&s);
}

static void ask(setting *s)
{
    assert_int_equal(redd_http_read(s->r.req, on_body, &s->r), 0);
    client_settle(&s->c);
}

/** A handler that takes its time is none of the peer's doing. */
static void test_pauses_of_the_handler(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.on_demand = true}, HEAD("Content-Length: 20000\r\n"));
    for (unsigned i = 1; i <= 100; i++) {
        client_wait(&s.c, 3600 * 1000);
        ask(&s);
        client_text(&s.c, "x");
        assert_int_equal(s.r.reads, i);
    }
    /* Before a piece was there: 4 seconds in all. */
    for (unsigned i = 101; i <= 104; i++) {
        ask(&s);
        client_wait(&s.c, 1000);
        client_text(&s.c, "x");
        assert_int_equal(s.r.reads, i);
        client_wait(&s.c, 3600 * 1000);
    }
    ask(&s);
    client_wait(&s.c, 999);
    expect_open(&s);
    client_wait(&s.c, 1);
    assert_true(replies_are(&s.c, "408"));
    assert_int_equal(s.r.end_status, UV_ETIMEDOUT);
    setting_end(&s);
}

/** A response that has begun can only be cut. */
static void test_slow_behind_a_begun_response(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.early = true}, HEAD("Content-Length: 20000\r\n"));
    trickle(&s, RATE - 1, 5);
    assert_true(s.c.reset);
    assert_int_equal(s.r.status, UV_ETIMEDOUT);
    assert_int_equal(s.r.end_status, UV_ETIMEDOUT);
    setting_end(&s);
}

/** Each request begins anew. */
static void test_next_request(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.on_demand = false}, HEAD("Content-Length: 400\r\n"));
    client_wait(&s.c, 3000);
    trickle(&s, 4 * RATE, 1);
    assert_true(replies_are(&s.c, "200"));
    s.r = (reader){.on_demand = false};
    bytes_clear(&s.c.got);
    client_text(&s.c, HEAD("Content-Length: 400\r\n"));
    client_wait(&s.c, 4999);
    expect_open(&s);
    client_wait(&s.c, 1);
    expect_408(&s);
    setting_end(&s);
}

/** The rest of a body that nobody reads. */
static void test_dropped_body(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (reader){.on_demand = true}, HEAD("Content-Length: 5000\r\n"));
    assert_int_equal(redd_http_respond_text(s.r.req, 200, "early"), 0);
    client_settle(&s.c);
    assert_true(replies_are(&s.c, "200"));
    client_wait(&s.c, 4999);
    assert_false(client_ended(&s.c));
    client_wait(&s.c, 1);
    assert_true(s.c.reset);
    assert_int_equal(s.r.end_status, UV_ETIMEDOUT);
    setting_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_comes),
        cmocka_unit_test(test_drips),
        cmocka_unit_test(test_drips_at_the_deadline),
        cmocka_unit_test(test_drips_on_and_on),
        cmocka_unit_test(test_saved_at_the_deadline),
        cmocka_unit_test(test_at_the_rate),
        cmocka_unit_test(test_below_the_rate),
        cmocka_unit_test(test_fast_then_slow),
        cmocka_unit_test(test_fast_then_silent),
        cmocka_unit_test(test_pauses_of_the_handler),
        cmocka_unit_test(test_slow_behind_a_begun_response),
        cmocka_unit_test(test_next_request),
        cmocka_unit_test(test_dropped_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
