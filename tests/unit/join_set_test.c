/* SPDX-License-Identifier: MIT */
#include "tests/unit/task_fixture.h"

static fixture f;
static redd_join_set *set;

static int setup(void **state)
{
    (void)state;
    fixture_init(&f);
    assert_int_equal(fixture_executor(&f, 0), 0);
    assert_int_equal(redd_join_set_new(f.ex, f.alloc, &set), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    redd_join_set_free(set);
    fixture_fini(&f);
    return 0;
}

/** Ends what is left, while the test's probes are still there. */
static void free_set(void)
{
    redd_join_set_free(set);
    set = NULL;
    fixture_run(&f);
}

static void spawn(probe *p)
{
    assert_int_equal(redd_join_set_spawn(set, &p->base), 0);
}

/** Takes the next result, which must be there; errors as negative numbers. */
static int take(void)
{
    bell b;
    redd_value out = redd_value_undefined();
    bell_init(&b);
    assert_int_equal(redd_join_set_poll_next(set, &b.base, &out), REDD_READY);
    assert_int_equal(b.refs, 0);
    return out.as.i32;
}

static void assert_nothing_ended(void)
{
    bell b;
    redd_value out;
    bell_init(&b);
    assert_int_equal(redd_join_set_poll_next(set, &b.base, &out), REDD_PENDING);
    /* The bell is replaced, so that the set holds nothing of this stack. */
    static bell keep;
    bell_init(&keep);
    assert_int_equal(redd_join_set_poll_next(set, &keep.base, &out), REDD_PENDING);
    assert_int_equal(b.refs, 0);
}

static void results_come_in_the_order_of_the_ends(void **state)
{
    (void)state;
    probe p[4];
    for (int i = 0; i < 4; i++) {
        probe_init(&p[i], body_second_time);
        p[i].number = i;
        spawn(&p[i]);
    }
    assert_int_equal(redd_join_set_len(set), 4);
    fixture_turn(&f);
    assert_nothing_ended();
    const int order[] = {2, 0, 3, 1};
    for (int i = 0; i < 4; i++)
        redd_waker_wake(p[order[i]].waker);
    fixture_run(&f);
    assert_int_equal(redd_join_set_len(set), 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(take(), order[i]);
    assert_int_equal(redd_join_set_len(set), 0);
    assert_nothing_ended();
    for (int i = 0; i < 4; i++)
        assert_int_equal(p[i].drops, 1);
}

static void polled_empty_the_next_spawn_wakes(void **state)
{
    (void)state;
    bell b;
    probe p[2];
    redd_value out;
    bell_init(&b);
    assert_int_equal(redd_join_set_poll_next(set, &b.base, &out), REDD_PENDING);
    probe_init(&p[0], NULL);
    p[0].result = redd_value_i32(1);
    spawn(&p[0]);
    assert_int_equal(b.rings, 1);
    assert_int_equal(redd_join_set_poll_next(set, &b.base, &out), REDD_PENDING);
    probe_init(&p[1], body_pending);
    spawn(&p[1]); /* not empty: nothing new to see */
    assert_int_equal(b.rings, 1);
    fixture_turn(&f);
    assert_int_equal(b.rings, 2);
    assert_int_equal(b.refs, 0);
    assert_int_equal(take(), 1);
    free_set();
    assert_int_equal(p[1].drops, 1);
}

/** A loop over the set, in a task of its own. */
static redd_poll body_collect(probe *p, redd_waker *waker, redd_value *out)
{
    redd_value one = redd_value_undefined();
    while (redd_join_set_poll_next(set, waker, &one) == REDD_READY)
        p->number += one.as.i32;
    if (p->number < 6)
        return REDD_PENDING;
    *out = redd_value_i32(p->number);
    return REDD_READY;
}

static void a_task_collects(void **state)
{
    (void)state;
    probe collector, p[3];
    redd_join *join;
    probe_init(&collector, body_collect);
    assert_int_equal(redd_spawn(f.ex, &collector.base, &join), 0);
    fixture_turn(&f);
    for (int i = 0; i < 3; i++) {
        probe_init(&p[i], NULL);
        p[i].result = redd_value_i32(i + 1);
        spawn(&p[i]);
        fixture_turn(&f);
    }
    fixture_run(&f);
    assert_int_equal(collector.number, 6);
    assert_int_equal(collector.drops, 1);
    redd_join_detach(join);
}

static void abort_all_ends_with_errors(void **state)
{
    (void)state;
    probe p[4];
    for (int i = 0; i < 4; i++) {
        probe_init(&p[i], i == 1 ? NULL : body_pending);
        p[i].result = redd_value_i32(i);
        if (i < 3)
            spawn(&p[i]);
    }
    fixture_turn(&f);
    spawn(&p[3]); /* never polled */
    redd_join_set_abort_all(set);
    redd_join_set_abort_all(set);
    for (int i = 0; i < 4; i++)
        assert_int_equal(p[i].drops, i == 1);
    fixture_run(&f);
    assert_int_equal(take(), 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(take(), UV_ECANCELED);
    assert_int_equal(redd_join_set_len(set), 0);
    assert_int_equal(p[3].polls, 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(p[i].drops, 1);
}

static probe spawned_by_drop;

static void drop_spawn(probe *p)
{
    (void)p;
    if (spawned_by_drop.base.vt)
        return;
    probe_init(&spawned_by_drop, body_pending);
    spawn(&spawned_by_drop);
}

static redd_poll body_spawn_and_abort_all(probe *p, redd_waker *waker, redd_value *out)
{
    probe *more = p->user;
    for (int i = 0; i < 3; i++)
        spawn(&more[i]);
    redd_join_set_abort_all(set);
    spawn(&more[3]); /* after the abort: lives */
    return body_pending(p, waker, out);
}

static void abort_all_while_tasks_spawn(void **state)
{
    (void)state;
    probe p, more[4];
    memset(&spawned_by_drop, 0, sizeof(spawned_by_drop));
    probe_init(&p, body_spawn_and_abort_all);
    p.user = more;
    p.on_drop = drop_spawn;
    for (int i = 0; i < 4; i++)
        probe_init(&more[i], body_pending);
    spawn(&p);
    for (int i = 0; i < 4; i++)
        fixture_turn(&f);
    assert_int_equal(p.drops, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(more[i].drops, 1);
    assert_int_equal(more[3].polls, 1);
    assert_int_equal(more[3].drops, 0);
    assert_int_equal(spawned_by_drop.polls, 1);
    assert_int_equal(spawned_by_drop.drops, 0);
    assert_int_equal(redd_join_set_len(set), 6);
    free_set();
    assert_int_equal(more[3].drops, 1);
    assert_int_equal(spawned_by_drop.drops, 1);
}

static void free_aborts_and_drops(void **state)
{
    (void)state;
    probe p[3];
    for (int i = 0; i < 3; i++)
        probe_init(&p[i], i == 0 ? NULL : body_pending);
    redd_bytes *text;
    assert_int_equal(redd_bytes_copy(f.alloc, redd_slice_str("not taken"), &text), 0);
    p[0].result = redd_value_string(text);
    spawn(&p[0]);
    spawn(&p[1]);
    fixture_turn(&f);
    spawn(&p[2]);
    assert_int_equal(redd_join_set_len(set), 3);
    free_set();
    assert_int_equal(p[2].polls, 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(p[i].drops, 1);
}

static void drop_free_set(probe *p)
{
    (void)p;
    redd_join_set_free(set);
    set = NULL;
}

static void free_inside_a_drop_of_the_set(void **state)
{
    (void)state;
    for (int ready = 0; ready < 2; ready++) {
        if (!set)
            assert_int_equal(redd_join_set_new(f.ex, f.alloc, &set), 0);
        probe p, other;
        probe_init(&p, ready ? NULL : body_pending);
        p.on_drop = drop_free_set;
        probe_init(&other, body_pending);
        spawn(&other);
        spawn(&p);
        fixture_turn(&f);
        if (!ready)
            redd_join_set_abort_all(set);
        fixture_run(&f);
        assert_null(set);
        assert_int_equal(p.drops, 1);
        assert_int_equal(other.drops, 1);
    }
}

static void the_executor_may_close_first(void **state)
{
    (void)state;
    probe p;
    probe_init(&p, body_pending);
    spawn(&p);
    fixture_turn(&f);
    fixture_close_executor(&f);
    assert_int_equal(p.drops, 1);
    probe late;
    probe_init(&late, NULL);
    assert_int_equal(redd_join_set_spawn(set, &late.base), REDD_ECLOSED);
    assert_int_equal(late.drops, 0);
    fixture_run(&f);
    assert_int_equal(take(), UV_ECANCELED);
}

static void failed_allocations_take_nothing(void **state)
{
    (void)state;
    redd_join_set *other = NULL;
    redd_counting_allocator_fail_at(f.counting, 1, false);
    assert_int_equal(redd_join_set_new(f.ex, f.alloc, &other), UV_ENOMEM);
    for (uint64_t n = 1; n <= 2; n++) {
        probe p;
        probe_init(&p, NULL);
        redd_counting_allocator_fail_at(f.counting, n, false);
        assert_int_equal(redd_join_set_spawn(set, &p.base), UV_ENOMEM);
        assert_int_equal(p.drops, 0);
        assert_int_equal(redd_join_set_len(set), 0);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(results_come_in_the_order_of_the_ends),
        TEST(polled_empty_the_next_spawn_wakes),
        TEST(a_task_collects),
        TEST(abort_all_ends_with_errors),
        TEST(abort_all_while_tasks_spawn),
        TEST(free_aborts_and_drops),
        TEST(free_inside_a_drop_of_the_set),
        TEST(the_executor_may_close_first),
        TEST(failed_allocations_take_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
