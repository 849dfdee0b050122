/* SPDX-License-Identifier: MIT */
#include "runtime/cli/signals.h"

#include "runtime/cli/sentence.h"

#include <redd/runtime.h>
#include <redd/worker.h>

#include <signal.h>
#include <uv.h>

enum { N_SIGNALS = 2 };
static const int watched[N_SIGNALS] = {SIGTERM, SIGINT};

/* Freed by the last close callback. */
typedef struct watch {
    redd_worker *worker;
    uv_signal_t handles[N_SIGNALS];
    int open;
} watch;

static void closed(uv_handle_t *handle)
{
    watch *w = handle->data;
    if (--w->open == 0)
        redd_free(redd_allocator_default(), w, sizeof(*w));
}

static void stop_watching(watch *w)
{
    for (int i = 0; i < N_SIGNALS; i++)
        (void)uv_signal_stop(&w->handles[i]);
}

/* Once nobody watches, the system's own handling is back: the next signal kills, even if a worker
 * is stuck and no loop turns. */
static void on_signal(uv_signal_t *handle, int number)
{
    (void)number;
    watch *w = handle->data;
    stop_watching(w);
    redd__say("redd serve", "stopping");
    redd_runtime_stop(redd_worker_runtime(w->worker), REDD_STOP_GRACEFUL);
}

static void end(redd_worker *worker, void *state)
{
    (void)worker;
    watch *w = state;
    for (int i = 0, n = w ? w->open : 0; i < n; i++)
        uv_close((uv_handle_t *)&w->handles[i], closed);
}

static int open_handle(watch *w, uv_loop_t *loop, int number)
{
    uv_signal_t *handle = &w->handles[w->open];
    int err = uv_signal_init(loop, handle);
    if (err)
        return err;
    w->open++;
    handle->data = w;
    uv_unref((uv_handle_t *)handle); /* it must not keep the worker alive */
    /* Oneshot: the system takes the handler away as it delivers the first signal. */
    return uv_signal_start_oneshot(handle, on_signal, number);
}

static int begin(redd_worker *worker, void *shared, void **state)
{
    (void)shared;
    if (redd_worker_index(worker) != 0)
        return 0;
    watch *w = redd_alloc_zero(redd_allocator_default(), sizeof(*w));
    if (!w)
        return UV_ENOMEM;
    w->worker = worker;
    int err = 0;
    for (int i = 0; !err && i < N_SIGNALS; i++)
        err = open_handle(w, redd_worker_loop(worker), watched[i]);
    if (err && w->open == 0)
        redd_free(redd_allocator_default(), w, sizeof(*w));
    else if (err)
        end(worker, w);
    else
        *state = w;
    return err;
}

const redd_extension redd__signals_extension = {
    REDD_EXTENSION_HEAD,  .name = "cli.signals", .version = REDD_VERSION,
    .worker_init = begin, .worker_fini = end,
};
