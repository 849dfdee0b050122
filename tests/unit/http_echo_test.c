/* SPDX-License-Identifier: MIT */
/** A handler that sends a request's body back while it comes: both directions at once, with
 * backpressure from the slow end to the fast one. */
#include "tests/unit/http_must.h"

#include <stdio.h>

enum { BODY = 600 * 1000 };

/** One exchange. It asks for a piece when the one before is on its way. */
typedef struct echo {
    redd_http_request *req; /* a reference, until the end */
    bytes held;             /* a piece that was refused */
    bool last;
    unsigned pieces, drains, ends;
    int end_status;
} echo;

static void on_piece(redd_http_request *req, int status, redd_slice data, bool last, void *user);

static void go_on(echo *e)
{
    if (e->last)
        assert_int_equal(redd_http_finish(e->req), 0);
    else
        assert_int_equal(redd_http_read(e->req, on_piece, e), 0);
}

static void on_piece(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    echo *e = user;
    if (status)
        return;
    e->pieces++;
    e->last = last;
    int rc = redd_http_write(req, data);
    if (rc == REDD_ELIMIT)
        bytes_add(&e->held, data.data, data.len);
    else
        assert_in_range(rc, 0, REDD_HTTP_FULL);
    if (rc == 0)
        go_on(e);
}

static void on_drain(redd_http_request *req, void *user)
{
    echo *e = user;
    e->drains++;
    if (e->held.len > 0) {
        int rc = redd_http_write(req, redd_slice_of(e->held.data, e->held.len));
        assert_in_range(rc, 0, REDD_HTTP_FULL);
        bytes_clear(&e->held);
        if (rc == REDD_HTTP_FULL)
            return;
    }
    go_on(e);
}

static void on_end(redd_http_request *req, int status, void *user)
{
    echo *e = user;
    e->ends++;
    e->end_status = status;
    redd_http_request_unref(req);
}

static void on_request(redd_http_request *req, void *user)
{
    echo *e = user;
    e->req = redd_http_request_ref(req);
    e->last = false;
    redd_http_on_drain(req, on_drain, e);
    redd_http_on_end(req, on_end, e);
    assert_int_equal(redd_http_start(req, 200, NULL, 0, redd_http_body_length(req)), 0);
    go_on(e);
}

/* --- tests --- */

static void request(bytes *out, const bytes *body, bool chunked)
{
    char text[64];
    bytes_text(out, "POST / HTTP/1.1\r\nHost: h\r\n");
    if (!chunked) {
        (void)snprintf(text, sizeof text, "Content-Length: %zu\r\n\r\n", body->len);
        bytes_text(out, text);
        bytes_add(out, body->data, body->len);
        return;
    }
    bytes_text(out, "Transfer-Encoding: chunked\r\n\r\n");
    for (size_t off = 0, n = 1; off < body->len; off += n, n = n * 3 % 30011) {
        n = n < body->len - off ? n : body->len - off;
        (void)snprintf(text, sizeof text, "%zx\r\n", n);
        bytes_text(out, text);
        bytes_add(out, body->data + off, n);
        bytes_text(out, "\r\n");
    }
    bytes_text(out, "0\r\n\r\n");
}

/* The client writes what it can and reads `gulp` bytes, each turn. */
static void check_echo(bool chunked, size_t capacity, size_t gulp)
{
    bed b;
    client c;
    echo e = {0};
    reply r;
    bytes body = {0}, input = {0};
    for (size_t i = 0; i < BODY; i++)
        bytes_fill(&body, (char)('a' + i * 7 % 26), 1);
    request(&input, &body, chunked);
    bed_begin(&b, on_request, &e);
    b.options.max_queued = 16 << 10;
    bed_serve_anew(&b, on_request, &e);
    client_open_sized(&b, &c, capacity);
    uint64_t before = bed_memory(&b).bytes;
    for (size_t sent = 0, still = 0; still < 5; still++) {
        size_t n = client_put(&c, input.data + sent, input.len - sent);
        sent += n;
        bed_turns(&b, 1);
        if (client_take(&c, gulp) > 0 || n > 0)
            still = 0;
        assert_true(bed_memory(&b).bytes - before < 512 * 1024);
    }
    reply_begin(&r, &c);
    assert_true(reply_next(&r));
    assert_true(bytes_are(&r.body, body.data, body.len));
    assert_true(reply_at_end(&r));
    assert_true(e.pieces > 5);
    assert_true(e.drains > 0 || gulp == SIZE_MAX);
    assert_int_equal(e.ends, 1);
    assert_int_equal(e.end_status, 0);
    client_text(&c, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi");
    assert_true(reply_next(&r));
    assert_true(reply_body_is(&r, "hi"));
    assert_int_equal(e.ends, 2);
    reply_end(&r);
    bytes_free(&body);
    bytes_free(&input);
    bytes_free(&e.held);
    client_close(&c);
    bed_end(&b);
}

static void test_by_length(void **state)
{
    (void)state;
    check_echo(false, 8192, SIZE_MAX);
    check_echo(false, 8192, 500);
    check_echo(false, 100000, 5000);
}

static void test_by_chunks(void **state)
{
    (void)state;
    check_echo(true, 8192, SIZE_MAX);
    check_echo(true, 8192, 500);
    check_echo(true, 100000, 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_length),
        cmocka_unit_test(test_by_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
