/* SPDX-License-Identifier: MIT */
/** Output: everything at random, against a model: the bytes that were taken, in order. */
#include "tests/unit/output_fixture.h"

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
    for (uint32_t seed = 1; seed <= 20; seed++) {
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
    for (uint32_t seed = 1; seed <= 15; seed++)
        for (uint64_t n = 1; scenario_without_memory(b, seed, n); n++)
            failed++;
    assert_true(failed > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(random),
        TEST(random_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
