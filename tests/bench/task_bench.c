/* SPDX-License-Identifier: MIT */
/** How fast the executor, the wheel and the pool are: operations per second and nanoseconds each,
 *  the median of five rounds. */
#include "runtime/task/executor.h"
#include "runtime/task/timers.h"

#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

enum { ROUNDS = 5, WAVE = 1000 };

static uv_loop_t loop;
static redd_executor *ex;
static redd__blocking *blocking;
static redd_timers *timers;

static void must(int rc)
{
    if (rc < 0) {
        (void)fprintf(stderr, "task_bench: %s\n", redd_error_text(rc));
        exit(1);
    }
}

/* --- futures --- */

static void drop_nothing(redd_future *f)
{
    (void)f;
}

static redd_poll poll_ready(redd_future *f, redd_waker *waker, redd_value *out)
{
    (void)f;
    (void)waker;
    *out = redd_value_i32(1);
    return REDD_READY;
}

static const redd_future_vt ready_vt = {"ready", poll_ready, drop_nothing};
static redd_future ready = {&ready_vt};

static void spawn_and_run(long n)
{
    for (long done = 0; done < n; done += WAVE) {
        for (int i = 0; i < WAVE; i++)
            must(redd_spawn(ex, &ready, NULL));
        (void)uv_run(&loop, UV_RUN_NOWAIT);
    }
}

static void spawn_now(long n)
{
    redd_value out;
    for (long i = 0; i < n; i++)
        must(redd_spawn_now(ex, &ready, &out, NULL));
}

/** Each wakes its peer and parks: one wake and one poll per step. */
typedef struct pinger {
    redd_future base;
    struct pinger *peer;
    redd_waker *waker;
    long left;
} pinger;

static redd_poll poll_pinger(redd_future *f, redd_waker *waker, redd_value *out)
{
    (void)out;
    pinger *p = (pinger *)f;
    redd_waker_fire(&p->peer->waker);
    if (p->left-- == 0)
        return REDD_READY;
    redd_waker_keep(&p->waker, waker);
    return REDD_PENDING;
}

static const redd_future_vt pinger_vt = {"pinger", poll_pinger, drop_nothing};

static void park_and_wake(long n)
{
    pinger p[2] = {{.base = {&pinger_vt}, .left = n / 2}, {.base = {&pinger_vt}, .left = n / 2}};
    p[0].peer = &p[1];
    p[1].peer = &p[0];
    must(redd_spawn(ex, &p[0].base, NULL));
    must(redd_spawn(ex, &p[1].base, NULL));
    (void)uv_run(&loop, UV_RUN_DEFAULT);
}

/** Asks another thread to wake it. */
typedef struct caller {
    redd_future base;
    redd_remote_waker *remote;
    uv_sem_t called;
    long left;  /* worker's thread */
    long calls; /* constant */
} caller;

static redd_poll poll_caller(redd_future *f, redd_waker *waker, redd_value *out)
{
    (void)out;
    caller *c = (caller *)f;
    if (!c->remote)
        must(redd_waker_remote(waker, &c->remote));
    if (c->left-- == 0)
        return REDD_READY;
    uv_sem_post(&c->called);
    return REDD_PENDING;
}

static const redd_future_vt caller_vt = {"caller", poll_caller, drop_nothing};

static void answer(void *arg)
{
    caller *c = arg;
    for (long n = c->calls; n > 0; n--) {
        uv_sem_wait(&c->called);
        redd_remote_waker_wake(c->remote);
    }
}

static void remote_round_trip(long n)
{
    caller c = {.base = {&caller_vt}, .left = n, .calls = n};
    uv_thread_t thread;
    must(uv_sem_init(&c.called, 0));
    must(uv_thread_create(&thread, answer, &c));
    must(redd_spawn(ex, &c.base, NULL));
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    must(uv_thread_join(&thread));
    redd_remote_waker_unref(c.remote);
    uv_sem_destroy(&c.called);
}

/* --- timers --- */

static void never(redd_timer *t, void *user)
{
    (void)t;
    (void)user;
}

/** Ten thousand connections whose timeouts are moved one after another. */
static void timer_start_stop(long n)
{
    enum { TIMERS = 10000 };
    static redd_timer t[TIMERS];
    for (int i = 0; i < TIMERS; i++)
        redd_timer_init(&t[i], timers, never, NULL);
    for (long i = 0; i < n; i++) {
        redd_timer *one = &t[i % TIMERS];
        redd_timer_stop(one);
        redd_timer_start(one, 10000 + (uint64_t)(i % 60000));
    }
    for (int i = 0; i < TIMERS; i++)
        redd_timer_stop(&t[i]);
}

/* --- blocking jobs --- */

static redd_value run_job(redd_job *j)
{
    (void)j;
    return redd_value_undefined();
}

static void drop_job(redd_job *j)
{
    (void)j;
}

static const redd_job_vt job_vt = {"job", run_job, drop_job};

static void blocking_round_trip(long n)
{
    redd_job job = {&job_vt};
    for (long i = 0; i < n; i++) {
        must(redd_spawn_blocking(ex, &job, NULL));
        (void)uv_run(&loop, UV_RUN_DEFAULT);
    }
}

static void blocking_batches(long n)
{
    redd_job job = {&job_vt};
    for (long done = 0; done < n; done += WAVE) {
        for (int i = 0; i < WAVE; i++)
            must(redd_spawn_blocking(ex, &job, NULL));
        (void)uv_run(&loop, UV_RUN_DEFAULT);
    }
}

/* --- the table --- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *name, void (*work)(long n), long n)
{
    double seconds[ROUNDS];
    work(n / 10 + WAVE);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t begin = uv_hrtime();
        work(n);
        seconds[i] = (double)(uv_hrtime() - begin) / 1e9;
    }
    qsort(seconds, ROUNDS, sizeof(seconds[0]), compare);
    double median = seconds[ROUNDS / 2];
    (void)printf("%-42s %12.0f /s %10.1f ns\n", name, (double)n / median, median * 1e9 / (double)n);
}

int main(int argc, char **argv)
{
    long scale = argc > 1 ? strtol(argv[1], NULL, 10) : 100; /* percent of the usual counts */
    if (scale <= 0)
        return 2;
    const redd_allocator *a = redd_allocator_default();
    must(uv_loop_init(&loop));
    must(redd__blocking_new(a, 2, 4096, &blocking));
    must(redd__timers_new(&loop, a, NULL, &timers));
    redd__executor_options options = {.loop = &loop, .alloc = a, .blocking = blocking};
    must(redd__executor_new(&options, &ex));

    measure("spawn and run a ready future", spawn_and_run, 50000 * scale);
    measure("spawn_now of a ready future", spawn_now, 50000 * scale);
    measure("park, and wake on the same thread", park_and_wake, 50000 * scale);
    measure("wake from another thread, round trip", remote_round_trip, 500 * scale);
    measure("timer stop and start, 10,000 running", timer_start_stop, 50000 * scale);
    measure("spawn_blocking, round trip", blocking_round_trip, 500 * scale);
    measure("spawn_blocking, 1,000 at once", blocking_batches, 1000 * scale);

    redd__executor_close(ex, NULL, NULL);
    redd__timers_close(timers, NULL, NULL);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    redd__blocking_free(blocking);
    return uv_loop_close(&loop) == 0 ? 0 : 1;
}
