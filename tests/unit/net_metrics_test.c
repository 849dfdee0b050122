/* SPDX-License-Identifier: MIT */
/** What sockets count: bytes, however they go in and out, and nothing of streams in memory. */
#include "tests/unit/stream_fixture.h"

#include <redd/metrics.h>

#include <sys/mman.h>

enum { PIECE = 100000 };

static uint64_t sum(const ends *e, const char *name)
{
    return redd_metric_sum(e->f->rt, name, 0);
}

/** Reads all that has come to end `i`, into nowhere; returns how much. */
static size_t drain(ends *e, int i)
{
    static char buf[PIECE];
    size_t n, total = 0;
    redd_stream_interest(e->s[i], REDD_STREAM_READ);
    until_ready(e, i, REDD_STREAM_READ);
    while (redd_stream_read(e->s[i], buf, sizeof(buf), &n) == 0 && n > 0)
        total += n;
    return total;
}

/** Slices until the socket takes only a part, and then no more. */
static size_t fill(ends *e)
{
    static const char piece[PIECE];
    const redd_slice v[] = {redd_slice_of(piece, 7), redd_slice_of(piece, 1),
                            redd_slice_of(piece, PIECE)};
    size_t n, total = 0;
    while (redd_stream_write(e->s[0], v, 3, &n) == 0)
        total += n;
    return total;
}

static size_t send_file(ends *e, size_t len)
{
    size_t n;
    int fd = memfd_create("file", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, PIECE), 0);
    until_ready(e, 0, REDD_STREAM_WRITE);
    assert_int_equal(redd_stream_send_file(e->s[0], fd, 5, len, &n), 0);
    assert_int_equal(close(fd), 0);
    return n;
}

static void bytes(ends *e)
{
    uint64_t sent = fill(e), got = 0;
    assert_int_equal(sum(e, "redd_net_sent_bytes"), e->kind == TCP ? sent : 0);
    assert_int_equal(sum(e, "redd_net_received_bytes"), 0);
    while (got < sent)
        got += drain(e, 1);
    assert_int_equal(sum(e, "redd_net_received_bytes"), e->kind == TCP ? sent : 0);
    if (e->kind == TCP) {
        redd_stream_interest(e->s[0], REDD_STREAM_WRITE);
        sent += send_file(e, 1000);
        assert_int_equal(sum(e, "redd_net_sent_bytes"), sent);
        while (got < sent)
            got += drain(e, 1);
        assert_int_equal(sum(e, "redd_net_received_bytes"), sent);
    }
    size_t n;
    redd_slice last = redd_slice_str("x");
    close_end(e, 1, true);
    redd_stream_interest(e->s[0], REDD_STREAM_READ);
    until_ready(e, 0, REDD_STREAM_READ);
    assert_true(redd_stream_write(e->s[0], &last, 1, &n) != 0); /* an error is no number */
    assert_int_equal(sum(e, "redd_net_sent_bytes"), e->kind == TCP ? sent : 0);
    close_end(e, 0, false);
    turn(e->f);
}

SCENARIO(bytes)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
