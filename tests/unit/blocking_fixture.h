/* SPDX-License-Identifier: MIT */
/** An executor with a blocking pool, and jobs that wait at a gate and tell on which threads they
 * were. */
#ifndef REDD_TESTS_BLOCKING_FIXTURE_H
#define REDD_TESTS_BLOCKING_FIXTURE_H

#include "tests/unit/task_fixture.h"

#include <stdatomic.h>

static fixture f;

static inline int setup_pool(unsigned threads, unsigned queue)
{
    fixture_init(&f);
    assert_int_equal(redd__blocking_new(f.alloc, threads, queue, &f.blocking), 0);
    return fixture_executor(&f, 0);
}

static inline int setup(void **state)
{
    (void)state;
    return setup_pool(4, 64);
}

static inline int setup_single(void **state)
{
    (void)state;
    return setup_pool(1, 2);
}

static inline int teardown(void **state)
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

static inline void gate_init(gate *g)
{
    memset(g, 0, sizeof(*g));
    assert_int_equal(uv_mutex_init(&g->lock), 0);
    assert_int_equal(uv_cond_init(&g->changed), 0);
}

static inline void gate_fini(gate *g)
{
    uv_cond_destroy(&g->changed);
    uv_mutex_destroy(&g->lock);
}

static inline void gate_pass(gate *g)
{
    uv_mutex_lock(&g->lock);
    g->waiting++;
    uv_cond_broadcast(&g->changed);
    while (!g->open)
        uv_cond_wait(&g->changed, &g->lock);
    uv_mutex_unlock(&g->lock);
}

/** Returns when `n` jobs have come to the gate. */
static inline void gate_await(gate *g, int n)
{
    uv_mutex_lock(&g->lock);
    while (g->waiting < n)
        uv_cond_wait(&g->changed, &g->lock);
    uv_mutex_unlock(&g->lock);
}

static inline void gate_open(gate *g)
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

static inline redd_value work_run(redd_job *j)
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

static inline void work_drop(redd_job *j)
{
    work *w = (work *)j;
    w->drop_on = uv_thread_self();
    atomic_fetch_add(&w->drops, 1);
}

static const redd_job_vt work_vt = {"work", work_run, work_drop};

static inline void work_init(work *w, gate *g, int number)
{
    memset(w, 0, sizeof(*w));
    w->base.vt = &work_vt;
    w->gate = g;
    w->number = number;
}

static inline redd_join *spawn(work *w)
{
    redd_join *join = NULL;
    assert_int_equal(redd_spawn_blocking(f.ex, &w->base, &join), 0);
    return join;
}

static inline bool on_this_thread(uv_thread_t thread)
{
    uv_thread_t self = uv_thread_self();
    return uv_thread_equal(&thread, &self) != 0;
}

static inline void assert_result(redd_join *join, int number)
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

static inline void assert_canceled(redd_join *join)
{
    bell b;
    redd_value out = redd_value_undefined();
    bell_init(&b);
    assert_int_equal(redd_join_poll(join, &b.base, &out), REDD_READY);
    assert_int_equal(out.kind, REDD_ERROR);
    assert_int_equal(out.as.i32, UV_ECANCELED);
    redd_join_detach(join);
}

#endif
