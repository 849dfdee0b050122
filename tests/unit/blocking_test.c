/* SPDX-License-Identifier: MIT */
/** The blocking pool, and spawn_blocking on top of it. */
#include "tests/unit/blocking_fixture.h"

#include <pthread.h>

/* --- results --- */

static void jobs_run_elsewhere_and_end_here(void **state)
{
    (void)state;
    work w;
    bell b;
    redd_value out;
    work_init(&w, NULL, 42);
    bell_init(&b);
    redd_join *join = spawn(&w);
    assert_int_equal(redd_join_poll(join, &b.base, &out), REDD_PENDING);
    assert_int_equal(f.ex->vt->live(f.ex), 1);
    assert_true(uv_loop_alive(&f.loop));
    fixture_run(&f);
    assert_int_equal(b.rings, 1);
    assert_int_equal(b.refs, 0);
    assert_int_equal(f.ex->vt->live(f.ex), 0);
    assert_int_equal(f.idle_calls, 1);
    assert_int_equal(w.runs, 1);
    assert_int_equal(w.drops, 1);
    assert_false(on_this_thread(w.run_on));
    assert_true(on_this_thread(w.drop_on));
    redd_join_abort(join); /* a finished one keeps its result */
    assert_result(join, 42);
}

static void detached_results_are_dropped(void **state)
{
    (void)state;
    work w[2];
    work_init(&w[0], NULL, 0);
    work_init(&w[1], NULL, 1);
    redd_join_detach(spawn(&w[0]));
    assert_int_equal(redd_spawn_blocking(f.ex, &w[1].base, NULL), 0);
    fixture_run(&f);
    assert_int_equal(w[0].drops + w[1].drops, 2);
}

static void jobs_run_beside_each_other_up_to_the_threads(void **state)
{
    (void)state;
    gate g;
    work w[10];
    redd_join *joins[10];
    gate_init(&g);
    for (int i = 0; i < 10; i++) {
        work_init(&w[i], &g, i);
        joins[i] = spawn(&w[i]);
    }
    gate_await(&g, 4); /* four threads, or this never returns */
    int runs = 0;
    for (int i = 0; i < 10; i++)
        runs += w[i].runs;
    assert_int_equal(runs, 4);
    gate_open(&g);
    fixture_run(&f);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(w[i].drops, 1);
        assert_result(joins[i], i);
    }
    gate_fini(&g);
}

static void sequential_jobs_need_one_thread(void **state)
{
    (void)state;
    work w[20];
    for (int i = 0; i < 20; i++) {
        work_init(&w[i], NULL, i);
        redd_join *join = spawn(&w[i]);
        fixture_run(&f);
        assert_result(join, i);
        assert_true(uv_thread_equal(&w[i].run_on, &w[0].run_on) != 0);
    }
}

/* --- bounds --- */

static void a_full_queue_refuses(void **state)
{
    (void)state;
    gate g;
    work w[4];
    redd_join *joins[3], *refused = NULL;
    gate_init(&g);
    for (int i = 0; i < 4; i++)
        work_init(&w[i], &g, i);
    for (int i = 0; i < 3; i++)
        joins[i] = spawn(&w[i]); /* one runs, two wait */
    uint64_t blocks = fixture_stats(&f).blocks;
    for (int i = 0; i < 100; i++)
        assert_int_equal(redd_spawn_blocking(f.ex, &w[3].base, &refused), UV_EBUSY);
    assert_null(refused);
    assert_int_equal(fixture_stats(&f).blocks, blocks);
    assert_int_equal(f.ex->vt->live(f.ex), 3);
    gate_open(&g);
    fixture_run(&f);
    assert_int_equal(w[3].runs, 0);
    assert_int_equal(w[3].drops, 0);
    redd_join *join = spawn(&w[3]);
    fixture_run(&f);
    assert_result(join, 3);
    for (int i = 0; i < 3; i++)
        assert_result(joins[i], i);
    gate_fini(&g);
}

static void a_place_is_free_when_the_end_is_seen(void **state)
{
    (void)state;
    fixture_close_executor(&f);
    fixture_run(&f);
    redd__blocking_free(f.blocking);
    f.blocking = NULL;
    assert_int_equal(redd__blocking_new(f.alloc, 1, 0, &f.blocking), 0);
    assert_int_equal(fixture_executor(&f, 0), 0);
    for (int i = 0; i < 200; i++) {
        work w;
        work_init(&w, NULL, i);
        redd_join *join = spawn(&w); /* never UV_EBUSY */
        fixture_run(&f);
        assert_result(join, i);
    }
}

static void without_a_pool(void **state)
{
    (void)state;
    fixture_close_executor(&f);
    fixture_run(&f);
    redd__blocking *blocking = f.blocking;
    f.blocking = NULL;
    assert_int_equal(fixture_executor(&f, 0), 0);
    work w;
    work_init(&w, NULL, 0);
    assert_int_equal(redd_spawn_blocking(f.ex, &w.base, NULL), UV_ENOTSUP);
    assert_int_equal(w.drops, 0);
    fixture_close_executor(&f);
    fixture_run(&f);
    f.blocking = blocking;
    assert_int_equal(fixture_executor(&f, 0), 0);
}

static void failures_take_nothing(void **state)
{
    (void)state;
    work w;
    redd_join *join = NULL;
    redd__blocking *other = NULL;
    work_init(&w, NULL, 0);
    redd_counting_allocator_fail_at(f.counting, 1, false);
    assert_int_equal(redd_spawn_blocking(f.ex, &w.base, &join), UV_ENOMEM);
    assert_null(join);
    for (uint64_t n = 1; n <= 2; n++) {
        redd_counting_allocator_fail_at(f.counting, n, false);
        assert_int_equal(redd__blocking_new(f.alloc, 1, 1, &other), UV_ENOMEM);
    }
    redd_executor *ex = f.ex;
    probe hold; /* keeps the closed executor's memory */
    bell b;
    redd_value out;
    redd_join *held;
    probe_init(&hold, NULL);
    assert_int_equal(redd_spawn(ex, &hold.base, &held), 0);
    fixture_close_executor(&f);
    assert_int_equal(redd_spawn_blocking(ex, &w.base, &join), REDD_ECLOSED);
    assert_int_equal(w.runs + w.drops, 0);
    fixture_run(&f);
    bell_init(&b);
    assert_int_equal(redd_join_poll(held, &b.base, &out), REDD_READY);
    redd_join_detach(held);
}

/** A stack that is larger than the address space makes every creation fail. */
static void a_thread_that_cannot_be_made_is_reported(void **state)
{
    (void)state;
    pthread_attr_t before, huge;
    assert_int_equal(pthread_getattr_default_np(&before), 0);
    assert_int_equal(pthread_attr_init(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 50), 0);
    if (pthread_setattr_default_np(&huge) != 0)
        skip();
    work w[2];
    redd_join *join = NULL;
    work_init(&w[0], NULL, 0);
    work_init(&w[1], NULL, 1);
    int rc = redd_spawn_blocking(f.ex, &w[0].base, &join);
    assert_int_equal(pthread_setattr_default_np(&before), 0);
    (void)pthread_attr_destroy(&huge);
    (void)pthread_attr_destroy(&before);
    assert_true(rc < 0 && rc != UV_EBUSY);
    assert_null(join);
    assert_int_equal(w[0].drops, 0);
    assert_int_equal(f.ex->vt->live(f.ex), 0);
    join = spawn(&w[1]);
    fixture_run(&f);
    assert_result(join, 1);
}

/* --- libuv's own pool --- */

static int libuv_works_done;

static void libuv_work(uv_work_t *req)
{
    (void)req;
}

static void on_libuv_work(uv_work_t *req, int status)
{
    (void)req;
    assert_int_equal(status, 0);
    libuv_works_done++;
}

static void stuck_jobs_do_not_stop_libuv_s_pool(void **state)
{
    (void)state;
    gate g;
    work w[4];
    redd_join *joins[4];
    uv_work_t requests[8];
    gate_init(&g);
    for (int i = 0; i < 4; i++) {
        work_init(&w[i], &g, i);
        joins[i] = spawn(&w[i]);
    }
    gate_await(&g, 4);
    libuv_works_done = 0;
    for (int i = 0; i < 8; i++)
        assert_int_equal(uv_queue_work(&f.loop, &requests[i], libuv_work, on_libuv_work), 0);
    while (libuv_works_done < 8)
        (void)uv_run(&f.loop, UV_RUN_ONCE);
    for (int i = 0; i < 4; i++)
        assert_int_equal(w[i].drops, 0); /* still stuck */
    gate_open(&g);
    fixture_run(&f);
    for (int i = 0; i < 4; i++)
        assert_result(joins[i], i);
    gate_fini(&g);
}

int main(void)
{
#define TEST(name)   cmocka_unit_test_setup_teardown(name, setup, teardown)
#define SINGLE(name) cmocka_unit_test_setup_teardown(name, setup_single, teardown)
    const struct CMUnitTest tests[] = {
        TEST(jobs_run_elsewhere_and_end_here),
        TEST(detached_results_are_dropped),
        TEST(jobs_run_beside_each_other_up_to_the_threads),
        TEST(sequential_jobs_need_one_thread),
        SINGLE(a_full_queue_refuses),
        SINGLE(a_place_is_free_when_the_end_is_seen),
        TEST(without_a_pool),
        TEST(failures_take_nothing),
        TEST(a_thread_that_cannot_be_made_is_reported),
        TEST(stuck_jobs_do_not_stop_libuv_s_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
