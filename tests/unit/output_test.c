/* SPDX-License-Identifier: MIT */
/** Output: order, bounds, the cork and its thieves, on a stream that takes what a script says. */
#include "tests/unit/net_fixture.h"

#include "ext/net/cork.h"
#include "ext/net/net.h"

enum { SINK_SIZE = 1 << 20, LARGE = 16 * 1024, EVERYTHING = 1 << 30 };

/** A stream that records what it takes. */
typedef struct sink {
    redd_stream base;
    int takes[64]; /* bytes per call, or an error; EVERYTHING once the script is over */
    size_t n_takes, calls;
    size_t slices; /* of the last call */
    size_t len;
    char data[SINK_SIZE];
} sink;

static int sink_write(redd_stream *s, const redd_slice *v, size_t nv, size_t *n)
{
    sink *k = (sink *)(void *)s;
    int take = k->calls < k->n_takes ? k->takes[k->calls] : EVERYTHING;
    k->calls++;
    k->slices = nv;
    if (take < 0) {
        if (take == UV_EAGAIN)
            s->ready &= (uint8_t)~REDD_STREAM_WRITE;
        return take;
    }
    size_t left = (size_t)take, total = 0;
    for (size_t i = 0; i < nv; i++) {
        assert_true(v[i].len > 0);
        size_t part = v[i].len < left ? v[i].len : left;
        assert_true(part <= SINK_SIZE - k->len);
        memcpy(k->data + k->len, v[i].data, part);
        k->len += part;
        *n += part;
        left -= part;
        total += v[i].len;
    }
    if (*n < total)
        s->ready &= (uint8_t)~REDD_STREAM_WRITE;
    return 0;
}

static const redd_stream_vt sink_vt = {.name = "sink", .write = sink_write};

static sink *sink_new(void)
{
    sink *k = calloc(1, sizeof(*k));
    assert_non_null(k);
    k->base = (redd_stream){.vt = &sink_vt, .ready = REDD_STREAM_WRITE};
    return k;
}

static void script(sink *k, const int *takes, size_t n)
{
    assert_true(n <= sizeof(k->takes) / sizeof(k->takes[0]));
    memcpy(k->takes, takes, n * sizeof(*takes));
    k->n_takes = n;
    k->calls = 0;
    k->len = 0;
    k->base.ready = REDD_STREAM_WRITE;
}
#define SCRIPT(k, ...) \
    script(k, (const int[]){__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int))

static void writable(sink *k)
{
    k->base.ready |= REDD_STREAM_WRITE;
}

static char pattern(size_t i)
{
    return (char)(i * 2654435761U >> 24);
}

static char *patterned(size_t from, size_t n)
{
    char *data = malloc(n ? n : 1);
    assert_non_null(data);
    for (size_t i = 0; i < n; i++)
        data[i] = pattern(from + i);
    return data;
}

/** Writes the next `n` bytes of the pattern. */
static int write_next(redd_output *o, size_t *at, size_t n)
{
    char *data = patterned(*at, n);
    int rc = redd_output_write(o, redd_slice_of(data, n));
    free(data); /* nothing may point at it any more */
    if (rc == 0)
        *at += n;
    return rc;
}

static void expect_pattern(const sink *k, size_t n)
{
    assert_int_equal(k->len, n);
    for (size_t i = 0; i < n; i++)
        assert_true(k->data[i] == pattern(i));
}

typedef struct bench {
    fixture f;
    sink *k, *k2;
    redd_output o, o2;
} bench;

static int setup(void **state)
{
    bench *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    fixture_begin(&b->f, 1, true);
    b->k = sink_new();
    b->k2 = sink_new();
    redd_output_init(&b->o, b->f.w, &b->k->base, 100000);
    redd_output_init(&b->o2, b->f.w, &b->k2->base, 100000);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    bench *b = *state;
    redd_output_fini(&b->o);
    redd_output_fini(&b->o2);
    fixture_end(&b->f);
    free(b->k);
    free(b->k2);
    free(b);
    return 0;
}

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

/* --- everything at random, against a model: the bytes that were taken, in order --- */

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

static size_t random_size(uint32_t *seed)
{
    switch (next_random(seed) % 8) {
    case 0:
        return LARGE - 1 + next_random(seed) % 3;
    case 1:
        return 1 + next_random(seed) % 70000;
    case 2:
        return 1 + next_random(seed) % 9000;
    default:
        return 1 + next_random(seed) % 300;
    }
}

static void random_script(sink *k, uint32_t *seed)
{
    k->n_takes = sizeof(k->takes) / sizeof(k->takes[0]);
    k->calls = 0;
    for (size_t i = 0; i < k->n_takes; i++) {
        uint32_t r = next_random(seed) % 4;
        k->takes[i] = r == 0   ? EVERYTHING
                      : r == 1 ? UV_EAGAIN
                               : (int)(next_random(seed) % (r == 2 ? 500 : 40000));
    }
}

static void random_step(redd_output *o, sink *k, size_t *at, uint32_t *seed)
{
    size_t waited = redd_output_queued(o), n = random_size(seed);
    switch (next_random(seed) % 10) {
    case 0:
        redd_output_cork(o);
        break;
    case 1: {
        int rc = redd_output_uncork(o);
        assert_int_equal(rc, redd_output_queued(o) ? UV_EAGAIN : 0);
        break;
    }
    case 2:
        (void)redd_output_flush(o);
        break;
    case 3:
        writable(k);
        break;
    case 4: {
        char *room = redd_output_reserve(o, n);
        if (!room)
            break;
        size_t used = n / 2;
        for (size_t i = 0; i < used; i++)
            room[i] = pattern(*at + i);
        redd_output_commit(o, used);
        *at += used;
        break;
    }
    default: {
        int rc = write_next(o, at, n);
        if (rc == REDD_ELIMIT)
            assert_true(waited > 0 && n <= 70000);
        else
            assert_int_equal(rc, 0);
    }
    }
    assert_int_equal(k->len + redd_output_queued(o), *at); /* nothing lost, nothing twice */
    assert_true(o->len - o->off <= o->max + 70000);
}

static void test_random(void **state)
{
    bench *b = *state;
    for (uint32_t seed = 1; seed <= 60; seed++) {
        uint32_t r = seed;
        size_t at = 0, at2 = 0;
        b->k->len = b->k2->len = 0;
        while (at < 300000 && at2 < 300000) {
            if (next_random(&r) % 20 == 0)
                random_script(b->k, &r);
            if (next_random(&r) % 20 == 0)
                random_script(b->k2, &r);
            if (next_random(&r) % 2)
                random_step(&b->o, b->k, &at, &r);
            else
                random_step(&b->o2, b->k2, &at2, &r);
        }
        b->k->n_takes = b->k2->n_takes = 0;
        writable(b->k);
        writable(b->k2);
        assert_int_equal(redd_output_uncork(&b->o), 0);
        assert_int_equal(redd_output_uncork(&b->o2), 0);
        expect_pattern(b->k, at);
        expect_pattern(b->k2, at2);
        assert_null(b->o.data);
        assert_null(b->o2.data);
    }
}

/** The n-th allocation fails: what was sent is always a prefix of what was taken, and the whole of
 *  it unless the output says that it failed. */
static bool scenario_without_memory(bench *b, uint32_t seed, uint64_t n)
{
    redd_output o;
    size_t at = 0;
    int error = 0;
    redd_output_init(&o, b->f.w, &b->k->base, 100000);
    b->k->len = 0;
    random_script(b->k, &seed);
    redd_counting_allocator_fail_at(b->f.counting, n, false);
    uint64_t failures = fixture_memory(&b->f).failures;
    for (int i = 0; i < 60 && error != UV_ENOMEM; i++) {
        if (next_random(&seed) % 4 == 0)
            redd_output_cork(&o);
        int rc = write_next(&o, &at, random_size(&seed));
        assert_true(rc == 0 || rc == REDD_ELIMIT || rc == UV_ENOMEM);
        if (next_random(&seed) % 4 == 0)
            writable(b->k);
        if (next_random(&seed) % 4 == 0)
            error = redd_output_uncork(&o);
        if (!o.error)
            assert_int_equal(b->k->len + redd_output_queued(&o), at);
    }
    bool failed = fixture_memory(&b->f).failures > failures;
    redd_counting_allocator_fail_at(b->f.counting, 0, false);
    b->k->n_takes = 0;
    writable(b->k);
    error = redd_output_uncork(&o);
    assert_true(error == 0 || (failed && error == UV_ENOMEM && o.error == UV_ENOMEM));
    if (error == 0)
        expect_pattern(b->k, at);
    else
        expect_pattern(b->k, b->k->len);
    redd_output_fini(&o);
    return failed;
}

static void test_random_without_memory(void **state)
{
    bench *b = *state;
    unsigned failed = 0;
    for (uint32_t seed = 1; seed <= 60; seed++)
        for (uint64_t n = 1; scenario_without_memory(b, seed, n); n++)
            failed++;
    assert_true(failed > 200);
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

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

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
        TEST(random),
        TEST(random_without_memory),
        TEST(over_a_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
