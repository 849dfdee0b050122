/* SPDX-License-Identifier: MIT */
/** What a worker tells of itself. */
#include "runtime/worker/worker.h"

unsigned redd_worker_index(const redd_worker *w)
{
    return w->index;
}

redd_runtime *redd_worker_runtime(const redd_worker *w)
{
    return w->rt;
}

redd_executor *redd_worker_executor(redd_worker *w)
{
    return w->executor;
}

redd_timers *redd_worker_timers(redd_worker *w)
{
    return w->timers;
}

const redd_allocator *redd_worker_allocator(const redd_worker *w)
{
    return w->alloc;
}

const redd_logger *redd_worker_logger(const redd_worker *w)
{
    return &w->rt->options.logger;
}

uv_loop_t *redd_worker_loop(redd_worker *w)
{
    return w->loop;
}

void *redd_worker_state(const redd_worker *w, const char *extension)
{
    size_t i = redd__extensions_find(&w->rt->extensions, extension);
    return i < w->n_extensions ? w->states[i] : NULL;
}

int redd_worker_stopping(const redd_worker *w)
{
    return w->stopping;
}

redd_worker *redd_runtime_worker(const redd_runtime *rt, unsigned i)
{
    redd_runtime *shared =
        (redd_runtime *)(uintptr_t)rt; /* locking changes nothing that one sees */
    (void)pthread_mutex_lock(&shared->lock);
    redd_worker *w = shared->workers && i < shared->n_workers ? shared->workers[i] : NULL;
    (void)pthread_mutex_unlock(&shared->lock);
    return w;
}
