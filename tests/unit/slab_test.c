/* SPDX-License-Identifier: MIT */
#include "runtime/base/slab.h"

#include "runtime/base/list.h"

#include <redd/error.h>

#include <uv.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static redd_counting_allocator *counting;
static redd__slab slab;
static int things[64];

static int setup(void **state)
{
    (void)state;
    assert_int_equal(redd_counting_allocator_new(NULL, &counting), 0);
    redd__slab_init(&slab, redd_counting_allocator_hook(counting), REDD__SLAB_MAX);
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
    redd__slab_fini(&slab);
    assert_int_equal(stats().bytes, 0);
    redd_counting_allocator_free(counting);
    return 0;
}

static uint32_t add(void *thing)
{
    uint32_t id = 0;
    assert_int_equal(redd__slab_add(&slab, thing, &id), 0);
    assert_true(id != 0);
    return id;
}

static void ids_name_values(void **state)
{
    (void)state;
    assert_int_equal(stats().blocks, 0);
    uint32_t ids[64];
    for (int i = 0; i < 64; i++)
        ids[i] = add(&things[i]);
    for (int i = 0; i < 64; i++)
        assert_ptr_equal(redd__slab_get(&slab, ids[i]), &things[i]);
    assert_int_equal(redd__slab_live(&slab), 64);
    assert_ptr_equal(redd__slab_take(&slab, ids[5]), &things[5]);
    assert_null(redd__slab_get(&slab, ids[5]));
    assert_null(redd__slab_take(&slab, ids[5]));
    assert_int_equal(redd__slab_live(&slab), 63);
}

static void zero_and_foreign_ids_are_invalid(void **state)
{
    (void)state;
    assert_null(redd__slab_get(&slab, 0));
    assert_null(redd__slab_get(&slab, 1));
    assert_null(redd__slab_get(&slab, UINT32_MAX));
    uint32_t id = add(&things[0]);
    assert_null(redd__slab_get(&slab, 0));
    assert_null(redd__slab_get(&slab, id + 1));
    assert_null(redd__slab_get(&slab, id | 0xfff00000U));
    assert_null(redd__slab_get(&slab, UINT32_MAX));
}

static void stale_ids_stay_stale(void **state)
{
    (void)state;
    /* One live entry at a time: four full rounds of generations never repeat an id. */
    enum { ROUNDS = 4 * 4096 + 10 };
    uint32_t first = add(&things[0]);
    assert_ptr_equal(redd__slab_take(&slab, first), &things[0]);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t id = add(&things[1]);
        assert_true(id != first);
        assert_null(redd__slab_get(&slab, first));
        assert_ptr_equal(redd__slab_take(&slab, id), &things[1]);
    }
    assert_true(stats().bytes <= 16 * 64); /* an index lasts for 4,096 uses */
}

static void retired_indices_come_back_when_nothing_else_is_left(void **state)
{
    (void)state;
    redd__slab_init(&slab, redd_counting_allocator_hook(counting), 2);
    for (int i = 0; i < 3 * 2 * 4096; i++) {
        uint32_t id = add(&things[0]);
        assert_true((id & REDD__SLAB_MAX) >= 1 && (id & REDD__SLAB_MAX) <= 2);
        assert_ptr_equal(redd__slab_take(&slab, id), &things[0]);
    }
}

static void the_maximum_is_held(void **state)
{
    (void)state;
    redd__slab_init(&slab, redd_counting_allocator_hook(counting), 20);
    uint32_t ids[20], id = 77;
    for (int i = 0; i < 20; i++)
        ids[i] = add(&things[i]);
    assert_int_equal(redd__slab_add(&slab, &things[20], &id), REDD_ELIMIT);
    assert_int_equal(id, 77);
    assert_ptr_equal(redd__slab_take(&slab, ids[7]), &things[7]);
    uint32_t again = add(&things[20]);
    assert_true(again != ids[7]);
    assert_int_equal(again & REDD__SLAB_MAX, ids[7] & REDD__SLAB_MAX);
    assert_null(redd__slab_get(&slab, ids[7]));
}

static void the_whole_index_range_is_usable(void **state)
{
    (void)state;
    uint32_t id;
    for (uint32_t i = 0; i < REDD__SLAB_MAX; i++)
        if (redd__slab_add(&slab, &things[i % 64], &id) != 0)
            fail();
    assert_int_equal(redd__slab_add(&slab, &things[0], &id), REDD_ELIMIT);
    assert_int_equal(redd__slab_live(&slab), REDD__SLAB_MAX);
}

static void failed_growth_changes_nothing(void **state)
{
    (void)state;
    uint32_t id, ids[64];
    int n = 0;
    redd_counting_allocator_fail_at(counting, 2, false);
    while (redd__slab_add(&slab, &things[n], &id) == 0)
        ids[n++] = id;
    assert_true(n > 0);
    assert_int_equal(redd__slab_live(&slab), n);
    for (int i = 0; i < n; i++)
        assert_ptr_equal(redd__slab_get(&slab, ids[i]), &things[i]);
    id = add(&things[n]);
    assert_ptr_equal(redd__slab_get(&slab, id), &things[n]);
}

static void walk_survives_changes(void **state)
{
    (void)state;
    uint32_t ids[10];
    for (int i = 0; i < 10; i++)
        ids[i] = add(&things[i]);
    int seen = 0;
    for (uint32_t id = 0; (id = redd__slab_next(&slab, id)) != 0; seen++) {
        assert_non_null(redd__slab_take(&slab, id));
        if (seen == 2)
            assert_ptr_equal(redd__slab_take(&slab, ids[8]), &things[8]);
    }
    assert_int_equal(seen, 9);
    assert_int_equal(redd__slab_live(&slab), 0);
    assert_int_equal(redd__slab_next(&slab, 0), 0);
}

/* --- the intrusive list --- */

typedef struct item {
    int number;
    redd__list link;
} item;

static int digits_of(redd__list *head)
{
    int digits = 0;
    for (redd__list *l = head->next; l != head; l = l->next)
        digits = digits * 10 + REDD__LIST_ITEM(l, item, link)->number;
    return digits;
}

static void lists_link_and_unlink(void **state)
{
    (void)state;
    redd__list a, b;
    item items[6];
    redd__list_init(&a);
    redd__list_init(&b);
    assert_null(redd__list_pop(&a));
    items[0].number = 9;
    redd__list_append(&a, &items[0].link);
    for (int i = 1; i <= 5; i++) {
        items[i].number = i;
        redd__list_append(i <= 3 ? &a : &b, &items[i].link);
    }
    assert_int_equal(digits_of(&a), 9123);
    redd__list_splice(&a, &b);
    assert_true(redd__list_empty(&b));
    redd__list_splice(&a, &b);
    assert_int_equal(digits_of(&a), 912345);
    redd__list_remove(&items[2].link);
    redd__list_remove(&items[2].link);
    assert_ptr_equal(redd__list_pop(&a), &items[0].link);
    assert_int_equal(digits_of(&a), 1345);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(ids_name_values),
        TEST(zero_and_foreign_ids_are_invalid),
        TEST(stale_ids_stay_stale),
        TEST(retired_indices_come_back_when_nothing_else_is_left),
        TEST(the_maximum_is_held),
        TEST(the_whole_index_range_is_usable),
        TEST(failed_growth_changes_nothing),
        TEST(walk_survives_changes),
        TEST(lists_link_and_unlink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
