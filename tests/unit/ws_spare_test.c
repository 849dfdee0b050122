/* SPDX-License-Identifier: MIT */
/** The allocator that keeps large blocks: contents, reuse, bounds, failures. */
#include "ext/websocket/spare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

typedef struct fixture {
    redd_counting_allocator *counting;
    redd__ws_spare spare;
    const redd_allocator *a;
} fixture;

static void begin(fixture *f)
{
    assert_int_equal(redd_counting_allocator_new(NULL, &f->counting), 0);
    redd__ws_spare_init(&f->spare, redd_counting_allocator_hook(f->counting));
    f->a = &f->spare.hook;
}

static redd_allocator_stats stats(const fixture *f)
{
    redd_allocator_stats s;
    redd_counting_allocator_stats(f->counting, &s);
    return s;
}

static void end(fixture *f)
{
    redd__ws_spare_release(&f->spare);
    assert_int_equal(stats(f).blocks, 0);
    assert_int_equal(stats(f).bytes, 0);
    redd_counting_allocator_free(f->counting);
}

/* A block that grows and shrinks over all borders keeps its content. */
static void contents_move(void **state)
{
    (void)state;
    static const size_t sizes[] = {100,       127 * KIB, 128 * KIB,     129 * KIB, 256 * KIB,
                                   1 * MIB,   5 * MIB,   5 * MIB + 100, 40 * MIB,  1 * MIB,
                                   130 * KIB, 100 * KIB, 64 * KIB,      300 * KIB, 10};
    fixture f;
    begin(&f);
    for (int round = 0; round < 3; round++) {
        size_t old = 0;
        char *p = NULL;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t both = old < sizes[i] ? old : sizes[i];
            p = f.a->resize(f.a, p, old, sizes[i]);
            assert_non_null(p);
            for (size_t k = 0; k < both; k += 1 + both / 50)
                assert_int_equal((unsigned char)p[k], (i - 1 + k) & 0xff);
            for (size_t k = 0; k < sizes[i]; k++)
                p[k] = (char)(i + k);
            old = sizes[i];
        }
        redd_free(f.a, p, old);
        assert_true(f.spare.bytes <= REDD__WS_SPARE_BYTES);
    }
    end(&f);
}

static void blocks_come_back(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    void *p = redd_alloc(f.a, 700 * KIB);
    redd_free(f.a, p, 700 * KIB);
    uint64_t before = stats(&f).allocations;
    void *q = redd_alloc(f.a, 1 * MIB); /* of the same class */
    assert_ptr_equal(p, q);
    redd_free(f.a, q, 1 * MIB);
    assert_int_equal(stats(&f).allocations, before);
    void *small = redd_alloc(f.a, 1 * KIB);
    redd_free(f.a, small, 1 * KIB);
    assert_int_equal(stats(&f).blocks, 1); /* the one that is kept */
    end(&f);
}

static void little_is_kept(void **state)
{
    (void)state;
    enum { N = 100 };
    fixture f;
    begin(&f);
    void *p[N];
    for (size_t round = 0; round < 2; round++) {
        size_t size = round ? 128 * KIB : 1 * MIB;
        for (int i = 0; i < N; i++)
            assert_non_null(p[i] = redd_alloc(f.a, size));
        for (int i = 0; i < N; i++)
            redd_free(f.a, p[i], size);
        assert_true(f.spare.bytes <= REDD__WS_SPARE_BYTES && f.spare.n <= REDD__WS_SPARE_BLOCKS);
        assert_int_equal(stats(&f).bytes, f.spare.bytes);
    }
    end(&f);
}

static void a_failed_growth_changes_nothing(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    for (size_t from = 64 * KIB; from <= 256 * KIB; from *= 4) {
        char *p = redd_alloc(f.a, from);
        memset(p, 'c', from);
        redd_counting_allocator_fail_at(f.counting, 1, false);
        assert_null(f.a->resize(f.a, p, from, 2 * MIB));
        assert_int_equal(p[from - 1], 'c');
        redd_free(f.a, p, from);
    }
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_move),
        cmocka_unit_test(blocks_come_back),
        cmocka_unit_test(little_is_kept),
        cmocka_unit_test(a_failed_growth_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
