/* SPDX-License-Identifier: MIT */
/** Streamed responses: framing, backpressure, and what goes wrong half way. */
#include "tests/unit/http_must.h"

#define GET_11  "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
#define HEAD_11 "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n"
#define GET_10  "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"

/** A response of `total` bytes that is written as far as the connection takes it. */
typedef struct source {
    redd_http_request *req; /* a reference, from the start of the response */
    int64_t length;         /* what redd_http_start is told */
    size_t total, piece, written;
    unsigned drains, owed; /* drains that came, and that had to come */
    unsigned ends;
    bool owing;
    int end_status;
    int finished; /* what finish gave; 1: not called */
    bool ignore_full;
} source;

static char pattern(size_t i)
{
    return (char)('a' + (i * 11 + i / 1000) % 26);
}

static void owe(source *s)
{
    s->owed += !s->owing;
    s->owing = true;
}

static void pump(source *s)
{
    char piece[64 * 1024];
    while (s->written < s->total) {
        size_t n = s->total - s->written < s->piece ? s->total - s->written : s->piece;
        for (size_t i = 0; i < n; i++)
            piece[i] = pattern(s->written + i);
        int rc = redd_http_write(s->req, redd_slice_of(piece, n));
        if (rc == REDD_ELIMIT) {
            owe(s);
            return;
        }
        assert_true(rc == 0 || rc == REDD_HTTP_FULL);
        s->written += n;
        if (rc == REDD_HTTP_FULL)
            owe(s);
        if (rc == REDD_HTTP_FULL && !s->ignore_full && s->written < s->total)
            return;
    }
    s->finished = redd_http_finish(s->req);
}

static void on_drain(redd_http_request *req, void *user)
{
    source *s = user;
    assert_ptr_equal(req, s->req);
    s->drains++;
    s->owing = false;
    if (s->finished == 1)
        pump(s);
}

static void on_end(redd_http_request *req, int status, void *user)
{
    source *s = user;
    assert_ptr_equal(req, s->req);
    s->ends++;
    s->end_status = status;
    assert_int_equal(redd_http_write(req, redd_slice_str("x")), REDD_ECLOSED);
    assert_int_equal(redd_http_finish(req), REDD_ECLOSED);
    redd_http_request_unref(req);
}

static void stream(redd_http_request *req, void *user)
{
    source *s = user;
    s->req = redd_http_request_ref(req);
    s->finished = 1;
    s->written = 0;
    redd_http_on_drain(req, on_drain, s);
    redd_http_on_end(req, on_end, s);
    assert_int_equal(redd_http_start(req, 200, NULL, 0, s->length), 0);
    pump(s);
}

static void expect_pattern(const reply *r, size_t n)
{
    size_t same = 0;
    assert_int_equal(r->body.len, n);
    while (same < n && r->body.data[same] == pattern(same))
        same++;
    assert_int_equal(same, n);
}

/* --- framing --- */

static void test_chunked(void **state)
{
    (void)state;
    bed b;
    client c;
    reply r;
    source s = {.length = -1, .total = 1000, .piece = 300};
    bed_begin(&b, stream, &s);
    client_open(&b, &c);
    client_text(&c, GET_11);
    reply_begin(&r, &c);
    assert_true(reply_next(&r));
    assert_true(r.chunked);
    expect_pattern(&r, 1000);
    assert_int_equal(s.finished, 0);
    assert_int_equal(s.ends, 1);
    assert_int_equal(s.end_status, 0);
    assert_int_equal(c.meter.writes, 1);
    s = (source){.length = -1, .total = 5, .piece = 5};
    client_text(&c, GET_11);
    assert_true(reply_next(&r));
    expect_pattern(&r, 5);
    assert_true(reply_at_end(&r));
    reply_end(&r);
    client_close(&c);
    bed_end(&b);
}

static void test_declared(void **state)
{
    (void)state;
    bed b;
    client c;
    reply r;
    source s = {.length = 1000, .total = 1000, .piece = 300};
    bed_begin(&b, stream, &s);
    client_open(&b, &c);
    client_text(&c, GET_11);
    reply_begin(&r, &c);
    assert_true(reply_next(&r));
    assert_true(reply_field_is(&r, "content-length", "1000"));
    expect_pattern(&r, 1000);
    assert_true(reply_at_end(&r));
    assert_int_equal(s.finished, 0);
    assert_false(client_ended(&c));
    s = (source){.length = 0};
    client_text(&c, GET_11);
    assert_true(reply_next(&r));
    assert_true(reply_field_is(&r, "content-length", "0"));
    reply_end(&r);
    client_close(&c);
    bed_end(&b);
}

static void test_until_close(void **state)
{
    (void)state;
    bed b;
    client c;
    reply r;
    source s = {.length = -1, .total = 1000, .piece = 300};
    bed_begin(&b, stream, &s);
    client_open(&b, &c);
    client_text(&c, GET_10);
    assert_true(c.eof);
    reply_begin(&r, &c);
    assert_true(reply_next(&r));
    assert_true(r.until_end);
    expect_pattern(&r, 1000);
    reply_end(&r);
    client_close(&c);
    /* A declared length lets the connection go on, also in HTTP/1.0. */
    s = (source){.length = 10, .total = 10, .piece = 10};
    client_open(&b, &c);
    client_text(&c, GET_10);
    client_text(&c, GET_10);
    reply_begin(&r, &c);
    assert_true(reply_next(&r));
    assert_true(reply_field_is(&r, "connection", "keep-alive"));
    assert_true(reply_next(&r));
    assert_false(c.eof);
    reply_end(&r);
    client_close(&c);
    bed_end(&b);
}

static void test_to_head(void **state)
{
    (void)state;
    bed b;
    client c;
    reply r;
    source s = {.length = -1, .total = 100, .piece = 30};
    bed_begin(&b, stream, &s);
    client_open(&b, &c);
    client_text(&c, HEAD_11);
    reply_begin(&r, &c);
    assert_true(reply_next_to(&r, true));
    assert_true(reply_field_is(&r, "transfer-encoding", "chunked"));
    s = (source){.length = 100, .total = 100, .piece = 30};
    client_text(&c, HEAD_11);
    assert_true(reply_next_to(&r, true));
    assert_true(reply_field_is(&r, "content-length", "100"));
    client_text(&c, GET_11);
    assert_true(reply_next(&r));
    assert_true(reply_at_end(&r));
    reply_end(&r);
    client_close(&c);
    bed_end(&b);
}

/* --- backpressure --- */

typedef struct flow {
    size_t total, piece, gulp;
    uint64_t max_queued;
    bool ignore_full;
    bool declared;
} flow;

static void check_flow(flow f)
{
    bed b;
    client c;
    reply r;
    source s = {.length = f.declared ? (int64_t)f.total : -1,
                .total = f.total,
                .piece = f.piece,
                .ignore_full = f.ignore_full};
    bed_begin(&b, stream, &s);
    b.options.max_queued = f.max_queued;
    bed_serve_anew(&b, stream, &s);
    client_open_sized(&b, &c, 8 * 1024);
    uint64_t before = bed_memory(&b).bytes;
    client_put(&c, GET_11, strlen(GET_11));
    unsigned waits = 0;
    for (int still = 0; still < 4; still++) {
        bed_turns(&b, 1);
        if (client_take(&c, f.gulp))
            still = 0;
        assert_true(bed_memory(&b).bytes - before < 2 * (f.max_queued + f.piece) + 64 * 1024);
        waits += s.written < s.total;
    }
    assert_true(waits > 1);
    assert_int_equal(s.finished, 0);
    assert_int_equal(s.ends, 1);
    assert_int_equal(s.end_status, 0);
    assert_true(s.drains > 0);
    assert_int_equal(s.drains, s.owed);
    assert_true(s.drains < 3 * (f.total / f.piece) + 3); /* each one lets something pass */
    reply_begin(&r, &c);
    assert_true(reply_next(&r));
    expect_pattern(&r, f.total);
    reply_end(&r);
    client_close(&c);
    bed_end(&b);
}

/* FULL and ELIMIT are followed by exactly one drain. */
static void test_backpressure(void **state)
{
    (void)state;
    check_flow((flow){.total = 1 << 20, .piece = 1000, .gulp = 777, .max_queued = 64 << 10});
    check_flow((flow){.total = 1 << 20, .piece = 60000, .gulp = 8000, .max_queued = 64 << 10});
    check_flow((flow){.total = 10 << 20, .piece = 40000, .gulp = 8000, .max_queued = 256 << 10});
    check_flow((flow){
        .total = 1 << 20, .piece = 1000, .gulp = 777, .max_queued = 64 << 10, .ignore_full = true});
    check_flow((flow){
        .total = 1 << 20, .piece = 5000, .gulp = 8192, .max_queued = 16 << 10, .declared = true});
    check_flow((flow){.total = 1 << 20,
                      .piece = 40000,
                      .gulp = 5000,
                      .max_queued = 128 << 10,
                      .ignore_full = true,
                      .declared = true});
}

/* --- what goes wrong --- */

static void test_missing_bytes(void **state)
{
    (void)state;
    bed b;
    client c;
    source s = {.length = 1000, .total = 999, .piece = 999};
    bed_begin(&b, stream, &s);
    client_open(&b, &c);
    client_text(&c, GET_11);
    assert_int_equal(s.finished, UV_EINVAL);
    assert_true(c.reset);
    assert_int_equal(s.ends, 1);
    assert_int_equal(s.end_status, UV_ECANCELED);
    assert_int_equal(redd_http_server_connections(b.server), 0);
    client_close(&c);
    bed_end(&b);
}

static void write_too_much(redd_http_request *req, void *user)
{
    (void)user;
    assert_int_equal(redd_http_start(req, 200, NULL, 0, 5), 0);
    assert_int_equal(redd_http_write(req, redd_slice_str("123")), 0);
    assert_int_equal(redd_http_write(req, redd_slice_str("456")), UV_EINVAL);
    assert_int_equal(redd_http_write(req, redd_slice_str("45")), 0);
    assert_int_equal(redd_http_write(req, redd_slice_str("6")), UV_EINVAL);
    assert_int_equal(redd_http_write(req, redd_slice_str("")), 0);
    assert_int_equal(redd_http_finish(req), 0);
    assert_int_equal(redd_http_finish(req), REDD_ESTATE);
}

static void test_too_many_bytes(void **state)
{
    (void)state;
    bed b;
    client c;
    reply r;
    bed_begin(&b, write_too_much, NULL);
    client_open(&b, &c);
    client_text(&c, GET_11);
    reply_begin(&r, &c);
    assert_true(reply_next(&r));
    assert_true(reply_body_is(&r, "12345"));
    assert_true(reply_at_end(&r));
    reply_end(&r);
    client_close(&c);
    bed_end(&b);
}

/* Nothing that a piece of no bytes could do ends a chunked body. */
static void write_nothing(redd_http_request *req, void *user)
{
    (void)user;
    assert_int_equal(redd_http_start(req, 200, NULL, 0, -1), 0);
    assert_int_equal(redd_http_write(req, redd_slice_of(NULL, 0)), 0);
    assert_int_equal(redd_http_write(req, redd_slice_str("a")), 0);
    assert_int_equal(redd_http_write(req, redd_slice_of(NULL, 0)), 0);
    assert_int_equal(redd_http_write(req, redd_slice_str("b")), 0);
    assert_int_equal(redd_http_finish(req), 0);
}

static void test_empty_pieces(void **state)
{
    (void)state;
    bed b;
    client c;
    reply r;
    bed_begin(&b, write_nothing, NULL);
    client_open(&b, &c);
    client_text(&c, GET_11 GET_11);
    reply_begin(&r, &c);
    for (int i = 0; i < 2; i++) {
        assert_true(reply_next(&r));
        assert_true(reply_body_is(&r, "ab"));
    }
    assert_true(reply_at_end(&r));
    reply_end(&r);
    client_close(&c);
    bed_end(&b);
}

static void start_and_leave(redd_http_request *req, void *user)
{
    (void)user;
    assert_int_equal(redd_http_start(req, 200, NULL, 0, -1), 0);
    assert_int_equal(redd_http_write(req, redd_slice_str("half")), 0);
}

/* Nobody can end that response any more: the peer must see that it is not whole. */
static void test_left_half_way(void **state)
{
    (void)state;
    bed b;
    client c;
    bed_begin(&b, start_and_leave, NULL);
    client_open(&b, &c);
    client_text(&c, GET_11);
    assert_true(c.reset);
    assert_int_equal(b.warnings, 1);
    client_close(&c);
    bed_end(&b);
}

static void test_peer_goes(void **state)
{
    (void)state;
    for (int reset = 0; reset < 2; reset++) {
        bed b;
        client c;
        source s = {.length = -1, .total = 10 << 20, .piece = 10000};
        bed_begin(&b, stream, &s);
        client_open_sized(&b, &c, 8 * 1024);
        client_put(&c, GET_11, strlen(GET_11));
        bed_turns(&b, 4);
        assert_int_equal(s.ends, 0);
        (void)client_take(&c, 4096);
        client_go(&c, reset);
        assert_int_equal(s.ends, 1);
        assert_true(s.end_status == UV_ECONNRESET || s.end_status == UV_EPIPE);
        assert_int_equal(redd_http_server_connections(b.server), 0);
        client_close(&c);
        bed_end(&b);
    }
}

/* Two that stream at once share the worker's cork: a drain must come to each. */
static void test_two_at_once(void **state)
{
    (void)state;
    bed b;
    client c[2];
    reply r;
    source s[2] = {{.length = -1, .total = 2 << 20, .piece = 20000},
                   {.length = -1, .total = 2 << 20, .piece = 20000}};
    redd_http_server *servers[2];
    bed_begin(&b, stream, &s[0]);
    b.options.max_queued = 32 << 10;
    bed_serve_anew(&b, stream, &s[0]);
    servers[0] = b.server;
    assert_int_equal(redd_http_serve(b.w, NULL, &b.options, stream, &s[1], &servers[1]), 0);
    for (int i = 0; i < 2; i++) {
        b.server = servers[i];
        client_open_sized(&b, &c[i], 8 * 1024);
        client_put(&c[i], GET_11, strlen(GET_11));
    }
    b.server = servers[0];
    for (int still = 0; still < 4; still++) {
        bed_turns(&b, 1);
        if (client_take(&c[0], 3000) + client_take(&c[1], 5000))
            still = 0;
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(s[i].ends, 1);
        assert_int_equal(s[i].end_status, 0);
        reply_begin(&r, &c[i]);
        assert_true(reply_next(&r));
        expect_pattern(&r, 2 << 20);
        reply_end(&r);
        client_close(&c[i]);
    }
    redd_http_server_close(servers[1], REDD_STOP_GRACEFUL);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunked),        cmocka_unit_test(test_declared),
        cmocka_unit_test(test_until_close),    cmocka_unit_test(test_to_head),
        cmocka_unit_test(test_backpressure),   cmocka_unit_test(test_missing_bytes),
        cmocka_unit_test(test_too_many_bytes), cmocka_unit_test(test_empty_pieces),
        cmocka_unit_test(test_left_half_way),  cmocka_unit_test(test_peer_goes),
        cmocka_unit_test(test_two_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
