/* SPDX-License-Identifier: MIT */
#include "runtime/base/pool.h"
#include "runtime/task/executor_internal.h"

#include <redd/error.h>

#include <assert.h>

static redd__task *task_of_join(redd_join *j)
{
    return (redd__task *)(void *)((char *)j - offsetof(redd__task, outcome.join));
}

/* --- life --- */

static inline void unref(redd__task *t)
{
    assert(t->outcome.refs > 0);
    if (--t->outcome.refs > 0)
        return;
    redd__executor *ex = t->ex;
    redd__pool_put(&ex->pool, t);
    if (ex->closed)
        redd__executor_settle(ex);
}

void redd__task_unref(redd__task *t)
{
    unref(t);
}

static inline void enqueue(redd__executor *ex, redd__task *t)
{
    t->outcome.flags |= REDD__QUEUED;
    t->next = NULL;
    if (ex->queue_first) {
        ex->queue_last->next = t;
    } else {
        ex->queue_first = t;
        if (ex->past_prepare)
            redd__executor_attend(ex);
    }
    ex->queue_last = t;
}

static inline redd__task *dequeue(redd__executor *ex)
{
    redd__task *t = ex->queue_first;
    ex->queue_first = t->next;
    t->outcome.flags &= ~(uint32_t)REDD__QUEUED;
    return t;
}

/** The result stands before the drop, which may do anything to the task's handles. */
static inline void leave(redd__task *t)
{
    redd__list_remove(&t->link);
    redd__executor_remove_live(t->ex);
    redd_future_drop(t->future);
    redd_waker_fire(&t->outcome.joiner);
    if (!(t->outcome.flags & REDD__QUEUED))
        unref(t);
}

/** With what stands in the outcome's value. */
static inline void end(redd__task *t)
{
    redd__outcome_end(&t->outcome);
    leave(t);
}

void redd__task_cancel(redd__task *t)
{
    if (t->outcome.flags & REDD__RUNNING) {
        t->outcome.flags |= REDD__ABORTED;
        return;
    }
    t->outcome.value = redd_value_error(UV_ECANCELED);
    end(t);
}

/** True when the future was ready: the task has not ended yet, but its future has. */
static inline bool poll_task(redd__task *t, redd_value *out)
{
    *out = redd_value_undefined();
    t->outcome.flags |= REDD__RUNNING;
    redd_poll state = redd_future_poll(t->future, &t->waker, out);
    t->outcome.flags &= ~(uint32_t)REDD__RUNNING;
    return state == REDD_READY;
}

static inline void run_task(redd__task *t)
{
    if (t->outcome.flags & (REDD__ENDED | REDD__ABORTED)) {
        if (t->outcome.flags & REDD__ENDED)
            unref(t); /* it ended while it was queued */
        else
            redd__task_cancel(t);
        return;
    }
    /* Polls write to the task itself: a copy from the stack would wait for the store to retire. */
    if (poll_task(t, &t->outcome.value))
        end(t);
    else if (t->outcome.flags & REDD__ABORTED)
        redd__task_cancel(t);
}

void redd__tasks_run(redd__executor *ex)
{
    while (ex->queue_first && ex->budget_left > 0) {
        ex->budget_left--;
        run_task(dequeue(ex));
    }
}

void redd__tasks_flush(redd__executor *ex)
{
    while (ex->queue_first) {
        redd__task *t = dequeue(ex);
        if (t->outcome.flags & REDD__ENDED)
            unref(t);
    }
}

/* --- waker --- */

static void waker_wake(redd_waker *w)
{
    redd__task *t = (redd__task *)w;
    if (!(t->outcome.flags & (REDD__QUEUED | REDD__ENDED | REDD__ABORTED)))
        enqueue(t->ex, t);
}

static void waker_ref(redd_waker *w)
{
    redd__task_ref((redd__task *)w);
}

static void waker_unref(redd_waker *w)
{
    redd__task_unref((redd__task *)w);
}

static int waker_remote(redd_waker *w, redd_remote_waker **out)
{
    return redd__remote_new((redd__task *)w, out);
}

static const redd_waker_vt waker_vt = {waker_wake, waker_ref, waker_unref, waker_remote};

/* --- join --- */

static redd_poll join_poll(redd_join *j, redd_waker *waker, redd_value *out)
{
    return redd__outcome_poll(&task_of_join(j)->outcome, waker, out);
}

/** Leaves the drop to the run queue, so that it never runs inside the caller. */
static void join_abort(redd_join *j)
{
    redd__task *t = task_of_join(j);
    if (t->outcome.flags & (REDD__ENDED | REDD__ABORTED))
        return;
    t->outcome.flags |= REDD__ABORTED;
    if (!(t->outcome.flags & (REDD__QUEUED | REDD__RUNNING)))
        enqueue(t->ex, t);
}

static void join_detach(redd_join *j)
{
    redd__task *t = task_of_join(j);
    redd__outcome_detach(&t->outcome);
    unref(t);
}

static const redd_join_vt join_vt = {join_poll, join_abort, join_detach};

/* --- spawn --- */

static inline redd__task *new_task(redd__executor *ex, redd_future *f, bool joined)
{
    redd__task *t = redd__pool_get(&ex->pool);
    if (!t)
        return NULL;
    t->waker.vt = &waker_vt;
    t->future = f;
    t->ex = ex;
    redd__outcome_init(&t->outcome, &join_vt, joined);
    redd__list_append(&ex->tasks, &t->link);
    return t;
}

int redd__task_spawn(redd_executor *base, redd_future *f, redd_join **join)
{
    redd__executor *ex = (redd__executor *)base;
    if (ex->closed)
        return REDD_ECLOSED;
    redd__task *t = new_task(ex, f, join != NULL);
    if (!t)
        return UV_ENOMEM;
    redd__executor_add_live(ex);
    enqueue(ex, t);
    if (join)
        *join = &t->outcome.join;
    return 0;
}

static void park(redd__task *t, redd_join **join)
{
    if (!t->ex->referenced)
        redd__executor_hold_loop(t->ex);
    if (join) {
        t->outcome.flags |= REDD__JOINED;
        redd__task_ref(t);
        *join = &t->outcome.join;
    }
    if (t->outcome.flags & REDD__ABORTED)
        redd__task_cancel(t);
}

int redd__task_start(redd_executor *base, redd_future *f, redd_value *out, redd_join **join)
{
    redd__executor *ex = (redd__executor *)base;
    if (ex->closed)
        return REDD_ECLOSED;
    redd__task *t = new_task(ex, f, false);
    if (!t)
        return UV_ENOMEM;
    (void)redd__executor_change_live(ex, 1); /* the loop is held only when the task parks */
    if (poll_task(t, out)) {
        t->outcome.flags |= REDD__ENDED;
        leave(t);
        return 1;
    }
    park(t, join);
    return 0;
}
