/* SPDX-License-Identifier: MIT */
/** What a handler can do besides a whole or a streamed response: interim responses, trailers,
 * files, cutting it off, tunnels; and what is known of a request at its end. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_reply.h"

#include <stdio.h>
#include <unistd.h>

#define GET  "GET /a?b HTTP/1.1\r\nHost: h\r\n\r\n"
#define HEAD "HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n"

typedef struct stage {
    bed b;
    client c;
    redd_http_handler_fn handler;
    void (*more)(struct stage *s); /* on drain */
    redd_http_request *req;
    int rc, end_status;
    unsigned ends, drains;
    int fd;
    uint64_t off, left;
    /* of the last exchange */
    unsigned exchanges, status;
    int exchange_status;
    uint64_t sent, received, ms;
    bytes line;
} stage;

static void on_end(redd_http_request *req, int status, void *user)
{
    stage *s = user;
    (void)req;
    s->ends++;
    s->end_status = status;
}

static void on_exchange(redd_http_request *req, int status, void *user)
{
    stage *s = user;
    s->exchanges++;
    s->exchange_status = status;
    s->status = redd_http_status(req);
    s->sent = redd_http_bytes_sent(req);
    s->received = redd_http_bytes_received(req);
    s->ms = redd_http_duration_ms(req);
    bytes_clear(&s->line);
    redd_slice method = redd_http_method(req), target = redd_http_target(req);
    bytes_add(&s->line, method.data, method.len);
    bytes_add(&s->line, " ", 1);
    bytes_add(&s->line, target.data, target.len);
    for (size_t i = 0; i < redd_http_field_count(req); i++) {
        redd_http_field f = redd_http_field_at(req, i);
        bytes_add(&s->line, f.name.data, f.name.len);
    }
}

static void on_request(redd_http_request *req, void *user)
{
    stage *s = user;
    s->req = req;
    redd_http_on_end(req, on_end, s);
    s->handler(req, s);
}

static void begin(stage *s, redd_http_handler_fn handler)
{
    memset(s, 0, sizeof *s);
    s->handler = handler;
    bed_begin(&s->b, on_request, s);
    redd_http_server_on_exchange(s->b.server, on_exchange, s);
    client_open(&s->b, &s->c);
}

static void finish(stage *s)
{
    client_close(&s->c);
    bytes_free(&s->line);
    bed_end(&s->b);
}

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

/* --- files --- */

static int temporary_file(size_t size)
{
    char name[] = "/tmp/redd-file-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(unlink(name), 0);
    for (size_t i = 0; i < size; i++) {
        char ch = (char)('a' + i % 23);
        assert_int_equal(write(fd, &ch, 1), 1);
    }
    return fd;
}

static void send_file(redd_http_request *req, void *user);

static void on_drain(redd_http_request *req, void *user)
{
    stage *s = user;
    s->drains++;
    assert_int_equal(redd_http_finish(req), 0);
}

static void send_file(redd_http_request *req, void *user)
{
    stage *s = user;
    redd_http_on_drain(req, on_drain, s);
    assert_int_equal(redd_http_write_file(req, s->fd, 0, 1), REDD_ESTATE);
    assert_int_equal(redd_http_start(req, 200, NULL, 0, s->rc ? -1 : (int64_t)s->left), 0);
    if (s->rc == 0)
        assert_int_equal(redd_http_write_file(req, s->fd, 0, s->left + 1), UV_EINVAL);
    int rc = redd_http_write_file(req, s->fd, s->off, s->left);
    if (rc == REDD_HTTP_FULL) {
        assert_int_equal(redd_http_write(req, redd_slice_str("x")), REDD_ESTATE);
        assert_int_equal(redd_http_finish(req), REDD_ESTATE);
    } else if (rc == 0) {
        assert_int_equal(redd_http_finish(req), 0);
    }
}

static void check_file(size_t capacity, size_t size, uint64_t off, uint64_t len, bool chunked,
                       const char *request)
{
    stage s;
    reply r;
    begin(&s, send_file);
    client_close(&s.c);
    client_open_sized(&s.b, &s.c, capacity);
    s.fd = temporary_file(size);
    s.off = off;
    s.left = len;
    s.rc = chunked;
    uint64_t before = bed_memory(&s.b).bytes;
    client_put(&s.c, request, strlen(request));
    for (int quiet = 0; quiet < 4; quiet++) {
        bed_turns(&s.b, 1);
        assert_true(bed_memory(&s.b).bytes < before + 2 * s.b.options.max_queued + 256 * 1024);
        if (client_take(&s.c, 5000))
            quiet = 0;
    }
    reply_begin(&r, &s.c);
    assert_true(reply_next_to(&r, request[0] == 'H'));
    assert_int_equal(r.chunked && request[0] != 'H', chunked && request[0] != 'H');
    assert_int_equal(r.body.len, request[0] == 'H' ? 0 : len);
    for (size_t i = 0; i < r.body.len; i++)
        assert_int_equal(r.body.data[i], 'a' + (off + i) % 23);
    assert_true(reply_at_end(&r));
    assert_int_equal(s.ends, 1);
    assert_int_equal(s.end_status, 0);
    assert_int_equal(s.sent, r.body.len);
    reply_end(&r);
    assert_int_equal(close(s.fd), 0);
    finish(&s);
}

static void test_file(void **state)
{
    (void)state;
    check_file(64 << 10, 1000, 0, 1000, false, GET);
    check_file(64 << 10, 1000, 10, 33, false, GET);
    check_file(64 << 10, 1000, 10, 0, false, GET);
    check_file(64 << 10, 1000, 10, 33, true, GET);
    check_file(4 << 10, 200000, 1, 199999, false, GET);
    check_file(4 << 10, 200000, 1, 199999, true, GET);
    check_file(4 << 10, 200000, 0, 200000, false, HEAD);
    check_file(4 << 10, 200000, 0, 200000, true, HEAD);
}

static void test_file_too_short(void **state)
{
    (void)state;
    stage s;
    begin(&s, send_file);
    s.fd = temporary_file(1000);
    s.left = 1001;
    client_text(&s.c, GET);
    assert_true(s.c.reset);
    assert_int_equal(s.ends, 1);
    assert_int_equal(s.end_status, UV_ECANCELED);
    assert_int_equal(s.drains, 0);
    assert_int_equal(close(s.fd), 0);
    finish(&s);
}

/* A peer that takes nothing costs the write timeout and no more. */
static void test_file_not_taken(void **state)
{
    (void)state;
    stage s;
    begin(&s, send_file);
    client_close(&s.c);
    client_open_sized(&s.b, &s.c, 1024);
    s.fd = temporary_file(100000);
    s.left = 100000;
    client_put(&s.c, GET, strlen(GET));
    bed_settle(&s.b);
    assert_int_equal(s.ends, 0);
    redd_clock_advance(s.b.clock, s.b.options.write_timeout_ms - 1);
    bed_settle(&s.b);
    assert_int_equal(s.ends, 0);
    redd_clock_advance(s.b.clock, 1);
    bed_settle(&s.b);
    assert_int_equal(s.ends, 1);
    assert_int_equal(s.end_status, UV_ETIMEDOUT);
    assert_int_equal(s.drains, 0);
    assert_int_equal(close(s.fd), 0);
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
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_file_too_short),
        cmocka_unit_test(test_file_not_taken),
        cmocka_unit_test(test_abort),
        cmocka_unit_test(test_batch_leaves_in_one_write),
        cmocka_unit_test(test_long_batch),
        cmocka_unit_test(test_batch_is_lost),
        cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_in_time),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_tunnel),
        cmocka_unit_test(test_no_tunnel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
