/* SPDX-License-Identifier: MIT */
#include "runtime/base/pool.h"

#include <redd/alloc.h>

#include <string.h>
#include <uv.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static redd_counting_allocator *counting;
static const redd_allocator *hook;

static int setup(void **state)
{
    (void)state;
    assert_int_equal(redd_counting_allocator_new(NULL, &counting), 0);
    hook = redd_counting_allocator_hook(counting);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    redd_counting_allocator_free(counting);
    return 0;
}

static redd_allocator_stats stats(void)
{
    redd_allocator_stats s;
    redd_counting_allocator_stats(counting, &s);
    return s;
}

static void default_allocates_resizes_and_frees(void **state)
{
    (void)state;
    const redd_allocator *a = redd_allocator_default();
    char *p = redd_alloc_zero(a, 4);
    assert_non_null(p);
    assert_memory_equal(p, "\0\0\0\0", 4);
    p[0] = 'x';
    p = a->resize(a, p, 4, 4096);
    assert_non_null(p);
    assert_int_equal(p[0], 'x');
    redd_free(a, p, 4096);
    redd_free(a, NULL, 0);
}

static void strings_are_copied_and_terminated(void **state)
{
    (void)state;
    char *p = redd_alloc_string(hook, "abcdef", 3);
    assert_string_equal(p, "abc");
    assert_int_equal(stats().bytes, 4);
    redd_free(hook, p, 4);
    p = redd_alloc_string(hook, NULL, 0);
    assert_string_equal(p, "");
    redd_free(hook, p, 1);
    assert_int_equal(stats().bytes, 0);
    assert_null(redd_alloc_string(hook, "", SIZE_MAX));
}

static void counts_blocks_bytes_and_peak(void **state)
{
    (void)state;
    void *a = redd_alloc(hook, 100);
    void *b = redd_alloc(hook, 50);
    assert_int_equal(stats().bytes, 150);
    assert_int_equal(stats().blocks, 2);
    a = hook->resize(hook, a, 100, 300);
    b = hook->resize(hook, b, 50, 10);
    assert_int_equal(stats().bytes, 310);
    assert_int_equal(stats().blocks, 2);
    assert_int_equal(stats().peak_bytes, 350);
    assert_int_equal(stats().allocations, 3); /* shrinking is none */
    redd_free(hook, a, 300);
    redd_free(hook, b, 10);
    assert_int_equal(stats().bytes, 0);
    assert_int_equal(stats().blocks, 0);
    assert_int_equal(stats().peak_bytes, 350);
    assert_int_equal(stats().failures, 0);
}

static void fails_the_nth_once(void **state)
{
    (void)state;
    redd_counting_allocator_fail_at(counting, 2, false);
    void *a = redd_alloc(hook, 8);
    assert_non_null(a);
    assert_null(redd_alloc(hook, 8));
    void *b = redd_alloc(hook, 8);
    assert_non_null(b);
    assert_int_equal(stats().failures, 1);
    assert_int_equal(stats().allocations, 3);
    redd_free(hook, a, 8);
    redd_free(hook, b, 8);
}

static void sticky_failure_lasts_until_switched_off(void **state)
{
    (void)state;
    redd_counting_allocator_fail_at(counting, 1, true);
    assert_null(redd_alloc(hook, 8));
    assert_null(redd_alloc(hook, 8));
    redd_counting_allocator_fail_at(counting, 0, true);
    void *a = redd_alloc(hook, 8);
    assert_non_null(a);
    redd_free(hook, a, 8);
}

static void failed_growth_leaves_the_block(void **state)
{
    (void)state;
    char *a = redd_alloc(hook, 8);
    memcpy(a, "1234567", 8);
    redd_counting_allocator_fail_at(counting, 1, false);
    assert_null(hook->resize(hook, a, 8, 16));
    assert_string_equal(a, "1234567");
    assert_int_equal(stats().bytes, 8);
    /* Shrinking and freeing never fail by injection. */
    redd_counting_allocator_fail_at(counting, 1, true);
    a = hook->resize(hook, a, 8, 4);
    assert_non_null(a);
    redd_free(hook, a, 4);
    assert_int_equal(stats().blocks, 0);
}

static void pool_reuses_what_it_keeps(void **state)
{
    (void)state;
    redd_pool p;
    redd_pool_init(&p, hook, 32, 2);
    void *objects[3];
    for (int i = 0; i < 3; i++) {
        objects[i] = redd_pool_get(&p);
        memset(objects[i], i, 32);
    }
    for (int i = 0; i < 3; i++)
        redd_pool_put(&p, objects[i]);
    assert_int_equal(stats().blocks, 2); /* the third was beyond keep_max */
    uint64_t before = stats().allocations;
    for (int i = 0; i < 1000; i++) {
        void *a = redd_pool_get(&p), *b = redd_pool_get(&p);
        assert_ptr_not_equal(a, b);
        memset(a, 1, 32);
        memset(b, 2, 32);
        redd_pool_put(&p, a);
        redd_pool_put(&p, b);
    }
    assert_int_equal(stats().allocations, before);
    redd_pool_fini(&p);
    assert_int_equal(stats().bytes, 0);
}

static void pool_reports_failure(void **state)
{
    (void)state;
    redd_pool p;
    redd_pool_init(&p, hook, 32, 2);
    redd_counting_allocator_fail_at(counting, 1, false);
    assert_null(redd_pool_get(&p));
    void *object = redd_pool_get(&p);
    assert_non_null(object);
    redd_pool_put(&p, object);
    redd_pool_fini(&p);
}

#ifdef REDD_POOL_POISON
static void pool_poisons_free_objects(void **state)
{
    (void)state;
    redd_pool p;
    redd_pool_init(&p, hook, 32, 2);
    char *object = redd_pool_get(&p);
    assert_int_equal(__asan_address_is_poisoned(object), 0);
    redd_pool_put(&p, object);
    assert_int_equal(__asan_address_is_poisoned(object), 1);
    assert_int_equal(__asan_address_is_poisoned(object + 31), 1);
    assert_ptr_equal(redd_pool_get(&p), object);
    assert_int_equal(__asan_address_is_poisoned(object + 31), 0);
    redd_pool_put(&p, object);
    redd_pool_fini(&p);
}
#endif

enum { THREADS = 4, ROUNDS = 20000 };

static void churn(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        size_t size = (size_t)(i % 100) + 1;
        void *p = redd_alloc(hook, size);
        redd_free(hook, p, size);
    }
}

static void counting_is_safe_from_any_thread(void **state)
{
    (void)state;
    uv_thread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(uv_thread_create(&threads[i], churn, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        uv_thread_join(&threads[i]);
    assert_int_equal(stats().bytes, 0);
    assert_int_equal(stats().blocks, 0);
    assert_int_equal(stats().allocations, THREADS * ROUNDS);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(default_allocates_resizes_and_frees),
        TEST(strings_are_copied_and_terminated),
        TEST(counts_blocks_bytes_and_peak),
        TEST(fails_the_nth_once),
        TEST(sticky_failure_lasts_until_switched_off),
        TEST(failed_growth_leaves_the_block),
        TEST(pool_reuses_what_it_keeps),
        TEST(pool_reports_failure),
#ifdef REDD_POOL_POISON
        TEST(pool_poisons_free_objects),
#endif
        TEST(counting_is_safe_from_any_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
