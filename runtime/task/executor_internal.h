/* SPDX-License-Identifier: MIT */
/** What the files of the default executor share. */
#ifndef REDD_TASK_EXECUTOR_INTERNAL_H
#define REDD_TASK_EXECUTOR_INTERNAL_H

#include "runtime/base/list.h"
#include "runtime/task/executor.h"

#include <stdatomic.h>

typedef struct redd__executor redd__executor;
typedef struct redd__task redd__task;

/* --- how a task ends, as its join handle sees it --- */

enum {
    REDD__ENDED = 1,  /* the result is decided */
    REDD__JOINED = 2, /* a join handle exists */
    /* of tasks only: */
    REDD__QUEUED = 4,  /* in the run queue */
    REDD__RUNNING = 8, /* inside its own poll */
    REDD__ABORTED = 16 /* to be dropped instead of polled */
};

typedef struct redd__outcome {
    redd_join join;
    redd_waker *joiner; /* counted; only while JOINED and not ENDED */
    redd_value value;   /* owned while ENDED and JOINED; before, what a poll writes to */
    uint32_t flags;
    uint32_t refs; /* of a task: its executor's until it has left both queue and work, its join
                      handle's, its wakers' */
} redd__outcome;

static inline void redd__outcome_init(redd__outcome *o, const redd_join_vt *vt, bool joined)
{
    o->join.vt = vt;
    o->joiner = NULL;
    o->flags = joined ? REDD__JOINED : 0;
    o->refs = 1U + joined;
}

/** What stands in `value` is the result; the joiner is still to be fired. */
static inline void redd__outcome_end(redd__outcome *o)
{
    o->flags |= REDD__ENDED;
    if (!(o->flags & REDD__JOINED))
        redd_value_drop(&o->value);
}

static inline redd_poll redd__outcome_poll(redd__outcome *o, redd_waker *waker, redd_value *out)
{
    if (!(o->flags & REDD__ENDED)) {
        redd_waker_keep(&o->joiner, waker);
        return REDD_PENDING;
    }
    *out = o->value;
    o->value = redd_value_undefined();
    return REDD_READY;
}

/** What a join handle's detach does to the outcome; its reference is the caller's to drop. */
static inline void redd__outcome_detach(redd__outcome *o)
{
    o->flags &= ~(uint32_t)REDD__JOINED;
    if (o->flags & REDD__ENDED)
        redd_value_drop(&o->value);
    else
        redd_waker_keep(&o->joiner, NULL);
}

/* --- tasks --- */

struct redd__task {
    redd_waker waker; /* first: a waker is its task */
    redd_future *future;
    redd__executor *ex;
    redd__task *next; /* in the run queue */
    redd__outcome outcome;
    redd__list link; /* in the executor's tasks until it has ended */
};

struct redd__executor {
    redd_executor base;
    redd__task *queue_first, *queue_last;
    atomic_size_t live; /* tasks in `tasks` and jobs in `jobs`; others may look */
    unsigned budget_left;
    bool past_prepare; /* the loop may go to sleep without asking for tasks again */
    bool referenced;   /* keeps the loop alive: from the first live task until a turn saw none */
    bool idling;       /* the idle handle is active */
    bool closed;
    redd__list tasks;
    redd__list jobs;
    redd__list remotes; /* remote wakers that are connected to tasks */
    redd_pool pool;     /* of redd__task; its live objects outlast `closed` with their holders */
    redd__inbox *inbox;
    struct redd__executor_handles *handles;
    redd__executor_options options;
    unsigned closing; /* handles and inbox that have not closed yet */
    void (*on_closed)(void *user);
    void *closed_user;
};

static inline size_t redd__executor_n_live(const redd__executor *ex)
{
    return atomic_load_explicit(&ex->live, memory_order_relaxed);
}
/** Runs up to `budget_left` queued tasks. */
void redd__tasks_run(redd__executor *ex);
/** Ends a task that is not being polled with UV_ECANCELED, or marks one that is, so that its poll's
 *  return does. */
void redd__task_cancel(redd__task *t);
/** Empties the run queue of an executor whose tasks have all been canceled. */
void redd__tasks_flush(redd__executor *ex);
static inline void redd__task_ref(redd__task *t)
{
    t->outcome.refs++;
}
void redd__task_unref(redd__task *t);

int redd__task_spawn(redd_executor *base, redd_future *f, redd_join **join);
int redd__task_start(redd_executor *base, redd_future *f, redd_value *out, redd_join **join);

/* --- blocking jobs --- */

int redd__job_spawn(redd_executor *base, redd_job *job, redd_join **join);
/** Drops the first job that has not begun, or abandons it: it leaves `jobs`. */
void redd__job_cancel_first(redd__executor *ex);

/* --- remote wakers --- */

int redd__remote_new(redd__task *t, redd_remote_waker **out);
/** Cuts every remote waker off from its task, for good. */
void redd__remotes_disconnect(redd__executor *ex);

/* --- the loop --- */

/** The loop must not sleep before the executor had a look. */
void redd__executor_attend(redd__executor *ex);
void redd__executor_hold_loop(redd__executor *ex);
/** Frees a closed executor when nothing points at it any more. */
void redd__executor_settle(redd__executor *ex);

/** Only this thread writes: that others look needs no locked instruction. */
static inline size_t redd__executor_change_live(redd__executor *ex, size_t change)
{
    size_t live = redd__executor_n_live(ex) + change;
    atomic_store_explicit(&ex->live, live, memory_order_relaxed);
    return live;
}

static inline void redd__executor_add_live(redd__executor *ex)
{
    (void)redd__executor_change_live(ex, 1);
    if (!ex->referenced)
        redd__executor_hold_loop(ex);
}

static inline void redd__executor_remove_live(redd__executor *ex)
{
    size_t left = redd__executor_change_live(ex, (size_t)-1);
    if (left == 0 && ex->past_prepare && ex->referenced)
        redd__executor_attend(ex);
}

#endif
