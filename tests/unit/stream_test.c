/* SPDX-License-Identifier: MIT */
/** Streams: bytes and their end, the same over TCP and in memory. */
#include "tests/unit/stream_fixture.h"

static char pattern(uint64_t i)
{
    return (char)(i * 2654435761U >> 24);
}

static void passes_bytes(ends *e)
{
    char buf[64];
    size_t n = 7;
    assert_int_equal(e->s[0]->ready, REDD_STREAM_WRITE);
    assert_int_equal(redd_stream_read(e->s[0], buf, sizeof(buf), &n), UV_EAGAIN);
    assert_int_equal(n, 0);
    redd_stream_interest(e->s[1], REDD_STREAM_READ);
    assert_int_equal(write_text(e->s[0], "hello"), 0);
    UNTIL(e->f, e->c[1].wakes > 0);
    assert_true(e->s[1]->ready & REDD_STREAM_READ);
    assert_int_equal(redd_stream_read(e->s[1], buf, sizeof(buf), &n), 0);
    assert_int_equal(n, 5);
    assert_memory_equal(buf, "hello", 5);
    assert_false(e->s[1]->ready & REDD_STREAM_READ); /* a short read: no call to learn so */
    assert_int_equal(redd_stream_read(e->s[1], buf, sizeof(buf), &n), UV_EAGAIN);
    assert_int_equal(write_text(e->s[1], "back"), 0);
    redd_stream_interest(e->s[0], REDD_STREAM_READ);
    expect_text(e, 0, "back");
    assert_quiet(e);
}

static void full_read_keeps_ready(ends *e)
{
    char buf[4];
    size_t n;
    redd_stream_interest(e->s[1], REDD_STREAM_READ);
    assert_int_equal(write_text(e->s[0], "12345678abc"), 0);
    until_ready(e, 1, REDD_STREAM_READ);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(redd_stream_read(e->s[1], buf, sizeof(buf), &n), 0);
        assert_int_equal(n, 4);
        assert_true(e->s[1]->ready & REDD_STREAM_READ);
    }
    assert_int_equal(redd_stream_read(e->s[1], buf, sizeof(buf), &n), 0);
    assert_int_equal(n, 3);
    assert_false(e->s[1]->ready & REDD_STREAM_READ);
}

static void gathers_slices(ends *e)
{
    redd_slice v[5] = {REDD_SLICE("one "), REDD_SLICE(""), REDD_SLICE("two "), REDD_SLICE("three"),
                       REDD_SLICE("")};
    size_t n;
    redd_stream_interest(e->s[1], REDD_STREAM_READ);
    assert_int_equal(redd_stream_write(e->s[0], v, 5, &n), 0);
    assert_int_equal(n, 13);
    assert_true(e->s[0]->ready & REDD_STREAM_WRITE);
    expect_text(e, 1, "one two three");
}

static void half_close(ends *e)
{
    redd_stream_interest(e->s[0], REDD_STREAM_READ);
    redd_stream_interest(e->s[1], REDD_STREAM_READ | REDD_STREAM_HANGUP);
    assert_int_equal(write_text(e->s[0], "last words"), 0);
    assert_int_equal(redd_stream_shutdown(e->s[0]), 0);
    assert_int_equal(redd_stream_shutdown(e->s[0]), 0);
    assert_int_equal(write_text(e->s[0], "more"), UV_EPIPE);
    expect_text(e, 1, "last words");
    assert_eof(e, 1);
    assert_eof(e, 1);
    assert_false(e->s[1]->ready & REDD_STREAM_HANGUP);  /* who reads reads the end */
    assert_int_equal(write_text(e->s[1], "answer"), 0); /* the other direction lives on */
    expect_text(e, 0, "answer");
    assert_quiet(e); /* with READ interest, though the end stays readable */
    assert_int_equal(redd_stream_shutdown(e->s[1]), 0);
    assert_eof(e, 0);
    assert_quiet(e);
}

static void close_is_eof(ends *e)
{
    redd_stream_interest(e->s[1], REDD_STREAM_READ);
    assert_int_equal(write_text(e->s[0], "bye"), 0);
    close_end(e, 0, false);
    expect_text(e, 1, "bye");
    assert_eof(e, 1);
    int rc = 0;
    for (int i = 0; rc == 0 && i < 100; i++) { /* TCP learns from the answer to the first one */
        rc = write_text(e->s[1], "anybody?");
        turn(e->f);
    }
    assert_true(rc == UV_EPIPE || rc == UV_ECONNRESET);
    assert_int_equal(write_text(e->s[1], "anybody?"), UV_EPIPE);
}

static size_t fill(ends *e, int i, uint64_t *sent)
{
    char buf[3000];
    size_t total = 0, n;
    for (;;) {
        for (size_t k = 0; k < sizeof(buf); k++)
            buf[k] = pattern(*sent + k);
        redd_slice v = redd_slice_of(buf, sizeof(buf));
        int rc = redd_stream_write(e->s[i], &v, 1, &n);
        if (rc == UV_EAGAIN)
            return total;
        assert_int_equal(rc, 0);
        total += n;
        *sent += n;
        if (n < sizeof(buf))
            assert_false(e->s[i]->ready & REDD_STREAM_WRITE);
    }
}

static void drain(ends *e, int i, uint64_t *received)
{
    char buf[1000];
    size_t n;
    while (redd_stream_read(e->s[i], buf, sizeof(buf), &n) == 0 && n > 0) {
        for (size_t k = 0; k < n; k++)
            assert_true(buf[k] == pattern(*received + k));
        *received += n;
    }
}

static void backpressure(ends *e)
{
    uint64_t sent = 0, received = 0;
    redd_stream_interest(e->s[1], REDD_STREAM_READ);
    for (int round = 0; round < 5; round++) {
        assert_true(fill(e, 0, &sent) > 0);
        assert_false(e->s[0]->ready & REDD_STREAM_WRITE);
        redd_stream_interest(e->s[0], REDD_STREAM_WRITE);
        unsigned wakes = e->c[0].wakes;
        while (e->c[0].wakes == wakes) {
            turn(e->f);
            drain(e, 1, &received);
        }
        assert_true(e->s[0]->ready & REDD_STREAM_WRITE);
        redd_stream_interest(e->s[0], 0);
    }
    assert_int_equal(redd_stream_shutdown(e->s[0]), 0);
    while (received < sent) {
        turn(e->f);
        drain(e, 1, &received);
    }
    assert_int_equal(received, sent);
    assert_eof(e, 1);
    assert_quiet(e);
}

/** What was full stays silent until there is room. */
static void full_is_quiet(ends *e)
{
    uint64_t sent = 0;
    size_t more = 1;
    redd_stream_interest(e->s[0], REDD_STREAM_WRITE);
    while (more) { /* the system moves bytes on between the buffers for a while */
        more = fill(e, 0, &sent);
        turns(e->f, 10);
    }
    assert_quiet(e);
    close_end(e, 1, true);
    until_ready(e, 0, REDD_STREAM_HANGUP);
    assert_int_equal(write_text(e->s[0], "x"), UV_ECONNRESET);
}

static void peer_address(ends *e)
{
    redd_address a;
    redd_stream_peer(e->s[0], &a);
    assert_string_equal(a.host, e->kind == TCP ? "127.0.0.1" : "");
    assert_int_equal(a.port != 0, e->kind == TCP);
    assert_false(a.ipv6);
}

static void no_growth(ends *e)
{
    fixture *f = e->f;
    redd_allocator_stats before = {0}, after;
    for (int i = 0; i < 1000; i++) {
        ends one;
        open_ends(&one, f, e->kind);
        redd_stream_interest(one.s[1], REDD_STREAM_READ);
        assert_int_equal(write_text(one.s[0], "x"), 0);
        expect_text(&one, 1, "x");
        close_end(&one, 0, i % 2);
        close_end(&one, 1, i % 3 == 0);
        turn(f);
        if (i == 10)
            before = fixture_memory(f);
    }
    after = fixture_memory(f);
    assert_int_equal(after.bytes, before.bytes);
    assert_int_equal(after.blocks, before.blocks);
    if (e->kind == TCP)
        assert_int_equal(after.allocations, before.allocations); /* the pool is warm */
}

static void want_of_memory(ends *e)
{
    fixture *f = e->f;
    redd_stream *s[3], *none[2];
    int fds[2];
    tcp_sockets(fds);
    for (int i = 0; i < 2; i++) /* empties the pool of stream blocks */
        assert_int_equal(redd_stream_from_fd(f->w, dup(fds[i]), &s[i]), 0);
    redd_counting_allocator_fail_at(f->counting, 1, true);
    assert_int_equal(redd_stream_from_fd(f->w, fds[0], &none[0]), UV_ENOMEM);
    assert_int_equal(redd_stream_pair(f->w, 64, none), UV_ENOMEM);
    redd_counting_allocator_fail_at(f->counting, 0, false);
    assert_int_equal(redd_stream_from_fd(f->w, fds[0], &s[2]), 0); /* still ours */
    for (int i = 0; i < 3; i++)
        redd_stream_close(s[i], false);
    assert_int_equal(close(fds[1]), 0);
    assert_int_equal(redd_stream_from_fd(f->w, fds[1], &none[0]), UV_EBADF);
    assert_int_equal(redd_stream_pair(f->w, 0, none), UV_EINVAL);
    turn(f);
}

SCENARIO(passes_bytes)
SCENARIO(full_read_keeps_ready)
SCENARIO(gathers_slices)
SCENARIO(half_close)
SCENARIO(close_is_eof)
SCENARIO(backpressure)
SCENARIO(full_is_quiet)
SCENARIO(peer_address)
SCENARIO(no_growth)
SCENARIO(want_of_memory)

/** Bytes at every offset of a small ring, written and read in pieces of every size. */
static void test_ring_wraps(void **state)
{
    (void)state;
    enum { CAPACITY = 7 };
    fixture f;
    redd_stream *s[2];
    fixture_begin(&f, 1, true);
    assert_int_equal(redd_stream_pair(f.w, CAPACITY, s), 0);
    redd_stream_interest(s[1], REDD_STREAM_READ);
    redd_stream_interest(s[0], REDD_STREAM_WRITE);
    uint64_t sent = 0, received = 0;
    for (size_t i = 0; i < 2000; i++) {
        char buf[16];
        size_t n, put = 1 + i % 9, get = 1 + i / 9 % 9;
        for (size_t k = 0; k < put; k++)
            buf[k] = pattern(sent + k);
        redd_slice v[2] = {redd_slice_of(buf, put / 2),
                           redd_slice_of(buf + put / 2, put - put / 2)};
        int rc = redd_stream_write(s[0], v, 2, &n);
        assert_true(rc == 0 || (rc == UV_EAGAIN && sent - received == CAPACITY));
        sent += n;
        assert_true(sent - received <= CAPACITY);
        assert_int_equal(redd_stream_read(s[1], buf, get, &n), 0);
        assert_int_equal(n, get < sent - received ? get : sent - received);
        for (size_t k = 0; k < n; k++)
            assert_true(buf[k] == pattern(received + k));
        received += n;
    }
    redd_stream_close(s[0], false);
    redd_stream_close(s[1], false);
    fixture_end(&f);
}

/** More slices than one system call takes. */
static void test_many_slices(void **state)
{
    (void)state;
    enum { SLICES = 3000 };
    fixture f;
    ends e;
    fixture_begin(&f, 1, true);
    open_ends(&e, &f, TCP);
    redd_slice v[SLICES];
    char expected[SLICES], got[SLICES];
    for (size_t i = 0; i < SLICES; i++) {
        expected[i] = pattern(i);
        v[i] = redd_slice_of(&expected[i], 1);
    }
    redd_stream_interest(e.s[0], REDD_STREAM_WRITE);
    redd_stream_interest(e.s[1], REDD_STREAM_READ);
    size_t sent = 0, received = 0, n;
    while (received < SLICES) {
        if (sent < SLICES)
            (void)redd_stream_write(e.s[0], v + sent, SLICES - sent, &n);
        sent += sent < SLICES ? n : 0;
        turn(&f);
        (void)redd_stream_read(e.s[1], got + received, SLICES - received, &n);
        received += n;
    }
    assert_memory_equal(got, expected, SLICES);
    close_ends(&e);
    fixture_end(&f);
}

/** Streams that are closed as the worker ends: their memory outlives the worker's state. */
static void test_close_at_the_end(void **state)
{
    (void)state;
    fixture f;
    ends e;
    fixture_begin(&f, 1, true);
    open_ends(&e, &f, TCP);
    redd_stream_interest(e.s[0], REDD_STREAM_READ);
    turn(&f);
    close_end(&e, 0, false);
    close_end(&e, 1, false);
    fixture_end(&f);
}

static void test_read_buffer(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, 1, true);
    size_t size = 0;
    char *buffer = redd_read_buffer(f.w, &size);
    assert_true(size >= 64 * 1024);
    memset(buffer, 1, size);
    assert_ptr_equal(redd_read_buffer(f.w, &size), buffer);
    fixture_end(&f);
}

static void test_size(void **state)
{
    (void)state;
    assert_true(sizeof(redd__tcp) <= 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes_bytes),
        cmocka_unit_test(test_full_read_keeps_ready),
        cmocka_unit_test(test_gathers_slices),
        cmocka_unit_test(test_half_close),
        cmocka_unit_test(test_close_is_eof),
        cmocka_unit_test(test_backpressure),
        cmocka_unit_test(test_full_is_quiet),
        cmocka_unit_test(test_peer_address),
        cmocka_unit_test(test_no_growth),
        cmocka_unit_test(test_want_of_memory),
        cmocka_unit_test(test_ring_wraps),
        cmocka_unit_test(test_many_slices),
        cmocka_unit_test(test_close_at_the_end),
        cmocka_unit_test(test_read_buffer),
        cmocka_unit_test(test_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
