/* SPDX-License-Identifier: MIT */
#include "runtime/task/executor_internal.h"

#include <redd/error.h>

#include <stdatomic.h>

/* A job is shared by the join handle and the pool, which may hold it beyond the executor's life:
 * so it comes from the allocator, not from the executor's pool, and is counted atomically. */
typedef struct job_task {
    redd__outcome outcome; /* worker's thread */
    redd__executor *ex;    /* worker's thread, and only until ENDED */
    redd__list link;       /* in the executor's jobs until ENDED */
    const redd_allocator *alloc;
    redd_job *job;
    redd_value result;        /* of the run; handed over by the note */
    redd__inbox *inbox;       /* counted */
    redd__blocking_item item; /* the pool's until it is done */
    redd__note note;          /* posted once, by the pool's thread */
    atomic_uint refs;         /* the join handle's, and that of the way through the pool */
} job_task;

static job_task *job_of_join(redd_join *j)
{
    return (job_task *)(void *)((char *)j - offsetof(job_task, outcome.join));
}

static void unref(job_task *t)
{
    if (atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1)
        redd_free(t->alloc, t, sizeof(*t));
}

/** The way through the pool is over, on whichever thread. */
static void leave_pool(job_task *t)
{
    t->job->vt->drop(t->job);
    redd__inbox_unref(t->inbox);
    unref(t);
}

static void end(job_task *t, redd_value value)
{
    t->outcome.value = value;
    redd__outcome_end(&t->outcome);
    redd__list_remove(&t->link);
    redd__executor_remove_live(t->ex);
    redd_waker_fire(&t->outcome.joiner);
}

/* --- on the pool's thread --- */

static void run(redd__blocking_item *item)
{
    job_task *t = REDD__LIST_ITEM(item, job_task, item);
    t->result = t->job->vt->run(t->job);
}

static void done(redd__blocking_item *item)
{
    job_task *t = REDD__LIST_ITEM(item, job_task, item);
    if (redd__inbox_post(t->inbox, &t->note) == 0)
        return;
    /* The worker is gone, and with it everybody who could want the result. */
    redd_value_drop(&t->result);
    leave_pool(t);
}

/* --- on the worker's thread --- */

static void deliver(redd__note *note)
{
    job_task *t = REDD__LIST_ITEM(note, job_task, note);
    if (t->outcome.flags & REDD__ENDED)
        redd_value_drop(&t->result); /* abandoned */
    else
        end(t, t->result);
    leave_pool(t);
}

static void cancel(job_task *t)
{
    if (t->outcome.flags & REDD__ENDED)
        return;
    bool withdrawn = redd__blocking_withdraw(t->ex->options.blocking, &t->item);
    end(t, redd_value_error(UV_ECANCELED));
    if (withdrawn)
        leave_pool(t);
}

void redd__job_cancel_first(redd__executor *ex)
{
    cancel(REDD__LIST_ITEM(redd__list_first(&ex->jobs), job_task, link));
}

static redd_poll join_poll(redd_join *j, redd_waker *waker, redd_value *out)
{
    return redd__outcome_poll(&job_of_join(j)->outcome, waker, out);
}

static void join_abort(redd_join *j)
{
    cancel(job_of_join(j));
}

static void join_detach(redd_join *j)
{
    job_task *t = job_of_join(j);
    redd__outcome_detach(&t->outcome);
    unref(t);
}

static const redd_join_vt join_vt = {join_poll, join_abort, join_detach};

static job_task *new_job(redd__executor *ex, redd_job *job, bool joined)
{
    job_task *t = redd_alloc_zero(ex->options.alloc, sizeof(*t));
    if (!t)
        return NULL;
    redd__outcome_init(&t->outcome, &join_vt, joined);
    t->ex = ex;
    t->alloc = ex->options.alloc;
    t->job = job;
    t->inbox = redd__inbox_ref(ex->inbox);
    redd__list_init(&t->item.link);
    t->item.run = run;
    t->item.done = done;
    t->note.deliver = deliver;
    atomic_init(&t->refs, joined ? 2 : 1);
    return t;
}

int redd__job_spawn(redd_executor *base, redd_job *job, redd_join **join)
{
    redd__executor *ex = (redd__executor *)base;
    if (ex->closed)
        return REDD_ECLOSED;
    if (!ex->options.blocking)
        return UV_ENOTSUP;
    job_task *t = new_job(ex, job, join != NULL);
    if (!t)
        return UV_ENOMEM;
    int rc = redd__blocking_submit(ex->options.blocking, &t->item);
    if (rc < 0) {
        redd__inbox_unref(t->inbox);
        redd_free(t->alloc, t, sizeof(*t));
        return rc;
    }
    /* Its note is delivered on this thread, so the rest cannot come too late. */
    redd__list_append(&ex->jobs, &t->link);
    redd__executor_add_live(ex);
    if (join)
        *join = &t->outcome.join;
    return 0;
}
