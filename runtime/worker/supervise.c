/* SPDX-License-Identifier: MIT */
/** What concerns all workers of a runtime: their errors, their idleness, their stop. */
#include "runtime/worker/worker.h"

#include <stdio.h>
#include <string.h>

void redd__runtime_fail(redd_runtime *rt, int code, const char *format, ...)
{
    redd__message message;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message.text, sizeof(message.text), format, args);
    va_end(args);
    redd_log(&rt->options.logger, REDD_LOG_ERROR, "%s", message.text);
    (void)pthread_mutex_lock(&rt->lock);
    if (!rt->failure) {
        rt->failure = code;
        rt->failure_message = message;
    }
    (void)pthread_mutex_unlock(&rt->lock);
}

int redd__runtime_prepare(redd_runtime *rt, unsigned n)
{
    int rc = redd_runtime_seal(rt);
    if (rc < 0)
        return rc;
    if (rt->workers)
        return redd__message_fail(&rt->message, REDD_ESTATE, "a runtime runs once");
    redd_worker **workers = redd_alloc_zero(rt->alloc, n * sizeof(*workers));
    if (!workers)
        return redd__message_fail(&rt->message, UV_ENOMEM, "%s", redd_error_text(UV_ENOMEM));
    (void)pthread_mutex_lock(&rt->lock);
    rt->workers = workers;
    rt->n_workers = n;
    (void)pthread_mutex_unlock(&rt->lock);
    return 0;
}

void redd__runtime_forget_workers(redd_runtime *rt)
{
    (void)pthread_mutex_lock(&rt->lock);
    memset(rt->workers, 0, rt->n_workers * sizeof(*rt->workers));
    (void)pthread_mutex_unlock(&rt->lock);
}

int redd__runtime_take_failure(redd_runtime *rt)
{
    (void)pthread_mutex_lock(&rt->lock);
    int code = rt->failure;
    if (code)
        rt->message = rt->failure_message;
    (void)pthread_mutex_unlock(&rt->lock);
    return code;
}

void redd__runtime_rest(redd_runtime *rt)
{
    if (atomic_fetch_sub(&rt->busy, 1) == 1)
        redd_runtime_stop(rt, REDD_STOP_GRACEFUL);
}

void redd_runtime_stop(redd_runtime *rt, redd_stop_mode mode)
{
    int old = atomic_load(&rt->stop);
    while (old < (int)mode && !atomic_compare_exchange_weak(&rt->stop, &old, (int)mode))
        ;
    (void)pthread_mutex_lock(&rt->lock);
    for (unsigned i = 0; rt->workers && i < rt->n_workers; i++)
        if (rt->workers[i])
            redd__worker_poke(rt->workers[i]);
    (void)pthread_mutex_unlock(&rt->lock);
}
