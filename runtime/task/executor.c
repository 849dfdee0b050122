/* SPDX-License-Identifier: MIT */
#include "runtime/task/executor_internal.h"

#include <redd/error.h>

enum {
    DEFAULT_BUDGET = 1024,
    POOL_KEEP = 65536 /* free tasks at most: what a burst leaves behind stays bounded */
};

typedef struct redd__executor_handles {
    uv_prepare_t prepare; /* referenced while the executor keeps the loop alive */
    uv_check_t check;
    uv_idle_t idle;
} executor_handles;

size_t redd__executor_live(const redd_executor *base)
{
    return redd__executor_n_live((const redd__executor *)base);
}

static const redd_executor_vt executor_vt = {"default", redd__task_spawn, redd__task_start,
                                             redd__job_spawn, redd__executor_live};

/* --- turns --- */

static void on_idle(uv_idle_t *idle)
{
    /* Its being active is all: the loop polls for I/O without sleeping. */
    (void)idle;
}

static void set_idling(redd__executor *ex, bool on)
{
    if (ex->idling == on)
        return;
    ex->idling = on;
    if (on)
        (void)uv_idle_start(&ex->handles->idle, on_idle);
    else
        (void)uv_idle_stop(&ex->handles->idle);
}

void redd__executor_attend(redd__executor *ex)
{
    if (!ex->closed)
        set_idling(ex, true);
}

void redd__executor_hold_loop(redd__executor *ex)
{
    if (ex->closed)
        return;
    ex->referenced = true;
    uv_ref((uv_handle_t *)&ex->handles->prepare);
}

static void run_batches(redd__executor *ex)
{
    while (!ex->closed && ex->queue_first && ex->budget_left > 0) {
        redd__tasks_run(ex);
        if (ex->options.after_run)
            ex->options.after_run(ex->options.user);
    }
}

/** What a turn leaves behind: tasks for the next one, or an executor at rest. */
static void conclude(redd__executor *ex)
{
    if (ex->closed)
        return;
    set_idling(ex, ex->queue_first != NULL);
    if (redd__executor_n_live(ex) > 0 || !ex->referenced)
        return;
    ex->referenced = false;
    uv_unref((uv_handle_t *)&ex->handles->prepare);
    if (ex->options.on_idle)
        ex->options.on_idle(ex->options.user);
}

/* From one I/O phase to the next, check and then prepare share one budget. */

static void on_prepare(uv_prepare_t *prepare)
{
    redd__executor *ex = prepare->data;
    run_batches(ex);
    ex->past_prepare = true;
    conclude(ex);
}

static void on_check(uv_check_t *check)
{
    redd__executor *ex = check->data;
    ex->past_prepare = false;
    ex->budget_left = ex->options.run_budget;
    run_batches(ex);
    conclude(ex);
}

/* --- life --- */

static void start_handles(redd__executor *ex)
{
    executor_handles *h = ex->handles;
    uv_loop_t *loop = ex->options.loop;
    (void)uv_prepare_init(loop, &h->prepare);
    (void)uv_check_init(loop, &h->check);
    (void)uv_idle_init(loop, &h->idle);
    h->prepare.data = ex;
    h->check.data = ex;
    h->idle.data = ex;
    (void)uv_prepare_start(&h->prepare, on_prepare);
    (void)uv_check_start(&h->check, on_check);
    uv_unref((uv_handle_t *)&h->prepare);
    uv_unref((uv_handle_t *)&h->check);
    uv_unref((uv_handle_t *)&h->idle);
}

int redd__executor_new(const redd__executor_options *options, redd_executor **out)
{
    const redd_allocator *a = options->alloc;
    redd__executor *ex = redd_alloc_zero(a, sizeof(*ex));
    executor_handles *handles = redd_alloc_zero(a, sizeof(*handles));
    int rc = ex && handles ? redd__inbox_new(options->loop, a, &ex->inbox) : UV_ENOMEM;
    if (rc < 0) {
        redd_free(a, handles, sizeof(*handles));
        redd_free(a, ex, sizeof(*ex));
        return rc;
    }
    ex->base.vt = &executor_vt;
    ex->options = *options;
    if (ex->options.run_budget == 0)
        ex->options.run_budget = DEFAULT_BUDGET;
    ex->budget_left = ex->options.run_budget;
    redd__list_init(&ex->tasks);
    redd__list_init(&ex->jobs);
    redd__list_init(&ex->remotes);
    redd_pool_init(&ex->pool, a, sizeof(redd__task), POOL_KEEP);
    ex->handles = handles;
    start_handles(ex);
    *out = &ex->base;
    return 0;
}

redd__inbox *redd__executor_inbox(redd_executor *ex)
{
    return ((redd__executor *)ex)->inbox;
}

size_t redd__executor_abort_all(redd_executor *base)
{
    redd__executor *ex = (redd__executor *)base;
    size_t count = 0;
    redd__list running; /* canceled by their polls' return; a drop may call this again meanwhile */
    redd__list_init(&running);
    while (!redd__list_empty(&ex->tasks) || !redd__list_empty(&ex->jobs)) {
        redd__list *link = redd__list_pop(&ex->tasks);
        count++;
        if (!link) {
            redd__job_cancel_first(ex);
            continue;
        }
        redd__task *t = REDD__LIST_ITEM(link, redd__task, link);
        if (t->outcome.flags & REDD__RUNNING)
            redd__list_append(&running, link);
        redd__task_cancel(t);
    }
    redd__list_splice(&ex->tasks, &running);
    return count;
}

void redd__executor_settle(redd__executor *ex)
{
    if (ex->closing > 0 || ex->pool.live > 0)
        return;
    const redd_allocator *a = ex->options.alloc;
    redd_pool_fini(&ex->pool);
    redd_free(a, ex, sizeof(*ex));
}

static void one_closed(void *user)
{
    redd__executor *ex = user;
    if (--ex->closing > 0)
        return;
    void (*done)(void *user) = ex->on_closed;
    void *done_user = ex->closed_user;
    redd_free(ex->options.alloc, ex->handles, sizeof(*ex->handles));
    redd__inbox_unref(ex->inbox);
    redd__executor_settle(ex);
    if (done)
        done(done_user);
}

static void on_handle_closed(uv_handle_t *handle)
{
    one_closed(handle->data);
}

void redd__executor_close(redd_executor *base, void (*done)(void *user), void *user)
{
    redd__executor *ex = (redd__executor *)base;
    (void)redd__executor_abort_all(base);
    ex->closed = true;
    ex->closing = 4; /* keeps the executor's memory from here on */
    ex->on_closed = done;
    ex->closed_user = user;
    redd__tasks_flush(ex);
    redd__remotes_disconnect(ex);
    redd__inbox_close(ex->inbox, one_closed, ex);
    uv_close((uv_handle_t *)&ex->handles->prepare, on_handle_closed);
    uv_close((uv_handle_t *)&ex->handles->check, on_handle_closed);
    uv_close((uv_handle_t *)&ex->handles->idle, on_handle_closed);
}
