/* SPDX-License-Identifier: MIT */
/** N workers on N threads. */
#include "runtime/base/thread.h"
#include "runtime/worker/barrier.h"
#include "runtime/worker/jobs.h"
#include "runtime/worker/worker.h"

#include <stdio.h>

/** One run, shared by its threads. */
typedef struct run {
    redd_runtime *rt;
    redd_main_fn main;
    redd_ready_fn ready;
    void *user;
    redd__barrier started; /* every worker_init of every worker */
    redd__barrier entered; /* every worker's main */
} run;

typedef struct seat {
    run *run;
    redd_worker *worker;
    pthread_t thread;
} seat;

static bool start(redd_worker *w)
{
    int rc = redd__worker_open(w, NULL);
    if (rc < 0)
        redd__runtime_fail(w->rt, rc, "worker %u could not start: %s (%s)", w->index,
                           redd_error_text(rc), redd_error_name(rc));
    else
        rc = redd__worker_start(w);
    return rc == 0;
}

static bool enter(run *r, redd_worker *w)
{
    int rc = r->main ? r->main(w, r->user) : 0;
    if (rc < 0)
        redd__runtime_fail(r->rt, rc, "worker %u could not begin its work: %s (%s)", w->index,
                           redd_error_text(rc), redd_error_name(rc));
    return rc >= 0;
}

/** A worker's whole life, on its thread. */
static void live(run *r, redd_worker *w)
{
    bool up = redd__barrier_arrive(&r->started, start(w));
    if (up) {
        uv_update_time(w->loop); /* others may have taken long */
        up = redd__barrier_arrive(&r->entered, enter(r, w));
    }
    if (!up)
        redd__worker_request_stop(w, REDD_STOP_FORCED);
    else if (w->index == 0 && r->ready)
        r->ready(w, r->user);
    redd__worker_run(w);
}

static void *thread_main(void *user)
{
    seat *s = user;
#ifdef __linux__
    char name[16];
    (void)snprintf(name, sizeof(name), "redd-%u", s->worker->index);
    (void)pthread_setname_np(pthread_self(), name);
#endif
    live(s->run, s->worker);
    return NULL;
}

static void run_threads(run *r, seat *seats)
{
    unsigned n = r->rt->n_workers;
    unsigned threads = 1;
    for (; threads < n; threads++) {
        int rc = redd__thread_start(&seats[threads].thread, thread_main, &seats[threads]);
        if (rc < 0) {
            redd__runtime_fail(r->rt, rc, "worker %u could not start: %s (%s)", threads,
                               redd_error_text(rc), redd_error_name(rc));
            redd__barrier_give_up(&r->started, n - threads);
            break;
        }
    }
    live(r, seats[0].worker);
    for (unsigned i = 1; i < threads; i++)
        (void)pthread_join(seats[i].thread, NULL);
}

static void free_seats(redd_runtime *rt, seat *seats)
{
    for (unsigned i = 0; i < rt->n_workers; i++)
        if (seats[i].worker)
            redd__worker_free(seats[i].worker);
    redd_free(rt->alloc, seats, rt->n_workers * sizeof(*seats));
}

static seat *new_seats(run *r)
{
    redd_runtime *rt = r->rt;
    seat *seats = redd_alloc_zero(rt->alloc, rt->n_workers * sizeof(*seats));
    for (unsigned i = 0; seats && i < rt->n_workers; i++) {
        seats[i].run = r;
        if (redd__worker_new(rt, i, &seats[i].worker) < 0) {
            free_seats(rt, seats);
            return NULL;
        }
    }
    return seats;
}

/** What must hold before workers can start on threads of their own. */
static int check_workers(redd_runtime *rt, redd__message *m)
{
    if (rt->jobs_error)
        return redd__message_fail(m, rt->jobs_error, "%s must be a number from 1 to %u",
                                  rt->jobs_source, REDD__MAX_WORKERS);
    if (rt->options.clock && rt->n_workers > 1)
        return redd__message_fail(m, UV_EINVAL, "a clock of one's own allows one worker, not %u",
                                  rt->n_workers);
    return 0;
}

static int run_workers(run *r)
{
    seat *seats = new_seats(r);
    if (!seats)
        return redd__message_fail(&r->rt->message, UV_ENOMEM, "%s", redd_error_text(UV_ENOMEM));
    atomic_store(&r->rt->busy, r->rt->n_workers);
    redd__barrier_init(&r->started, r->rt->n_workers);
    redd__barrier_init(&r->entered, r->rt->n_workers);
    run_threads(r, seats);
    redd__barrier_fini(&r->entered);
    redd__barrier_fini(&r->started);
    redd__runtime_forget_workers(r->rt);
    free_seats(r->rt, seats);
    return redd__runtime_take_failure(r->rt);
}

int redd_runtime_run(redd_runtime *rt, redd_main_fn main, redd_ready_fn ready, void *user)
{
    int rc = check_workers(rt, redd__runtime_begin(rt));
    if (rc == 0)
        rc = redd__runtime_prepare(rt, rt->n_workers);
    if (rc < 0 || atomic_load(&rt->stop))
        return rc;
    run r = {.rt = rt, .main = main, .ready = ready, .user = user};
    return run_workers(&r);
}
