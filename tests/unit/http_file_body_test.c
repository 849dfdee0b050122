/* SPDX-License-Identifier: MIT */
/** Parts of files as bodies: whole and cut, to slow readers and to none, over a stream without
 * sendfile. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_stage.h"

#include <unistd.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_file_too_short),
        cmocka_unit_test(test_file_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
