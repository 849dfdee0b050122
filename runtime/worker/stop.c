/* SPDX-License-Identifier: MIT */
/** How a worker comes to its end: stop (graceful, then forced), the last task, finish, close. */
#include "runtime/worker/worker.h"

#include <sched.h>

void redd__worker_poke(redd_worker *w)
{
    if (w->control)
        (void)uv_async_send(&w->control->async);
}

void redd__worker_update_hold(redd_worker *w)
{
    if (!w->control)
        return;
    uv_handle_t *handle = (uv_handle_t *)&w->control->async;
    if (w->resting || w->detached || (w->stopping && !w->attached))
        uv_ref(handle);
    else
        uv_unref(handle);
}

void redd__worker_request_stop(redd_worker *w, redd_stop_mode mode)
{
    if ((int)mode > w->requested)
        w->requested = (int)mode;
    redd__worker_update_hold(w);
    redd__worker_poke(w);
}

static void tell_extensions(redd_worker *w, int mode)
{
    w->stopping = mode;
    redd__worker_wake(w);
    redd__worker_update_hold(w);
    for (size_t i = w->n_started; i-- > 0;) {
        const redd_extension *x = w->rt->extensions.items[i];
        if (x->worker_stop)
            x->worker_stop(w, w->states[i], (redd_stop_mode)mode);
    }
}

static void drop_tasks(redd_worker *w)
{
    size_t n = redd__executor_abort_all(w->inner);
    atomic_fetch_add(&w->rt->forced, n);
}

/** Resources before tasks: their closing may end some, or begin some. */
static void drop_all(redd_worker *w)
{
    redd__resources_close_all(&w->host.resources);
    drop_tasks(w);
}

/** The end, whatever is left. Nothing of an extension may be there when its worker_fini has run:
 *  what the host begins on the last batch of results is dropped as well. */
static void finish(redd_worker *w)
{
    redd_timer_stop(&w->drain);
    drop_all(w);
    redd__ops_deliver(w);
    drop_all(w);
    for (size_t i = w->n_started; i-- > 0;) {
        const redd_extension *x = w->rt->extensions.items[i];
        if (x->worker_fini)
            x->worker_fini(w, w->states[i]);
        redd__ops_unbind(&w->host.ops, &w->rt->registry, x);
        w->states[i] = NULL;
    }
    redd__resources_close_all(&w->host.resources);
    redd__worker_close(w);
}

/** True at most once: no post is taken from then on. */
static bool may_finish(redd_worker *w)
{
    if (w->attached && !w->detached)
        return false;
    if (w->stopping == REDD_STOP_GRACEFUL && w->executor->vt->live(w->executor) > 0)
        return false;
    size_t none = 0;
    return atomic_compare_exchange_strong(&w->posts, &none, 1);
}

void redd__worker_step(redd_worker *w)
{
    int mode = atomic_load(&w->rt->stop);
    if (mode < w->requested)
        mode = w->requested;
    if (mode > w->stopping) {
        tell_extensions(w, mode);
        if (mode == REDD_STOP_GRACEFUL)
            redd_timer_start(&w->drain, w->rt->options.drain_timeout_ms);
    }
    if (w->stopping == REDD_STOP_FORCED)
        drop_tasks(w);
    if (w->stopping && may_finish(w))
        finish(w);
    else if (w->stopping == REDD_STOP_FORCED)
        redd__ops_deliver(w); /* the host learns now what was dropped, not only at the end */
}

/** Takes no more posts, and has those done that were taken. */
static void drain_posts(redd_worker *w)
{
    (void)atomic_fetch_or(&w->posts, 1);
    while (atomic_load(&w->posts) != 1)
        if (!redd__inbox_deliver(redd__executor_inbox(w->inner)))
            (void)sched_yield(); /* a thread is about to put its post there */
}

void redd__worker_abandon(redd_worker *w)
{
    tell_extensions(w, REDD_STOP_FORCED);
    drop_tasks(w);
    drain_posts(w);
    finish(w);
}

/* --- closing --- */

static void part_closed(void *user)
{
    redd_worker *w = user;
    if (--w->parts > 0)
        return;
    w->ended = true;
    if (!w->attached) {
        uv_stop(w->loop);
        return;
    }
    void (*done)(void *) = w->done;
    void *done_user = w->done_user;
    redd__worker_free(w);
    if (done)
        done(done_user);
}

static void on_control_closed(uv_handle_t *handle)
{
    redd__control *c = handle->data;
    redd_worker *w = c->worker;
    redd_free(c->alloc, c, sizeof(*c));
    part_closed(w);
}

/** Other threads lose sight of `control`, and of an attached worker altogether. */
static redd__control *unpublish(redd_worker *w)
{
    (void)pthread_mutex_lock(&w->rt->lock);
    redd__control *c = w->control;
    w->control = NULL;
    if (w->attached)
        w->rt->workers[w->index] = NULL;
    (void)pthread_mutex_unlock(&w->rt->lock);
    return c;
}

void redd__worker_close(redd_worker *w)
{
    redd__control *control = unpublish(w);
    w->parts = 1U + (control != NULL) + (w->timers != NULL) + (w->inner != NULL);
    if (w->inner) /* first: futures that are dropped stop their timers */
        redd__executor_close(w->inner, part_closed, w);
    if (w->timers)
        redd__timers_close(w->timers, part_closed, w);
    if (control)
        uv_close((uv_handle_t *)&control->async, on_control_closed);
    part_closed(w);
}
