/* SPDX-License-Identifier: MIT */
/** Executors, spawn, spawn_blocking, join and join set. */
#ifndef REDD_TASK_H
#define REDD_TASK_H

#include <redd/alloc.h>
#include <redd/future.h>

REDD_BEGIN_DECLS

typedef struct redd_executor redd_executor;
typedef struct redd_join redd_join;

/** A blocking job: first member of a concrete struct, in the job's own memory. */
typedef struct redd_job redd_job;
typedef struct redd_job_vt {
    const char *name;
    /** Runs once on a thread of the blocking pool. The result's references are handed over. */
    redd_value (*run)(redd_job *j);
    /** Frees the job. Exactly once, after run or instead of it, on the worker's thread (on the
     *  pool's, if the worker is gone by then). */
    void (*drop)(redd_job *j);
} redd_job_vt;
struct redd_job {
    const redd_job_vt *vt;
};

/** What an executor does. Each worker has one; extensions submit every future of theirs to it. An
 *  embedder may put its own around the default (redd_runtime_options.wrap_executor), on which what
 *  it is given must run in the end. */
typedef struct redd_executor_vt {
    const char *name;
    /** Takes `f` on success; `join` NULL detaches. UV_ENOMEM, REDD_ECLOSED after the executor was
     *  stopped. Does not poll inline. */
    int (*spawn)(redd_executor *ex, redd_future *f, redd_join **join);
    /** As spawn, but polls once at once with the task's own waker. Returns 1 when that was enough:
     *  `f` is dropped, `*out` is the result. Returns 0 when parked: the result is dropped or
     * joined. */
    int (*start)(redd_executor *ex, redd_future *f, redd_value *out, redd_join **join);
    /** Takes `job` on success. UV_EBUSY when the pool's queue is full, UV_ENOMEM, REDD_ECLOSED, or
     *  the error of a thread that the system cannot make (when the pool has none). */
    int (*spawn_blocking)(redd_executor *ex, redd_job *job, redd_join **join);
    /** Tasks that have not ended; blocking jobs that were not aborted count. */
    size_t (*live)(const redd_executor *ex);
} redd_executor_vt;
struct redd_executor {
    const redd_executor_vt *vt;
};

static inline int redd_spawn(redd_executor *ex, redd_future *f, redd_join **join)
{
    return ex->vt->spawn(ex, f, join);
}
static inline int redd_spawn_now(redd_executor *ex, redd_future *f, redd_value *out,
                                 redd_join **join)
{
    return ex->vt->start(ex, f, out, join);
}
static inline int redd_spawn_blocking(redd_executor *ex, redd_job *job, redd_join **join)
{
    return ex->vt->spawn_blocking(ex, job, join);
}

typedef struct redd_join_vt {
    redd_poll (*poll)(redd_join *j, redd_waker *waker, redd_value *out);
    void (*abort)(redd_join *j);
    void (*detach)(redd_join *j);
} redd_join_vt;
/** The one handle on a spawned future or job. */
struct redd_join {
    const redd_join_vt *vt;
};

/** READY hands the result over; after an abort that came in time it is error UV_ECANCELED. The
 *  handle stays and must still be detached. */
static inline redd_poll redd_join_poll(redd_join *j, redd_waker *waker, redd_value *out)
{
    return j->vt->poll(j, waker, out);
}
/** Drops the future soon, never inside this call nor inside its own poll; a finished task keeps its
 *  result. A job that has not begun is dropped at once; one that runs is abandoned: the join ends
 * at once, and the result is dropped when it comes. */
static inline void redd_join_abort(redd_join *j)
{
    j->vt->abort(j);
}
/** Gives the handle up; the task goes on. NULL is allowed. */
static inline void redd_join_detach(redd_join *j)
{
    if (j)
        j->vt->detach(j);
}

/* --- join set --- */

/** A set of spawned futures whose results are taken in the order of their ends. */
typedef struct redd_join_set redd_join_set;

REDD_API int redd_join_set_new(redd_executor *ex, const redd_allocator *a, redd_join_set **out);
/** Aborts what has not ended, drops the results. */
REDD_API void redd_join_set_free(redd_join_set *s);
/** Takes `f` on success. */
REDD_API int redd_join_set_spawn(redd_join_set *s, redd_future *f);
/** READY: one result. PENDING also when empty; the next spawn then wakes the waker, so that a loop
 *  over the set goes on. */
REDD_API redd_poll redd_join_set_poll_next(redd_join_set *s, redd_waker *waker, redd_value *out);
/** Futures in the set whose results were not taken. */
REDD_API size_t redd_join_set_len(const redd_join_set *s);
REDD_API void redd_join_set_abort_all(redd_join_set *s);

REDD_END_DECLS

#endif
