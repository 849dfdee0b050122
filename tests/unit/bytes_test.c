/* SPDX-License-Identifier: MIT */
/* Counted bytes, and the values that own them. */
#include <redd/bytes.h>
#include <redd/value.h>

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

static uint64_t live_bytes(void)
{
    redd_allocator_stats s;
    redd_counting_allocator_stats(counting, &s);
    return s.bytes;
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(live_bytes(), 0);
    redd_counting_allocator_free(counting);
    return 0;
}

static void last_reference_frees(void **state)
{
    (void)state;
    redd_bytes *b;
    assert_int_equal(redd_bytes_copy(hook, redd_slice_str("hello"), &b), 0);
    assert_ptr_equal(redd_bytes_ref(b), b);
    redd_bytes_unref(b);
    assert_true(redd_slice_equal(redd_bytes_slice(b), redd_slice_str("hello")));
    redd_bytes_unref(b);
    assert_int_equal(live_bytes(), 0);
    redd_bytes_unref(NULL);
}

static void empty_bytes(void **state)
{
    (void)state;
    redd_bytes *b;
    assert_int_equal(redd_bytes_copy(hook, redd_slice_of(NULL, 0), &b), 0);
    assert_int_equal(redd_bytes_slice(b).len, 0);
    redd_bytes_unref(b);
}

static void sole_owner_writes_and_shortens(void **state)
{
    (void)state;
    redd_bytes *b;
    assert_int_equal(redd_bytes_new(hook, 100, &b), 0);
    memcpy(redd_bytes_data(b), "abcdef", 6);
    redd_bytes_truncate(b, 6);
    redd_bytes_truncate(b, 3);
    assert_true(redd_slice_equal(redd_bytes_slice(b), redd_slice_str("abc")));
    redd_bytes_unref(b); /* frees the size that was allocated: the teardown counts */
}

static void failures_are_reported(void **state)
{
    (void)state;
    redd_bytes *b = NULL;
    assert_int_equal(redd_bytes_new(hook, SIZE_MAX, &b), UV_ENOMEM);
    redd_counting_allocator_fail_at(counting, 1, false);
    assert_int_equal(redd_bytes_copy(hook, redd_slice_str("x"), &b), UV_ENOMEM);
    assert_null(b);
}

static void values_own_their_bytes(void **state)
{
    (void)state;
    redd_bytes *b;
    assert_int_equal(redd_bytes_copy(hook, redd_slice_str("x"), &b), 0);
    redd_value v = redd_value_string(b);
    redd_value w = redd_value_ref(v);
    redd_value_drop(&v);
    assert_int_equal(v.kind, REDD_UNDEFINED);
    redd_value_drop(&v);
    assert_true(redd_slice_equal(redd_bytes_slice(w.as.bytes), redd_slice_str("x")));
    redd_value_drop(&w);
    redd_value n = redd_value_i64(INT64_MIN);
    n = redd_value_ref(n);
    assert_true(n.as.i64 == INT64_MIN);
    redd_value_drop(&n);
}

static void kinds_have_names(void **state)
{
    (void)state;
    assert_string_equal(redd_kind_name(REDD_UNDEFINED), "undefined");
    assert_string_equal(redd_kind_name(REDD_U32), "u32");
    assert_string_equal(redd_kind_name(REDD_BYTES), "bytes");
    assert_string_equal(redd_kind_name(REDD_ERROR), "error");
    assert_string_equal(redd_kind_name((redd_kind)(REDD_ERROR + 1)), "?");
    for (int kind = REDD_UNDEFINED; kind <= REDD_ERROR; kind++)
        assert_string_not_equal(redd_kind_name((redd_kind)kind), "?");
}

enum { THREADS = 4, ROUNDS = 20000 };

static void share(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        redd_bytes *mine = redd_bytes_ref(arg);
        assert_int_equal(redd_bytes_slice(mine).len, 6);
        redd_bytes_unref(mine);
    }
    redd_bytes_unref(arg);
}

static void references_cross_threads(void **state)
{
    (void)state;
    redd_bytes *b;
    assert_int_equal(redd_bytes_copy(hook, redd_slice_str("shared"), &b), 0);
    uv_thread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(uv_thread_create(&threads[i], share, redd_bytes_ref(b)), 0);
    redd_bytes_unref(b); /* whichever thread is last frees */
    for (int i = 0; i < THREADS; i++)
        uv_thread_join(&threads[i]);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(last_reference_frees),           TEST(empty_bytes),
        TEST(sole_owner_writes_and_shortens), TEST(failures_are_reported),
        TEST(values_own_their_bytes),         TEST(kinds_have_names),
        TEST(references_cross_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
