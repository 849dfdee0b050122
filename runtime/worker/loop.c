/* SPDX-License-Identifier: MIT */
/** A worker on its own loop. */
#include "runtime/worker/worker.h"

/** Nothing keeps the loop alive: the worker waits for posts and for the others. */
static void rest(redd_worker *w)
{
    w->resting = true;
    redd__worker_update_hold(w);
    redd__runtime_rest(w->rt);
}

void redd__worker_wake(redd_worker *w)
{
    if (!w->resting)
        return;
    w->resting = false;
    atomic_fetch_add(&w->rt->busy, 1);
    redd__worker_update_hold(w);
}

static void close_left_open(uv_handle_t *handle, void *count)
{
    if (uv_is_closing(handle))
        return;
    uv_close(handle, NULL);
    (*(unsigned *)count)++;
}

static void close_loop(redd_worker *w)
{
    unsigned left_open = 0;
    do {
        uv_walk(w->loop, close_left_open, &left_open);
        (void)uv_run(w->loop, UV_RUN_DEFAULT);
    } while (uv_loop_close(w->loop) < 0);
    if (left_open > 0)
        redd_log(&w->rt->options.logger, REDD_LOG_WARN,
                 "worker %u: %u libuv handles were left open", w->index, left_open);
}

void redd__worker_run(redd_worker *w)
{
    while (!w->ended) {
        (void)uv_run(w->loop, UV_RUN_DEFAULT);
        if (!w->ended && !uv_loop_alive(w->loop))
            rest(w);
    }
    if (w->loop)
        close_loop(w);
}
