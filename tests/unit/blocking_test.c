/* SPDX-License-Identifier: MIT */
/** The blocking pool, and spawn_blocking on top of it. */
#include "tests/unit/task_fixture.h"

#include <stdatomic.h>

static fixture f;

static int setup_pool(unsigned threads, unsigned queue)
{
    fixture_init(&f);
    assert_int_equal(redd__blocking_new(f.alloc, threads, queue, &f.blocking), 0);
    return fixture_executor(&f, 0);
}

static int setup(void **state)
{
    (void)state;
    return setup_pool(4, 64);
}

static int setup_single(void **state)
{
    (void)state;
    return setup_pool(1, 2);
}

static int teardown(void **state)
{
    (void)state;
    fixture_fini(&f);
    return 0;
}

/* --- a gate that jobs wait at --- */

typedef struct gate {
    uv_mutex_t lock;
    uv_cond_t changed;
    bool open;
    int waiting; /* jobs that have reached it so far */
} gate;

static void gate_init(gate *g)
{
    memset(g, 0, sizeof(*g));
    assert_int_equal(uv_mutex_init(&g->lock), 0);
    assert_int_equal(uv_cond_init(&g->changed), 0);
}

static void gate_fini(gate *g)
{
    uv_cond_destroy(&g->changed);
    uv_mutex_destroy(&g->lock);
}

static void gate_pass(gate *g)
{
    uv_mutex_lock(&g->lock);
    g->waiting++;
    uv_cond_broadcast(&g->changed);
    while (!g->open)
        uv_cond_wait(&g->changed, &g->lock);
    uv_mutex_unlock(&g->lock);
}

/** Returns when `n` jobs have come to the gate. */
static void gate_await(gate *g, int n)
{
    uv_mutex_lock(&g->lock);
    while (g->waiting < n)
        uv_cond_wait(&g->changed, &g->lock);
    uv_mutex_unlock(&g->lock);
}

static void gate_open(gate *g)
{
    uv_mutex_lock(&g->lock);
    g->open = true;
    uv_cond_broadcast(&g->changed);
    uv_mutex_unlock(&g->lock);
}

/* --- a job that tells on which thread it was run and dropped --- */

typedef struct work {
    redd_job base;
    gate *gate; /* NULL: does not wait */
    int number;
    atomic_int runs, drops;
    uv_thread_t run_on, drop_on; /* read after `drops` was seen */
} work;

static redd_value work_run(redd_job *j)
{
    work *w = (work *)j;
    w->run_on = uv_thread_self();
    atomic_fetch_add(&w->runs, 1);
    if (w->gate)
        gate_pass(w->gate);
    redd_bytes *text = NULL; /* counted memory: a lost result fails the test */
    if (redd_bytes_copy(f.alloc, redd_slice_of(&w->number, sizeof(w->number)), &text) < 0)
        return redd_value_error(UV_ENOMEM);
    return redd_value_bytes(text);
}

static void work_drop(redd_job *j)
{
    work *w = (work *)j;
    w->drop_on = uv_thread_self();
    atomic_fetch_add(&w->drops, 1);
}

static const redd_job_vt work_vt = {"work", work_run, work_drop};

static void work_init(work *w, gate *g, int number)
{
    memset(w, 0, sizeof(*w));
    w->base.vt = &work_vt;
    w->gate = g;
    w->number = number;
}

static redd_join *spawn(work *w)
{
    redd_join *join = NULL;
    assert_int_equal(redd_spawn_blocking(f.ex, &w->base, &join), 0);
    return join;
}

static bool on_this_thread(uv_thread_t thread)
{
    uv_thread_t self = uv_thread_self();
    return uv_thread_equal(&thread, &self) != 0;
}

static void assert_result(redd_join *join, int number)
{
    bell b;
    redd_value out = redd_value_undefined();
    bell_init(&b);
    assert_int_equal(redd_join_poll(join, &b.base, &out), REDD_READY);
    assert_int_equal(out.kind, REDD_BYTES);
    assert_memory_equal(redd_bytes_slice(out.as.bytes).data, &number, sizeof(number));
    redd_value_drop(&out);
    redd_join_detach(join);
}

static void assert_canceled(redd_join *join)
{
    bell b;
    redd_value out = redd_value_undefined();
    bell_init(&b);
    assert_int_equal(redd_join_poll(join, &b.base, &out), REDD_READY);
    assert_int_equal(out.kind, REDD_ERROR);
    assert_int_equal(out.as.i32, UV_ECANCELED);
    redd_join_detach(join);
}

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
        SINGLE(a_job_that_has_not_begun_is_dropped_at_once),
        TEST(a_job_that_runs_is_abandoned),
        TEST(a_job_that_outlives_its_worker_is_dropped_on_the_pool_s_thread),
        SINGLE(abort_all_counts_jobs),
        TEST(aborts_race_with_ends),
        TEST(stuck_jobs_do_not_stop_libuv_s_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
