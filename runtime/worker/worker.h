/* SPDX-License-Identifier: MIT */
/** The worker's own struct, and its life: new, open, start, run, stop, close, free. */
#ifndef REDD_WORKER_WORKER_H
#define REDD_WORKER_WORKER_H

#include "runtime/op/host.h"
#include "runtime/task/executor.h"
#include "runtime/task/timers.h"
#include "runtime/worker/runtime.h"

/** The handle through which a worker is told that something about its end has changed. While it is
 *  referenced it keeps the loop alive. Freed by its close callback. */
typedef struct redd__control {
    uv_async_t async;
    redd_worker *worker;
    const redd_allocator *alloc;
} redd__control;

struct redd_worker {
    redd__op_host host; /* first: see redd__op_host_of */
    redd_runtime *rt;
    const redd_allocator *alloc;
    unsigned index;
    bool attached; /* on the caller's loop */

    uv_loop_t *loop; /* NULL: it never came to be */
    uv_loop_t own_loop;
    redd__control *control; /* other threads read it under the runtime's lock; NULL once finished */
    redd_timers *timers;
    redd_executor *inner;    /* the default one */
    redd_executor *executor; /* what extensions see: `inner`, or one around it */
    void **states;           /* [extensions.n] */
    size_t n_extensions;
    size_t n_started; /* extensions whose worker_init has succeeded: the first ones in order */

    /** Twice the posts that were not delivered, plus 1 while none are taken: before the worker is
     *  open and from its end on. It cannot end while there are any. */
    atomic_size_t posts;
    bool resting;     /* not counted in the runtime's `busy`; `control` keeps the loop alive */
    int requested;    /* stop mode that was asked of this worker alone, or 0 */
    int stopping;     /* stop mode that its extensions know of, or 0 */
    bool detached;    /* redd_worker_detach was called */
    bool ended;       /* no handle of it is left */
    unsigned parts;   /* control, timers and executor, as far as they are not closed yet */
    redd_timer drain; /* turns a graceful stop into a forced one */
    void (*done)(void *user);
    void *done_user;
};

/** Memory only. UV_ENOMEM. */
int redd__worker_new(redd_runtime *rt, unsigned index, redd_worker **out);
/** After its end. */
void redd__worker_free(redd_worker *w);
/** Makes loop (`loop` NULL: its own), timers and executor. On an error the worker is on its way to
 *  `ended`, which needs turns of the loop. */
int redd__worker_open(redd_worker *w, uv_loop_t *loop);
/** Runs every worker_init, and makes the worker known to other threads. On an error, which was
 *  reported, everything was taken down and the worker is on its way to `ended`. */
int redd__worker_start(redd_worker *w);
/** Runs its own loop until it has ended, and closes the loop. */
void redd__worker_run(redd_worker *w);

/** Asks for a step towards the end. Own thread, or under the runtime's lock. */
void redd__worker_poke(redd_worker *w);
/** Asks for a stop of this worker alone. Own thread. */
void redd__worker_request_stop(redd_worker *w, redd_stop_mode mode);
/** Goes as far towards the end as is possible now; what `control` calls. */
void redd__worker_step(redd_worker *w);
/** A forced end without waiting for the loop. */
void redd__worker_abandon(redd_worker *w);
/** Closes the parts that are there; `ended` follows, at once when there are none. */
void redd__worker_close(redd_worker *w);
/** The worker has something to do again. */
void redd__worker_wake(redd_worker *w);
/** Lets `control` keep the loop alive, or not. */
void redd__worker_update_hold(redd_worker *w);

#endif
