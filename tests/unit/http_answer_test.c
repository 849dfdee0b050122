/* SPDX-License-Identifier: MIT */
/** What a handler can do besides a whole or a streamed response: interim responses, trailers,
 * files, cutting it off, tunnels; and what is known of a request at its end. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_stage.h"

static const redd_http_field link_field = {REDD_SLICE("Link"), REDD_SLICE("</a.css>")};

/* --- interim responses --- */

static void inform(redd_http_request *req, void *user)
{
    stage *s = user;
    static const redd_http_field bad[] = {{REDD_SLICE("Connection"), REDD_SLICE("close")},
                                          {REDD_SLICE("Content-Length"), REDD_SLICE("1")}};
    assert_int_equal(redd_http_inform(req, 101, NULL, 0), UV_EINVAL);
    assert_int_equal(redd_http_inform(req, 200, NULL, 0), UV_EINVAL);
    assert_int_equal(redd_http_inform(req, 103, &bad[0], 1), UV_EINVAL);
    assert_int_equal(redd_http_inform(req, 103, &bad[1], 1), UV_EINVAL);
    assert_int_equal(redd_http_inform(req, 102, NULL, 0), 0);
    s->rc = redd_http_inform(req, 103, &link_field, 1);
    assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
    assert_int_equal(redd_http_inform(req, 103, NULL, 0), REDD_ESTATE);
}

static void test_interim(void **state)
{
    (void)state;
    stage s;
    reply r;
    begin(&s, inform);
    client_text(&s.c, GET);
    assert_int_equal(s.rc, 0);
    static const char head[] = "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n"
                               "Link: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\n";
    assert_memory_equal(s.c.got.data, head, sizeof head - 1);
    assert_int_equal(s.c.meter.writes, 1);
    reply_begin(&r, &s.c);
    assert_true(reply_next(&r) && r.status == 102);
    assert_true(reply_next(&r) && r.status == 103);
    assert_true(reply_next(&r) && r.status == 200);
    assert_true(reply_at_end(&r));
    reply_end(&r);
    bytes_clear(&s.c.got);
    client_text(&s.c, "GET / HTTP/1.0\r\n\r\n");
    assert_memory_equal(s.c.got.data, "HTTP/1.1 200", 12);
    assert_int_equal(s.rc, 0);
    finish(&s);
}

/* --- trailers --- */

static void with_trailers(redd_http_request *req, void *user)
{
    stage *s = user;
    static const redd_http_field good = {REDD_SLICE("X-Sum"), REDD_SLICE("abc")};
    static const char *const names[] = {"Content-Length",
                                        "Transfer-Encoding",
                                        "Host",
                                        "Trailer",
                                        "Set-Cookie",
                                        "Content-Type",
                                        "Date",
                                        "a b",
                                        ""};
    assert_int_equal(redd_http_finish_with(req, &good, 1), REDD_ESTATE);
    assert_int_equal(redd_http_start(req, 200, NULL, 0, (int64_t)s->off - 1), 0);
    assert_int_equal(redd_http_write(req, redd_slice_str("body")), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        redd_http_field bad = {redd_slice_str(names[i]), redd_slice_str("1")};
        assert_int_equal(redd_http_finish_with(req, &bad, 1), UV_EINVAL);
    }
    redd_http_field bad = {redd_slice_str("X"), redd_slice_str("1\r\nY: 2")};
    assert_int_equal(redd_http_finish_with(req, &bad, 1), UV_EINVAL);
    s->rc = redd_http_finish_with(req, &good, 1);
}

static void test_trailers(void **state)
{
    (void)state;
    stage s;
    begin(&s, with_trailers);
    client_text(&s.c, GET);
    assert_int_equal(s.rc, 0);
    static const char end[] = "\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: abc\r\n\r\n";
    assert_true(s.c.got.len > sizeof end);
    assert_string_equal(s.c.got.data + s.c.got.len - (sizeof end - 1), end);
    bytes_clear(&s.c.got);
    s.off = 5; /* a declared length: nowhere to put them */
    client_text(&s.c, GET);
    assert_int_equal(s.rc, 0);
    assert_string_equal(s.c.got.data + s.c.got.len - 8, "\r\n\r\nbody");
    finish(&s);
}

/* --- cutting it off --- */

static void cut(redd_http_request *req, void *user)
{
    stage *s = user;
    if (s->off)
        assert_int_equal(redd_http_start(req, 200, NULL, 0, -1), 0);
    if (s->off)
        assert_int_equal(redd_http_write(req, redd_slice_str("half")), 0);
    assert_int_equal(redd_http_abort(req), 0);
    assert_int_equal(redd_http_abort(req), REDD_ECLOSED);
    assert_int_equal(redd_http_respond_text(req, 200, "late"), REDD_ECLOSED);
    assert_int_equal(redd_http_inform(req, 103, NULL, 0), REDD_ECLOSED);
    assert_int_equal(redd_http_write_file(req, 0, 0, 1), REDD_ECLOSED);
    assert_int_equal(redd_http_finish(req), REDD_ECLOSED);
    redd_future *future;
    assert_int_equal(redd_http_end_future(req, &future), REDD_ECLOSED);
    assert_int_equal(redd_http_drain_future(req, &future), REDD_ECLOSED);
    assert_int_equal(redd_http_read_future(req, &future), REDD_ECLOSED);
}

static void test_abort(void **state)
{
    (void)state;
    for (uint64_t started = 0; started < 2; started++) {
        stage s;
        begin(&s, cut);
        s.off = started;
        client_text(&s.c, GET);
        assert_true(s.c.reset);
        assert_int_equal(s.ends, 1);
        assert_int_equal(s.end_status, UV_ECANCELED);
        assert_int_equal(s.exchanges, 1);
        finish(&s);
    }
}

/* --- ends of a pipelined batch --- */

static void answer(redd_http_request *req, void *user)
{
    (void)user;
    assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
}

static void test_batch_leaves_in_one_write(void **state)
{
    (void)state;
    enum { N = 40 };
    stage s;
    bytes batch = {0};
    begin(&s, answer);
    for (int i = 0; i < N; i++)
        bytes_text(&batch, GET);
    client_put(&s.c, batch.data, batch.len);
    bed_settle(&s.b);
    assert_int_equal(s.ends, N);
    assert_int_equal(s.end_status, 0);
    assert_int_equal(s.exchanges, N);
    assert_int_equal(s.c.meter.writes, 1);
    bytes_free(&batch);
    finish(&s);
}

/* More than may wait: told in between, none is lost. */
static void test_long_batch(void **state)
{
    (void)state;
    enum { N = 1000 };
    stage s;
    bytes batch = {0};
    begin(&s, answer);
    for (int i = 0; i < N; i++)
        bytes_text(&batch, GET);
    client_send(&s.c, batch.data, batch.len);
    assert_int_equal(s.ends, N);
    assert_int_equal(s.end_status, 0);
    bytes_free(&batch);
    finish(&s);
}

static void test_batch_is_lost(void **state)
{
    (void)state;
    stage s;
    begin(&s, answer);
    client_close(&s.c);
    client_open_sized(&s.b, &s.c, 300); /* takes one response and a half */
    client_put(&s.c, GET GET GET GET, strlen(GET GET GET GET));
    bed_settle(&s.b);
    assert_int_equal(s.ends, 0);
    client_go(&s.c, true);
    assert_int_equal(s.ends, 4);
    assert_int_equal(s.end_status, UV_ECONNRESET);
    finish(&s);
}

static redd_http_request *second;

static void on_end_abort(redd_http_request *req, int status, void *user)
{
    stage *s = user;
    on_end(req, status, s);
    assert_int_equal(redd_http_abort(second), 0);
    redd_http_request_unref(second);
}

/* The second's large body takes both responses along, and so the first one's end is told while the
 * second is about to end. */
static void answer_two(redd_http_request *req, void *user)
{
    static const char large[40000];
    stage *s = user;
    if (s->off++ == 0) {
        redd_http_on_end(req, on_end_abort, s);
        assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
        return;
    }
    second = redd_http_request_ref(req);
    assert_int_equal(redd_http_respond(req, 200, NULL, 0, redd_slice_of(large, sizeof large)), 0);
}

static void test_end_aborts_the_next(void **state)
{
    (void)state;
    stage s;
    begin(&s, answer_two);
    client_put(&s.c, GET GET, strlen(GET GET));
    bed_settle(&s.b);
    assert_int_equal(s.ends, 2);
    assert_int_equal(s.exchanges, 2);
    assert_int_equal(s.end_status, UV_ECANCELED);
    finish(&s);
}

/* A piece is taken whatever its size while nothing waits, the head apart. */
static void large_first_piece(redd_http_request *req, void *user)
{
    stage *s = user;
    char *piece = calloc(1, 200000);
    assert_non_null(piece);
    assert_int_equal(redd_http_start(req, 200, NULL, 0, -1), 0);
    s->rc = redd_http_write(req, redd_slice_of(piece, 200000));
    assert_int_equal(redd_http_finish(req), 0);
    free(piece);
}

static void test_large_first_piece(void **state)
{
    (void)state;
    stage s;
    begin(&s, large_first_piece);
    s.b.options.max_queued = 64 << 10;
    client_close(&s.c);
    bed_serve_anew(&s.b, on_request, &s);
    client_open(&s.b, &s.c);
    client_text(&s.c, GET);
    assert_true(s.rc == 0 || s.rc == REDD_HTTP_FULL);
    assert_true(s.c.got.len > 200000);
    finish(&s);
}

static redd_http_request *kept;

static void keep_it(redd_http_request *req, int status, void *user)
{
    (void)status;
    (void)user;
    if (!kept)
        kept = redd_http_request_ref(req);
}

/* A reference that is taken at the very end still finds its own head. */
static void test_kept_at_the_end(void **state)
{
    (void)state;
    stage s;
    kept = NULL;
    begin(&s, answer);
    redd_http_server_on_exchange(s.b.server, keep_it, NULL);
    client_text(&s.c, "GET /first HTTP/1.1\r\nHost: h\r\n\r\n");
    client_text(&s.c, "GET /other HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_true(redd_slice_equal(redd_http_target(kept), redd_slice_str("/first")));
    redd_http_request_unref(kept);
    finish(&s);
}

/* --- what is known at the end --- */

static void test_exchange(void **state)
{
    (void)state;
    stage s;
    begin(&s, answer);
    client_text(&s.c, "GET /x HT");
    client_wait(&s.c, 40);
    client_text(&s.c, "TP/1.1\r\nHost: h\r\n\r\n");
    assert_int_equal(s.exchanges, 1);
    assert_int_equal(s.exchange_status, 0);
    assert_int_equal(s.status, 200);
    assert_int_equal(s.sent, 2);
    assert_int_equal(s.received, 0);
    assert_int_equal(s.ms, 40);
    assert_string_equal(s.line.data, "GET /xHost");
    finish(&s);
}

typedef struct refusal {
    const char *request;
    unsigned status;
    int end;
    const char *line;
} refusal;

static void test_refused(void **state)
{
    (void)state;
    static const refusal rows[] = {
        {"GET /a HTTP/1.1\r\n\r\n", 400, REDD_EMALFORMED, "GET /a"},
        {"GET /a HTTP/1.1\r\nHost: h\r\nA b: c\r\n\r\n", 400, REDD_EMALFORMED, "GET /a"},
        {"\x01", 400, REDD_EMALFORMED, " "},
        {"BREW /pot HTTP/1.1\r\n\r\n", 501, REDD_EMALFORMED, " "},
        {"GET /a HTTP/1.1\r\nHost: h\r\nExpect: x\r\n\r\n", 417, REDD_EMALFORMED,
         "GET /aHostExpect"},
        {"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 18446744073709551615\r\n\r\n", 413,
         REDD_ELIMIT, "POST /aHostContent-Length"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        stage s;
        begin(&s, answer);
        client_text(&s.c, rows[i].request);
        assert_int_equal(s.exchanges, 1);
        assert_int_equal(s.status, rows[i].status);
        assert_int_equal(s.exchange_status, rows[i].end);
        assert_memory_equal(s.line.data, rows[i].line, strlen(rows[i].line));
        assert_int_equal(s.ends, 0);
        finish(&s);
    }
}

static void test_refused_in_time(void **state)
{
    (void)state;
    stage s;
    begin(&s, answer);
    client_text(&s.c, "GET /slow HTTP/1.1\r\nHo");
    client_wait(&s.c, s.b.options.head_timeout_ms);
    assert_int_equal(s.exchanges, 1);
    assert_int_equal(s.status, 408);
    assert_int_equal(s.exchange_status, UV_ETIMEDOUT);
    assert_memory_equal(s.line.data, "GET /slow", 9);
    finish(&s);
}

/* --- data of the handler's own --- */

static void keep_data(redd_http_request *req, void *user)
{
    assert_null(redd_http_data(req));
    redd_http_set_data(req, user);
    assert_ptr_equal(redd_http_data(req), user);
    assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
}

static void test_data(void **state)
{
    (void)state;
    stage s;
    begin(&s, keep_data);
    client_text(&s.c, GET GET);
    assert_int_equal(s.ends, 2);
    finish(&s);
}

/* --- tunnels --- */

static void tunnel(redd_http_request *req, void *user)
{
    stage *s = user;
    redd_http_upgraded up;
    assert_true(redd_slice_equal(redd_http_host(req), redd_slice_str("db:5432")));
    s->rc = redd_http_tunnel(req, &link_field, 1, &up);
    if (s->rc)
        return;
    assert_int_equal(up.leftover.len, 5);
    assert_int_equal(redd_output_write(&up.output, up.leftover), 0);
    assert_int_equal(redd_output_flush(&up.output), 0);
    redd_output_fini(&up.output);
    redd_stream_close(up.stream, false);
}

static void test_tunnel(void **state)
{
    (void)state;
    stage s;
    begin(&s, tunnel);
    s.b.options.connect = 1;
    client_close(&s.c);
    bed_serve_anew(&s.b, on_request, &s);
    client_open(&s.b, &s.c);
    client_text(&s.c, "CONNECT db:5432 HTTP/1.1\r\nHost: db:5432\r\n\r\nhello");
    assert_int_equal(s.rc, 0);
    assert_string_equal(s.c.got.data, "HTTP/1.1 200 OK\r\nLink: </a.css>\r\n\r\nhello");
    assert_int_equal(s.ends, 1);
    assert_int_equal(s.end_status, 0);
    finish(&s);
}

static void not_a_tunnel(redd_http_request *req, void *user)
{
    redd_http_upgraded up;
    ((stage *)user)->rc = redd_http_tunnel(req, NULL, 0, &up);
    assert_int_equal(redd_http_respond_text(req, 403, "no"), 0);
}

static void test_no_tunnel(void **state)
{
    (void)state;
    stage s;
    begin(&s, not_a_tunnel);
    client_text(&s.c, GET);
    assert_int_equal(s.rc, UV_EINVAL);
    assert_false(s.c.eof);
    client_text(&s.c, "CONNECT db:5432 HTTP/1.1\r\nHost: db:5432\r\n\r\nGET /hidden");
    assert_true(s.c.eof);
    assert_int_equal(s.ends, 1); /* the server itself has refused the CONNECT */
    assert_int_equal(s.status, 501);
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interim),
        cmocka_unit_test(test_trailers),
        cmocka_unit_test(test_abort),
        cmocka_unit_test(test_batch_leaves_in_one_write),
        cmocka_unit_test(test_long_batch),
        cmocka_unit_test(test_batch_is_lost),
        cmocka_unit_test(test_end_aborts_the_next),
        cmocka_unit_test(test_large_first_piece),
        cmocka_unit_test(test_kept_at_the_end),
        cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_in_time),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_tunnel),
        cmocka_unit_test(test_no_tunnel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
