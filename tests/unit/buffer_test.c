/* SPDX-License-Identifier: MIT */
#include <redd/buffer.h>
#include <redd/error.h>

#include <uv.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static redd_counting_allocator *counting;
static redd_buffer buffer;

static int setup(void **state)
{
    (void)state;
    assert_int_equal(redd_counting_allocator_new(NULL, &counting), 0);
    redd_buffer_init(&buffer, redd_counting_allocator_hook(counting), 1000);
    return 0;
}

static redd_allocator_stats stats(void)
{
    redd_allocator_stats s;
    redd_counting_allocator_stats(counting, &s);
    return s;
}

static int teardown(void **state)
{
    (void)state;
    redd_buffer_release(&buffer);
    assert_int_equal(stats().bytes, 0);
    redd_counting_allocator_free(counting);
    return 0;
}

static void empty_holds_no_memory(void **state)
{
    (void)state;
    assert_int_equal(redd_buffer_append(&buffer, NULL, 0), 0);
    assert_int_equal(redd_buffer_reserve(&buffer, 0), 0);
    assert_int_equal(stats().blocks, 0);
    redd_buffer_consume(&buffer, 0);
    assert_int_equal(redd_buffer_append(&buffer, "x", 1), 0);
    redd_buffer_release(&buffer);
    assert_int_equal(stats().bytes, 0);
    assert_int_equal(redd_buffer_append(&buffer, "y", 1), 0);
    assert_true(redd_slice_equal(redd_buffer_slice(&buffer), redd_slice_str("y")));
}

static void appends_and_consumes(void **state)
{
    (void)state;
    assert_int_equal(redd_buffer_append(&buffer, "hello ", 6), 0);
    assert_int_equal(redd_buffer_append(&buffer, "world", 5), 0);
    redd_buffer_consume(&buffer, 4);
    assert_true(redd_slice_equal(redd_buffer_slice(&buffer), redd_slice_str("o world")));
    redd_buffer_consume(&buffer, 7);
    assert_int_equal(buffer.len, 0);
}

static void growth_is_geometric(void **state)
{
    (void)state;
    redd_buffer_release(&buffer);
    redd_buffer_init(&buffer, redd_counting_allocator_hook(counting), 1 << 20);
    for (int i = 0; i < 1 << 20; i++)
        assert_int_equal(redd_buffer_append(&buffer, "x", 1), 0);
    assert_true(stats().allocations <= 16);
    assert_true(buffer.cap <= 1 << 20);
}

static void never_beyond_the_maximum(void **state)
{
    (void)state;
    char bytes[1000] = {1};
    assert_int_equal(redd_buffer_append(&buffer, bytes, 600), 0);
    assert_int_equal(redd_buffer_append(&buffer, bytes, 401), REDD_ELIMIT);
    assert_int_equal(redd_buffer_reserve(&buffer, SIZE_MAX), REDD_ELIMIT);
    assert_int_equal(buffer.len, 600);
    assert_int_equal(redd_buffer_append(&buffer, bytes, 400), 0);
    assert_true(stats().bytes <= 1000);
    assert_int_equal(redd_buffer_reserve(&buffer, 1), REDD_ELIMIT);
    redd_buffer_consume(&buffer, 1);
    assert_int_equal(redd_buffer_reserve(&buffer, 1), 0);
}

static void huge_maximum_does_not_overflow(void **state)
{
    (void)state;
    redd_buffer_init(&buffer, redd_counting_allocator_hook(counting), SIZE_MAX);
    assert_int_equal(redd_buffer_append(&buffer, "abc", 3), 0);
    assert_int_equal(redd_buffer_reserve(&buffer, SIZE_MAX), REDD_ELIMIT);
    redd_counting_allocator_fail_at(counting, 1, true);
    assert_int_equal(redd_buffer_reserve(&buffer, SIZE_MAX - 3), UV_ENOMEM);
    assert_true(redd_slice_equal(redd_buffer_slice(&buffer), redd_slice_str("abc")));
}

static void failed_growth_changes_nothing(void **state)
{
    (void)state;
    assert_int_equal(redd_buffer_append(&buffer, "abc", 3), 0);
    size_t cap = buffer.cap;
    redd_counting_allocator_fail_at(counting, 1, false);
    assert_int_equal(redd_buffer_reserve(&buffer, cap), UV_ENOMEM);
    assert_int_equal(buffer.cap, cap);
    assert_true(redd_slice_equal(redd_buffer_slice(&buffer), redd_slice_str("abc")));
    assert_int_equal(redd_buffer_reserve(&buffer, cap), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(empty_holds_no_memory),
        TEST(appends_and_consumes),
        TEST(growth_is_geometric),
        TEST(never_beyond_the_maximum),
        TEST(huge_maximum_does_not_overflow),
        TEST(failed_growth_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
