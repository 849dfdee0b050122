/* SPDX-License-Identifier: MIT */
/** Blocking jobs that are aborted, abandoned, or outlive their worker. */
#include "tests/unit/blocking_fixture.h"

/* --- abort --- */

static void a_job_that_has_not_begun_is_dropped_at_once(void **state)
{
    (void)state;
    gate g;
    work running, waiting;
    bell b;
    redd_value out;
    gate_init(&g);
    bell_init(&b);
    work_init(&running, &g, 1);
    work_init(&waiting, NULL, 2);
    redd_join *first = spawn(&running), *second = spawn(&waiting);
    gate_await(&g, 1);
    assert_int_equal(redd_join_poll(second, &b.base, &out), REDD_PENDING);
    redd_join_abort(second);
    redd_join_abort(second);
    assert_int_equal(waiting.drops, 1);
    assert_true(on_this_thread(waiting.drop_on));
    assert_int_equal(b.rings, 1);
    assert_int_equal(f.ex->vt->live(f.ex), 1);
    assert_canceled(second);
    gate_open(&g);
    fixture_run(&f);
    assert_int_equal(waiting.runs, 0);
    assert_int_equal(waiting.drops, 1);
    assert_result(first, 1);
    gate_fini(&g);
}

static void jobs_are_withdrawn_from_any_place_in_the_queue(void **state)
{
    (void)state;
    gate g;
    work running, waiting[5];
    redd_join *joins[5];
    gate_init(&g);
    fixture_fini(&f);
    assert_int_equal(setup_pool(1, 5), 0);
    work_init(&running, &g, 0);
    redd_join_detach(spawn(&running));
    gate_await(&g, 1);
    for (int i = 0; i < 5; i++) {
        work_init(&waiting[i], NULL, i);
        joins[i] = spawn(&waiting[i]);
    }
    redd_join_abort(joins[2]);
    redd_join_abort(joins[0]);
    redd_join_abort(joins[4]);
    gate_open(&g);
    fixture_run(&f);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(waiting[i].runs, i % 2);
        assert_int_equal(waiting[i].drops, 1);
        if (i % 2)
            assert_result(joins[i], i);
        else
            assert_canceled(joins[i]);
    }
    gate_fini(&g);
}

/** Keeps a loop without live tasks turning until a job was dropped. */
static void on_tick(uv_timer_t *t)
{
    static int ticks;
    work *w = t->data;
    if (atomic_load(&w->drops) > 0)
        uv_close((uv_handle_t *)t, NULL);
    else if (++ticks > 20000)
        fail_msg("the job was not dropped within 20 seconds");
}

static void run_until_dropped(work *w)
{
    uv_timer_t tick;
    uv_timer_init(&f.loop, &tick);
    tick.data = w;
    uv_timer_start(&tick, on_tick, 1, 1);
    fixture_run(&f);
}

static void a_job_that_runs_is_abandoned(void **state)
{
    (void)state;
    gate g;
    work w;
    bell b;
    redd_value out;
    gate_init(&g);
    bell_init(&b);
    work_init(&w, &g, 1);
    redd_join *join = spawn(&w);
    gate_await(&g, 1);
    assert_int_equal(redd_join_poll(join, &b.base, &out), REDD_PENDING);
    redd_join_abort(join);
    assert_int_equal(b.rings, 1);
    assert_canceled(join); /* at once */
    assert_int_equal(f.ex->vt->live(f.ex), 0);
    assert_int_equal(w.drops, 0);
    fixture_run(&f); /* nothing keeps the loop alive */
    assert_int_equal(w.drops, 0);
    gate_open(&g);
    run_until_dropped(&w);
    assert_int_equal(w.runs, 1);
    assert_int_equal(w.drops, 1);
    assert_true(on_this_thread(w.drop_on)); /* and the teardown counts the result's bytes */
    gate_fini(&g);
}

static void a_job_that_outlives_its_worker_is_dropped_on_the_pool_s_thread(void **state)
{
    (void)state;
    gate g;
    work running[2], waiting;
    redd_join *joins[3];
    gate_init(&g);
    fixture_close_executor(&f);
    fixture_run(&f);
    redd__blocking_free(f.blocking);
    assert_int_equal(redd__blocking_new(f.alloc, 2, 4, &f.blocking), 0);
    assert_int_equal(fixture_executor(&f, 0), 0);
    for (int i = 0; i < 2; i++) {
        work_init(&running[i], &g, i);
        joins[i] = spawn(&running[i]);
    }
    gate_await(&g, 2);
    work_init(&waiting, NULL, 2);
    joins[2] = spawn(&waiting);
    redd_join_detach(joins[0]);
    fixture_close_executor(&f);
    assert_int_equal(waiting.drops, 1);
    fixture_run(&f);
    assert_int_equal(f.closed, 2);
    assert_canceled(joins[1]);
    assert_canceled(joins[2]);
    assert_int_equal(running[0].drops + running[1].drops, 0);
    gate_open(&g);
    redd__blocking_free(f.blocking); /* waits for them */
    f.blocking = NULL;
    assert_int_equal(waiting.runs, 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(running[i].drops, 1);
        assert_true(uv_thread_equal(&running[i].drop_on, &running[i].run_on) != 0);
    }
    gate_fini(&g);
}

static void abort_all_counts_jobs(void **state)
{
    (void)state;
    gate g;
    work running, waiting[3];
    redd_join *join;
    gate_init(&g);
    work_init(&running, &g, 0);
    join = spawn(&running);
    gate_await(&g, 1);
    for (int i = 0; i < 2; i++) {
        work_init(&waiting[i], NULL, i);
        redd_join_detach(spawn(&waiting[i]));
    }
    assert_int_equal(redd__executor_abort_all(f.ex), 3);
    assert_int_equal(f.ex->vt->live(f.ex), 0);
    assert_canceled(join);
    gate_open(&g);
    run_until_dropped(&running);
    for (int i = 0; i < 2; i++)
        assert_int_equal(waiting[i].drops, 1);
    gate_fini(&g);
}

static void aborts_race_with_ends(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        work w[4];
        redd_join *joins[4];
        for (int i = 0; i < 4; i++) {
            work_init(&w[i], NULL, i);
            joins[i] = spawn(&w[i]);
        }
        if (round % 2)
            fixture_turn(&f);
        for (int i = 0; i < 4; i++) {
            redd_join_abort(joins[i]);
            redd_join_detach(joins[i]);
        }
        for (int i = 0; i < 4; i++)
            run_until_dropped(&w[i]);
        for (int i = 0; i < 4; i++)
            assert_int_equal(w[i].drops, 1);
    }
}

int main(void)
{
#define TEST(name)   cmocka_unit_test_setup_teardown(name, setup, teardown)
#define SINGLE(name) cmocka_unit_test_setup_teardown(name, setup_single, teardown)
    const struct CMUnitTest tests[] = {
        SINGLE(a_job_that_has_not_begun_is_dropped_at_once),
        SINGLE(jobs_are_withdrawn_from_any_place_in_the_queue),
        TEST(a_job_that_runs_is_abandoned),
        TEST(a_job_that_outlives_its_worker_is_dropped_on_the_pool_s_thread),
        SINGLE(abort_all_counts_jobs),
        TEST(aborts_race_with_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
