/* SPDX-License-Identifier: MIT */
#include "runtime/worker/worker.h"

#include <string.h>

int redd__worker_new(redd_runtime *rt, unsigned index, redd_worker **out)
{
    redd_worker *w = redd_alloc_zero(rt->alloc, sizeof(*w));
    if (!w)
        return UV_ENOMEM;
    w->rt = rt;
    w->alloc = rt->alloc;
    w->index = index;
    w->n_extensions = rt->extensions.n;
    atomic_init(&w->posts, 1); /* none before it is open */
    w->states = redd_alloc_zero(w->alloc, w->n_extensions * sizeof(*w->states));
    if (!w->states) {
        redd_free(w->alloc, w, sizeof(*w));
        return UV_ENOMEM;
    }
    redd__resources_init(&w->host.resources, w->alloc);
    *out = w;
    return 0;
}

void redd__worker_free(redd_worker *w)
{
    if (w->executor)
        redd__ops_fini(&w->host.ops);
    redd__resources_fini(&w->host.resources);
    redd_free(w->alloc, w->states, w->n_extensions * sizeof(*w->states));
    redd_free(w->alloc, w, sizeof(*w));
}

static void on_control(uv_async_t *handle)
{
    redd__control *c = handle->data;
    redd__worker_step(c->worker);
}

static int open_control(redd_worker *w)
{
    redd__control *c = redd_alloc(w->alloc, sizeof(*c));
    if (!c)
        return UV_ENOMEM;
    int rc = uv_async_init(w->loop, &c->async, on_control);
    if (rc < 0) {
        redd_free(w->alloc, c, sizeof(*c));
        return rc;
    }
    c->async.data = c;
    c->worker = w;
    c->alloc = w->alloc;
    uv_unref((uv_handle_t *)&c->async);
    w->control = c;
    return 0;
}

static void check_end(redd_worker *w)
{
    if (w->stopping && w->executor->vt->live(w->executor) == 0)
        redd__worker_poke(w);
}

static void after_run(void *user)
{
    redd_worker *w = user;
    redd__ops_deliver(w);
    redd__worker_wake(w);
    check_end(w);
}

static void on_idle(void *user)
{
    check_end(user);
}

static int open_executor(redd_worker *w)
{
    const redd_runtime_options *o = &w->rt->options;
    redd__executor_options options = {
        .loop = w->loop,
        .alloc = w->alloc,
        .blocking = w->rt->blocking,
        .run_budget = o->run_budget,
        .after_run = after_run,
        .on_idle = on_idle,
        .user = w,
    };
    return redd__executor_new(&options, &w->inner);
}

/** The executor that extensions see, and the ops, which submit to it. */
static int open_ops(redd_worker *w)
{
    const redd_runtime_options *o = &w->rt->options;
    redd_executor *seen = o->wrap_executor ? o->wrap_executor(w, w->inner, o->wrap_user) : NULL;
    if (!seen)
        seen = w->inner;
    int rc = redd__ops_init(&w->host.ops, w->alloc, &w->rt->registry, seen,
                            redd__metrics_of_ops(&w->rt->metrics, w->index));
    if (rc == 0)
        w->executor = seen;
    return rc;
}

static void on_drain_timeout(redd_timer *t, void *user)
{
    (void)t;
    redd_worker *w = user;
    redd_log(&w->rt->options.logger, REDD_LOG_WARN,
             "worker %u: %zu tasks were not done in time and are dropped", w->index,
             w->executor->vt->live(w->executor));
    redd__worker_request_stop(w, REDD_STOP_FORCED);
}

int redd__worker_open(redd_worker *w, uv_loop_t *loop)
{
    int rc = loop ? 0 : uv_loop_init(&w->own_loop);
    if (rc < 0) {
        w->ended = true;
        return rc;
    }
    w->attached = loop != NULL;
    w->loop = loop ? loop : &w->own_loop;
    rc = open_control(w);
    if (rc == 0)
        rc = redd__timers_new(w->loop, w->alloc, w->rt->options.clock, &w->timers);
    if (rc == 0)
        rc = open_executor(w);
    if (rc == 0)
        rc = open_ops(w);
    if (rc < 0) {
        redd__worker_close(w);
        return rc;
    }
    redd_timer_init(&w->drain, w->timers, on_drain_timeout, w);
    atomic_store(&w->posts, 0);
    return 0;
}

/** From here on other threads may post to it and stop it. */
static void publish(redd_worker *w)
{
    redd_runtime *rt = w->rt;
    (void)pthread_mutex_lock(&rt->lock);
    rt->workers[w->index] = w;
    (void)pthread_mutex_unlock(&rt->lock);
    if (atomic_load(&rt->stop))
        redd__worker_poke(w);
}

int redd__worker_start(redd_worker *w)
{
    redd__extensions *e = &w->rt->extensions;
    uv_update_time(w->loop); /* timers count from it */
    for (size_t i = 0; i < e->n; i++) {
        const redd_extension *x = e->items[i];
        int rc = x->worker_init ? x->worker_init(w, e->shared[i], &w->states[i]) : 0;
        if (rc < 0) {
            redd__runtime_fail(w->rt, rc, "worker %u: extension \"%s\" could not start: %s (%s)",
                               w->index, x->name, redd_error_text(rc), redd_error_name(rc));
            w->states[i] = NULL; /* whatever it was, nobody will free it any more */
            redd__worker_abandon(w);
            return rc;
        }
        redd__ops_bind(&w->host.ops, &w->rt->registry, x, w->states[i], e->shared[i]);
        w->n_started = i + 1;
    }
    publish(w);
    return 0;
}
