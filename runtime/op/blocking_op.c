/* SPDX-License-Identifier: MIT */
/* A blocking op is a job on the pool, and a future on the worker that waits for the job's join: so
 * it parks, ends and is cancelled as every other op. */
#include "runtime/op/call.h"

#include <uv.h>

typedef struct job {
    redd_job base;
    const redd_allocator *alloc;
    const redd_op *op;
    void *state;
    redd_value argv[REDD_OP_MAX_ARGS]; /* the first op->argc, each with a reference */
} job;

typedef struct waiter {
    redd_future base;
    const redd_allocator *alloc;
    redd_join *join;
} waiter;

static redd_value job_run(redd_job *base)
{
    job *j = (job *)base;
    redd_value out = redd_value_undefined();
    int rc = j->op->call(NULL, j->state, j->argv, &out, NULL);
    if (rc == 0)
        return out;
    redd_value_drop(&out);
    return redd_value_error(rc < 0 ? rc : UV_EINVAL);
}

static void job_drop(redd_job *base)
{
    job *j = (job *)base;
    for (size_t i = 0; i < j->op->argc; i++)
        redd_value_drop(&j->argv[i]);
    redd_free(j->alloc, j, sizeof(*j));
}

static const redd_job_vt job_vt = {"blocking op", job_run, job_drop};

static redd_poll waiter_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    return redd_join_poll(((waiter *)f)->join, waker, out);
}

static void waiter_drop(redd_future *f)
{
    waiter *wt = (waiter *)f;
    redd_join_abort(wt->join);
    redd_join_detach(wt->join);
    redd_free(wt->alloc, wt, sizeof(*wt));
}

static const redd_future_vt waiter_vt = {"blocking op", waiter_poll, waiter_drop};

static int submit(redd__ops *ops, const redd__op_slot *slot, const redd_value *argv,
                  redd_join **join)
{
    job *j = redd_alloc(ops->alloc, sizeof(*j));
    if (!j)
        return UV_ENOMEM;
    j->base.vt = &job_vt;
    j->alloc = ops->alloc;
    j->op = slot->op;
    j->state = slot->state;
    for (size_t i = 0; i < slot->op->argc; i++)
        j->argv[i] = redd_value_ref(argv[i]);
    int rc = redd_spawn_blocking(ops->executor, &j->base, join);
    if (rc < 0)
        job_drop(&j->base);
    return rc;
}

int redd__blocking_op_new(redd__ops *ops, const redd__op_slot *slot, const redd_value *argv,
                          redd_future **out)
{
    waiter *wt = redd_alloc(ops->alloc, sizeof(*wt));
    if (!wt)
        return UV_ENOMEM;
    int rc = submit(ops, slot, argv, &wt->join);
    if (rc < 0) {
        redd_free(ops->alloc, wt, sizeof(*wt));
        return rc;
    }
    wt->base.vt = &waiter_vt;
    wt->alloc = ops->alloc;
    *out = &wt->base;
    return 0;
}
