/* SPDX-License-Identifier: MIT */
/** What keeps the loop alive, and how executors are closed and emptied. */
#include "tests/unit/task_fixture.h"

static fixture f;

static int setup(void **state)
{
    (void)state;
    fixture_init(&f);
    assert_int_equal(fixture_executor(&f, 0), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fixture_fini(&f);
    return 0;
}

static void spawn(probe *p)
{
    assert_int_equal(redd_spawn(f.ex, &p->base, NULL), 0);
}

/* --- the loop's life --- */

static void the_loop_lives_while_tasks_live(void **state)
{
    (void)state;
    assert_false(uv_loop_alive(&f.loop));
    probe p;
    probe_init(&p, body_second_time);
    spawn(&p);
    assert_true(uv_loop_alive(&f.loop));
    fixture_turn(&f);
    assert_true(uv_loop_alive(&f.loop));
    assert_int_equal(f.idle_calls, 0);
    redd_waker_wake(p.waker);
    fixture_turn(&f);
    assert_false(uv_loop_alive(&f.loop));
    assert_int_equal(f.idle_calls, 1);
    fixture_turn(&f);
    assert_int_equal(f.idle_calls, 1);
}

static void on_timer_end(uv_timer_t *timer)
{
    redd_join *join = timer->data;
    redd_join_abort(join);
    redd_join_detach(join);
    uv_close((uv_handle_t *)timer, NULL);
}

static void on_idle_follows_an_abort_from_a_callback(void **state)
{
    (void)state;
    probe p;
    redd_join *join;
    probe_init(&p, body_pending);
    assert_int_equal(redd_spawn(f.ex, &p.base, &join), 0);
    uv_timer_t timer;
    uv_timer_init(&f.loop, &timer);
    timer.data = join;
    uv_timer_start(&timer, on_timer_end, 1, 0);
    fixture_run(&f);
    assert_int_equal(p.drops, 1);
    assert_int_equal(f.idle_calls, 1);
}

static void on_check_abort_all(uv_check_t *check)
{
    assert_int_equal(redd__executor_abort_all(check->data), 1);
    uv_close((uv_handle_t *)check, NULL);
}

static void on_idle_follows_an_abort_of_all(void **state)
{
    (void)state;
    probe p;
    probe_init(&p, body_pending);
    spawn(&p);
    uv_check_t check;
    uv_check_init(&f.loop, &check);
    check.data = f.ex;
    uv_check_start(&check, on_check_abort_all);
    uv_idle_t idle; /* lets the loop reach its check phase */
    uv_idle_init(&f.loop, &idle);
    uv_close((uv_handle_t *)&idle, NULL);
    fixture_turn(&f);
    fixture_run(&f);
    assert_int_equal(p.drops, 1);
    assert_int_equal(f.idle_calls, 1);
}

static void closing_leaves_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        probe p;
        probe_init(&p, body_pending);
        spawn(&p);
        if (i % 2)
            fixture_turn(&f);
        fixture_close_executor(&f);
        assert_int_equal(p.drops, 1);
        assert_int_equal(f.closed, i);
        fixture_run(&f);
        assert_int_equal(f.closed, i + 1);
        assert_int_equal(fixture_stats(&f).blocks, 0);
        assert_int_equal(fixture_executor(&f, 0), 0);
    }
}

static redd_poll body_close(probe *p, redd_waker *waker, redd_value *out)
{
    redd_executor *ex = f.ex;
    redd_waker_wake(waker);
    fixture_close_executor(&f);
    redd_waker_wake(waker);
    assert_int_equal(p->drops, 0); /* never inside its own poll */
    probe extra;
    probe_init(&extra, NULL);
    assert_int_equal(redd_spawn(ex, &extra.base, NULL), REDD_ECLOSED);
    assert_int_equal(redd_spawn_now(ex, &extra.base, out, NULL), REDD_ECLOSED);
    assert_int_equal(extra.drops, 0);
    return p->number ? REDD_READY : REDD_PENDING;
}

static void closing_inside_a_poll(void **state)
{
    (void)state;
    for (int ready = 0; ready < 2; ready++) {
        probe p, other;
        redd_join *join;
        probe_init(&p, body_close);
        p.number = ready;
        probe_init(&other, body_pending);
        assert_int_equal(redd_spawn(f.ex, &p.base, &join), 0);
        spawn(&other);
        fixture_run(&f);
        assert_int_equal(p.drops, 1);
        assert_int_equal(other.polls, 0);
        assert_int_equal(other.drops, 1);
        bell b;
        redd_value out;
        bell_init(&b);
        assert_int_equal(redd_join_poll(join, &b.base, &out), REDD_READY);
        assert_int_equal(out.kind, ready ? REDD_UNDEFINED : REDD_ERROR);
        redd_join_detach(join); /* the last hold on the executor's memory */
        assert_int_equal(fixture_stats(&f).blocks, 0);
        assert_int_equal(fixture_executor(&f, 0), 0);
    }
}

static void drop_close(probe *p)
{
    (void)p;
    fixture_close_executor(&f);
}

static void closing_inside_a_drop(void **state)
{
    (void)state;
    probe p, other;
    probe_init(&p, NULL);
    p.on_drop = drop_close;
    probe_init(&other, body_pending);
    spawn(&p);
    spawn(&other);
    fixture_run(&f);
    assert_int_equal(p.drops, 1);
    assert_int_equal(other.drops, 1);
    assert_int_equal(f.closed, 1);
}

/* --- abort of all --- */

static probe extra_probes[8];
static int extra_spawned;

static void drop_spawn_more(probe *p)
{
    (void)p;
    if (extra_spawned == 8)
        return;
    probe *q = &extra_probes[extra_spawned++];
    probe_init(q, body_pending);
    q->on_drop = drop_spawn_more;
    if (extra_spawned % 2) {
        spawn(q);
    } else {
        redd_value out;
        assert_int_equal(redd_spawn_now(f.ex, &q->base, &out, NULL), 0);
    }
}

static void what_drops_spawn_is_dropped_too(void **state)
{
    (void)state;
    probe p;
    extra_spawned = 0;
    probe_init(&p, body_pending);
    p.on_drop = drop_spawn_more;
    spawn(&p);
    assert_int_equal(redd__executor_abort_all(f.ex), 9);
    assert_int_equal(f.ex->vt->live(f.ex), 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(extra_probes[i].drops, 1);
    fixture_run(&f);
    /* The executor goes on. */
    probe_init(&p, NULL);
    spawn(&p);
    fixture_run(&f);
    assert_int_equal(p.polls, 1);
}

static redd_poll body_abort_all(probe *p, redd_waker *waker, redd_value *out)
{
    (void)waker;
    (void)out;
    assert_int_equal(redd__executor_abort_all(f.ex), 2);
    assert_int_equal(p->drops, 0);
    return REDD_PENDING;
}

static void drop_abort_all(probe *p)
{
    (void)p;
    (void)redd__executor_abort_all(f.ex);
}

static void abort_all_inside_polls_and_drops(void **state)
{
    (void)state;
    probe p, other;
    probe_init(&p, body_abort_all);
    probe_init(&other, body_pending);
    spawn(&p);
    spawn(&other);
    fixture_run(&f);
    assert_int_equal(p.drops, 1);
    assert_int_equal(other.drops, 1);

    probe many[5];
    for (int i = 0; i < 5; i++) {
        probe_init(&many[i], i == 0 ? NULL : body_pending);
        many[i].on_drop = drop_abort_all;
        spawn(&many[i]);
    }
    fixture_run(&f);
    for (int i = 0; i < 5; i++)
        assert_int_equal(many[i].drops, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_loop_lives_while_tasks_live), TEST(on_idle_follows_an_abort_from_a_callback),
        TEST(on_idle_follows_an_abort_of_all), TEST(closing_leaves_nothing),
        TEST(closing_inside_a_poll),           TEST(closing_inside_a_drop),
        TEST(what_drops_spawn_is_dropped_too), TEST(abort_all_inside_polls_and_drops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
