/* SPDX-License-Identifier: MIT */
/** Output: order, bounds, the cork and its thieves. */
#include "tests/unit/output_fixture.h"

static void test_cork_sends_once(void **state)
{
    bench *b = *state;
    size_t at = 0;
    uint64_t before = fixture_memory(&b->f).allocations;
    redd_output_cork(&b->o);
    redd_output_cork(&b->o);
    for (int i = 0; i < 100; i++)
        assert_int_equal(write_next(&b->o, &at, 100), 0);
    char *room = redd_output_reserve(&b->o, 50);
    assert_non_null(room);
    for (size_t i = 0; i < 20; i++)
        room[i] = pattern(at + i);
    redd_output_commit(&b->o, 20);
    assert_int_equal(redd_output_queued(&b->o), 10020);
    assert_int_equal(b->k->calls, 0);
    assert_int_equal(redd_output_uncork(&b->o), 0);
    assert_int_equal(b->k->calls, 1);
    assert_int_equal(redd_output_queued(&b->o), 0);
    expect_pattern(b->k, 10020);
    assert_int_equal(redd_output_uncork(&b->o), 0);
    assert_int_equal(redd_output_flush(&b->o), 0);
    assert_int_equal(b->k->calls, 1); /* nothing to send, no call */
    assert_int_equal(fixture_memory(&b->f).allocations, before);
}

static void test_flush_keeps_the_cork(void **state)
{
    bench *b = *state;
    size_t at = 0;
    redd_output_cork(&b->o);
    assert_int_equal(write_next(&b->o, &at, 10), 0);
    assert_int_equal(redd_output_flush(&b->o), 0);
    assert_int_equal(write_next(&b->o, &at, 10), 0);
    assert_int_equal(b->k->calls, 1);
    assert_int_equal(redd_output_uncork(&b->o), 0);
    assert_int_equal(b->k->calls, 2);
    expect_pattern(b->k, 20);
}

static void test_full_cork_is_sent(void **state)
{
    bench *b = *state;
    size_t at = 0;
    redd_output_cork(&b->o);
    while (at + 1000 <= REDD__CORK_SIZE)
        assert_int_equal(write_next(&b->o, &at, 1000), 0);
    assert_int_equal(b->k->calls, 0);
    assert_int_equal(write_next(&b->o, &at, 1000), 0);
    assert_int_equal(b->k->calls, 1);
    assert_int_equal(redd_output_queued(&b->o), 1000);
    assert_int_equal(redd_output_uncork(&b->o), 0);
    assert_int_equal(b->k->calls, 2);
    expect_pattern(b->k, at);
}

static void test_rest_waits_and_memory_goes(void **state)
{
    bench *b = *state;
    size_t at = 0;
    uint64_t idle = fixture_memory(&b->f).bytes;
    SCRIPT(b->k, 30, 40, UV_EAGAIN);
    redd_output_cork(&b->o);
    assert_int_equal(write_next(&b->o, &at, 100), 0);
    assert_int_equal(redd_output_uncork(&b->o), UV_EAGAIN);
    assert_int_equal(redd_output_queued(&b->o), 70);
    redd_output_cork(&b->o); /* does nothing while bytes wait */
    assert_int_equal(write_next(&b->o, &at, 100), 0);
    assert_int_equal(redd_output_uncork(&b->o), UV_EAGAIN); /* not ready: no call */
    assert_int_equal(b->k->calls, 1);
    writable(b->k);
    assert_int_equal(redd_output_flush(&b->o), UV_EAGAIN);
    assert_int_equal(redd_output_queued(&b->o), 130);
    writable(b->k);
    assert_int_equal(redd_output_flush(&b->o), UV_EAGAIN); /* said by the stream itself */
    assert_int_equal(redd_output_queued(&b->o), 130);
    writable(b->k);
    assert_int_equal(redd_output_flush(&b->o), 0);
    expect_pattern(b->k, 200);
    assert_null(b->o.data);
    /* What the worker's pool keeps is one chunk. */
    assert_true(fixture_memory(&b->f).bytes <= idle + REDD__CHUNK_SIZE);
    uint64_t warm = fixture_memory(&b->f).allocations;
    SCRIPT(b->k, 1);
    redd_output_cork(&b->o);
    assert_int_equal(redd_output_write(&b->o, redd_slice_str("xyz")), 0);
    assert_int_equal(redd_output_uncork(&b->o), UV_EAGAIN);
    writable(b->k);
    assert_int_equal(redd_output_flush(&b->o), 0);
    assert_int_equal(fixture_memory(&b->f).allocations, warm);
}

static void test_without_cork(void **state)
{
    bench *b = *state;
    size_t at = 0;
    assert_int_equal(write_next(&b->o, &at, 10), 0);
    assert_int_equal(write_next(&b->o, &at, 5000), 0);
    char *room = redd_output_reserve(&b->o, 4);
    assert_non_null(room);
    for (size_t i = 0; i < 4; i++)
        room[i] = pattern(at + i);
    redd_output_commit(&b->o, 4);
    assert_int_equal(b->k->calls, 0);
    assert_int_equal(redd_output_flush(&b->o), 0);
    assert_int_equal(b->k->calls, 1);
    expect_pattern(b->k, 5014);
}

static void test_maximum(void **state)
{
    bench *b = *state;
    size_t at = 0;
    b->o.max = 1000;
    SCRIPT(b->k, UV_EAGAIN);
    assert_int_equal(write_next(&b->o, &at, 600), 0);
    assert_int_equal(write_next(&b->o, &at, 401), REDD_ELIMIT);
    assert_null(redd_output_reserve(&b->o, 401));
    assert_int_equal(write_next(&b->o, &at, 20000), REDD_ELIMIT);
    assert_int_equal(b->k->calls, 0); /* refused before anything was sent */
    assert_int_equal(redd_output_queued(&b->o), 600);
    assert_int_equal(write_next(&b->o, &at, 400), 0);
    assert_int_equal(write_next(&b->o, &at, 1), REDD_ELIMIT);
    assert_int_equal(redd_output_flush(&b->o), UV_EAGAIN);
    writable(b->k);
    assert_int_equal(redd_output_flush(&b->o), 0);
    expect_pattern(b->k, 1000);
    /* While nothing waits a piece beyond the maximum is taken, small or large, or reserved. */
    SCRIPT(b->k, UV_EAGAIN);
    at = 0;
    assert_int_equal(write_next(&b->o, &at, 5000), 0);
    assert_int_equal(write_next(&b->o, &at, 1), REDD_ELIMIT);
    assert_int_equal(redd_output_flush(&b->o), UV_EAGAIN);
    writable(b->k);
    assert_int_equal(redd_output_flush(&b->o), 0);
    assert_int_equal(write_next(&b->o, &at, 50000), 0);
    expect_pattern(b->k, 55000);
    assert_non_null(redd_output_reserve(&b->o, 5000));
}

static void test_large_slice_is_not_copied(void **state)
{
    bench *b = *state;
    size_t at = 0;
    redd_allocator_stats before = fixture_memory(&b->f), after;
    assert_int_equal(write_next(&b->o, &at, 100000), 0);
    assert_int_equal(b->k->calls, 1);
    assert_int_equal(b->k->slices, 1);
    redd_output_cork(&b->o);
    assert_int_equal(write_next(&b->o, &at, 9), 0);
    assert_int_equal(write_next(&b->o, &at, 50000), 0); /* header and payload in one call */
    assert_int_equal(b->k->calls, 2);
    assert_int_equal(b->k->slices, 2);
    after = fixture_memory(&b->f);
    assert_int_equal(after.peak_bytes, before.peak_bytes);
    assert_int_equal(after.allocations, before.allocations);
    assert_int_equal(write_next(&b->o, &at, 9), 0);
    assert_int_equal(b->k->calls, 2); /* still corked */
    assert_int_equal(redd_output_uncork(&b->o), 0);
    expect_pattern(b->k, 150018);
}

/** The stream takes `take` of 100 corked or waiting bytes and a slice of 20,000. */
static void large_slice_cut(bench *b, bool cork, int take)
{
    size_t at = 0;
    SCRIPT(b->k, take, 7);
    if (cork)
        redd_output_cork(&b->o);
    assert_int_equal(write_next(&b->o, &at, 100), 0);
    assert_int_equal(write_next(&b->o, &at, 20000), 0);
    assert_int_equal(b->k->calls, 1);
    assert_int_equal(redd_output_queued(&b->o), 20100 - b->k->len);
    assert_int_equal(write_next(&b->o, &at, 11), 0);
    if (take < 20100)
        assert_int_equal(redd_output_uncork(&b->o), UV_EAGAIN);
    while (redd_output_uncork(&b->o) == UV_EAGAIN)
        writable(b->k);
    expect_pattern(b->k, 20111);
    assert_null(b->o.data);
}

static void test_large_slice_is_cut(void **state)
{
    const int takes[] = {UV_EAGAIN, 0, 1, 99, 100, 101, 5000, 20099, 20100};
    for (size_t i = 0; i < sizeof(takes) / sizeof(takes[0]); i++) {
        large_slice_cut(*state, true, takes[i]);
        large_slice_cut(*state, false, takes[i]);
    }
}

static void expect_error(redd_output *o, int error)
{
    assert_int_equal(redd_output_queued(o), 0);
    assert_null(o->data);
    assert_int_equal(redd_output_write(o, redd_slice_str("x")), error);
    assert_int_equal(redd_output_write(o, redd_slice_str("")), error);
    assert_null(redd_output_reserve(o, 1));
    assert_int_equal(redd_output_flush(o), error);
    redd_output_cork(o);
    assert_int_equal(redd_output_write(o, redd_slice_str("x")), error);
    assert_null(redd_output_reserve(o, 1));
    assert_int_equal(redd_output_uncork(o), error);
}

/** A large slice of which nothing was sent can be refused; then what stood before it stays. */
static void test_large_slice_without_memory(void **state)
{
    bench *b = *state;
    const int takes[] = {UV_EAGAIN, 60, 100, 101};
    for (size_t i = 0; i < 8; i++) {
        redd_output o;
        int take = takes[i / 2];
        bool cork = i % 2;
        size_t at = 0;
        redd_output_init(&o, b->f.w, &b->k->base, 100000);
        SCRIPT(b->k, take);
        if (cork)
            redd_output_cork(&o);
        assert_int_equal(write_next(&o, &at, 100), 0);
        redd_counting_allocator_fail_at(b->f.counting, 1, true);
        assert_int_equal(write_next(&o, &at, 20000), UV_ENOMEM);
        redd_counting_allocator_fail_at(b->f.counting, 0, false);
        writable(b->k);
        if (take > 100) {
            expect_error(&o, UV_ENOMEM); /* cut within the slice: the connection is lost */
        } else {
            assert_int_equal(write_next(&o, &at, 10), 0);
            assert_int_equal(redd_output_uncork(&o), 0);
            expect_pattern(b->k, 110);
        }
        redd_output_fini(&o);
    }
}

static void test_cork_is_taken_over(void **state)
{
    bench *b = *state;
    size_t at = 0, at2 = 0;
    redd_output_cork(&b->o);
    assert_int_equal(write_next(&b->o, &at, 10), 0);
    redd_output_cork(&b->o2);
    assert_int_equal(b->k->len, 10); /* flushed */
    assert_int_equal(write_next(&b->o2, &at2, 20), 0);
    assert_int_equal(write_next(&b->o, &at, 30), 0); /* to own memory */
    assert_int_equal(b->k->len, 10);
    assert_int_equal(redd_output_queued(&b->o2), 20);
    assert_int_equal(redd_output_uncork(&b->o), 0);
    assert_int_equal(b->k2->len, 0);
    assert_int_equal(redd_output_uncork(&b->o2), 0);
    expect_pattern(b->k, 40);
    expect_pattern(b->k2, 20);
}

static void test_taken_over_with_a_rest_or_an_error(void **state)
{
    bench *b = *state;
    size_t at = 0;
    SCRIPT(b->k, 4);
    redd_output_cork(&b->o);
    assert_int_equal(write_next(&b->o, &at, 10), 0);
    redd_output_cork(&b->o2);
    assert_int_equal(redd_output_queued(&b->o), 6);
    assert_int_equal(redd_output_uncork(&b->o2), 0);
    writable(b->k);
    assert_int_equal(redd_output_uncork(&b->o), 0);
    expect_pattern(b->k, 10);

    SCRIPT(b->k, UV_EPIPE);
    redd_output_cork(&b->o);
    assert_int_equal(redd_output_write(&b->o, redd_slice_str("x")), 0);
    redd_output_cork(&b->o2);
    assert_int_equal(redd_output_write(&b->o2, redd_slice_str("y")), 0);
    assert_int_equal(redd_output_uncork(&b->o), UV_EPIPE); /* remembered for its owner */
    assert_int_equal(redd_output_queued(&b->o2), 1);
    assert_int_equal(redd_output_uncork(&b->o2), 0);
}

static void test_fini_gives_the_cork_back(void **state)
{
    bench *b = *state;
    redd_output_cork(&b->o);
    assert_int_equal(redd_output_write(&b->o, redd_slice_str("dropped")), 0);
    redd_output_fini(&b->o);
    redd_output_cork(&b->o2);
    assert_int_equal(redd_output_queued(&b->o2), 0);
    assert_int_equal(redd_output_uncork(&b->o2), 0);
    assert_int_equal(b->k->calls + b->k2->calls, 0);
}

static void test_errors_stay(void **state)
{
    bench *b = *state;
    size_t at = 0;
    for (int corked = 0; corked < 2; corked++) {
        for (int large = 0; large < 2; large++) {
            redd_output o;
            redd_output_init(&o, b->f.w, &b->k->base, 100000);
            SCRIPT(b->k, UV_ECONNRESET);
            if (corked)
                redd_output_cork(&o);
            assert_int_equal(write_next(&o, &at, 10), 0);
            if (large)
                assert_int_equal(write_next(&o, &at, 20000), UV_ECONNRESET);
            else
                assert_int_equal(redd_output_uncork(&o), UV_ECONNRESET);
            expect_error(&o, UV_ECONNRESET);
            assert_int_equal(b->k->calls, 1);
            redd_output_fini(&o);
        }
    }
    SCRIPT(b->k, UV_EPIPE); /* found out while making room */
    redd_output_cork(&b->o);
    assert_non_null(redd_output_reserve(&b->o, REDD__CORK_SIZE));
    redd_output_commit(&b->o, REDD__CORK_SIZE);
    assert_null(redd_output_reserve(&b->o, 1));
    expect_error(&b->o, UV_EPIPE);
}

static void test_reserve_beyond_the_cork(void **state)
{
    bench *b = *state;
    size_t at = 0, n = REDD__CORK_SIZE + 1000;
    redd_output_cork(&b->o);
    assert_int_equal(write_next(&b->o, &at, 10), 0);
    char *room = redd_output_reserve(&b->o, n);
    assert_non_null(room);
    assert_int_equal(b->k->len, 10);
    for (size_t i = 0; i < n; i++)
        room[i] = pattern(at + i);
    redd_output_commit(&b->o, n);
    assert_int_equal(redd_output_queued(&b->o), n);
    assert_int_equal(redd_output_uncork(&b->o), 0);
    expect_pattern(b->k, n + 10);
    /* Reserved and not used: nothing stays. */
    assert_non_null(redd_output_reserve(&b->o, 100));
    redd_output_commit(&b->o, 0);
    redd_output_cork(&b->o);
    assert_null(b->o.data);
    assert_int_equal(redd_output_uncork(&b->o), 0);
}

static void test_move(void **state)
{
    bench *b = *state;
    for (int corked = 0; corked < 2; corked++) {
        redd_output to;
        size_t at = 0;
        SCRIPT(b->k, EVERYTHING);
        if (corked)
            redd_output_cork(&b->o);
        assert_int_equal(write_next(&b->o, &at, 100), 0);
        assert_int_equal(redd_output_move(&to, &b->o), 0);
        assert_int_equal(redd_output_queued(&b->o), 0);
        assert_int_equal(redd_output_queued(&to), 100);
        redd_output_cork(&b->o2); /* the cork is free: nothing is flushed for it */
        assert_int_equal(b->k->calls, 0);
        assert_int_equal(redd_output_uncork(&b->o2), 0);
        assert_int_equal(write_next(&to, &at, 10), 0);
        assert_int_equal(redd_output_flush(&to), 0);
        expect_pattern(b->k, 110);
        redd_output_fini(&to);
    }
    redd_output to; /* corked and empty */
    redd_output_cork(&b->o);
    assert_int_equal(redd_output_move(&to, &b->o), 0);
    redd_output_cork(&to);
    assert_int_equal(redd_output_write(&to, redd_slice_str("x")), 0);
    redd_output_fini(&to);
}

static void test_move_without_memory(void **state)
{
    bench *b = *state;
    redd_output to;
    size_t at = 0;
    redd_output_cork(&b->o);
    assert_int_equal(write_next(&b->o, &at, 100), 0);
    redd_counting_allocator_fail_at(b->f.counting, 1, false);
    assert_int_equal(redd_output_move(&to, &b->o), UV_ENOMEM);
    assert_int_equal(write_next(&b->o, &at, 10), 0);
    assert_int_equal(redd_output_uncork(&b->o), 0);
    expect_pattern(b->k, 110);
}

/** On a real stream: what is sent through a slow reader arrives whole. */
static void test_over_a_pair(void **state)
{
    bench *b = *state;
    redd_stream *s[2];
    redd_output o;
    assert_int_equal(redd_stream_pair(b->f.w, 1000, s), 0);
    redd_output_init(&o, b->f.w, s[0], 200000);
    redd_stream_interest(s[0], REDD_STREAM_WRITE);
    redd_stream_interest(s[1], REDD_STREAM_READ);
    size_t at = 0, n;
    redd_output_cork(&o);
    for (int i = 0; i < 50; i++)
        assert_int_equal(write_next(&o, &at, 1 + (size_t)i * 97), 0);
    int rc = redd_output_uncork(&o);
    b->k->len = 0;
    while (rc == UV_EAGAIN) {
        while (redd_stream_read(s[1], b->k->data + b->k->len, 300, &n) == 0)
            b->k->len += n;
        rc = redd_output_flush(&o);
    }
    assert_int_equal(rc, 0);
    while (redd_stream_read(s[1], b->k->data + b->k->len, 300, &n) == 0)
        b->k->len += n;
    expect_pattern(b->k, at);
    redd_output_fini(&o);
    redd_stream_close(s[0], false);
    redd_stream_close(s[1], false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(cork_sends_once),
        TEST(flush_keeps_the_cork),
        TEST(full_cork_is_sent),
        TEST(rest_waits_and_memory_goes),
        TEST(without_cork),
        TEST(maximum),
        TEST(large_slice_is_not_copied),
        TEST(large_slice_is_cut),
        TEST(large_slice_without_memory),
        TEST(cork_is_taken_over),
        TEST(taken_over_with_a_rest_or_an_error),
        TEST(fini_gives_the_cork_back),
        TEST(errors_stay),
        TEST(reserve_beyond_the_cork),
        TEST(move),
        TEST(move_without_memory),
        TEST(over_a_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
