/* SPDX-License-Identifier: MIT */
#include "runtime/cli/signals.h"

#include "runtime/cli/sentence.h"

#include <redd/runtime.h>
#include <redd/worker.h>

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>
#include <uv.h>

enum { N_SIGNALS = 2 };
static const int watched[N_SIGNALS] = {SIGTERM, SIGINT};

/* Where the handler writes. It is never closed, since a handler on another thread may be about to
 * write when worker 0 ends. */
static atomic_int wake = -1;

/* Freed by its close callback. */
typedef struct watch {
    uv_poll_t handle;
    redd_worker *worker;
    int read_end;
} watch;

/* Set before the workers start, and cleared after their end. */
static void (*reopen_fn)(void *user);
static void *reopen_user;

void redd__signals_on_reopen(void (*fn)(void *user), void *user)
{
    reopen_fn = fn;
    reopen_user = user;
}

void redd__signals_ignore_reopen(void)
{
    (void)signal(SIGUSR1, SIG_IGN);
}

/* What has come and was not looked at yet. */
static atomic_bool stop_came, usr1_came;

/* Async-signal-safe. The byte only wakes the loop: one that waits there is enough. */
static void tell(atomic_bool *came)
{
    static const char byte = 0;
    if (atomic_exchange(came, true))
        return;
    ssize_t written = write(atomic_load(&wake), &byte, 1);
    (void)written;
}

static void restore_default(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int i = 0; i < N_SIGNALS; i++)
        (void)sigaction(watched[i], &action, NULL);
}

/* Gives both signals back to the system before anything else, so that the next one kills, even if a
 * worker is stuck and no loop turns. Async-signal-safe throughout. */
static void on_signal(int number)
{
    int kept = errno;
    (void)number;
    restore_default();
    tell(&stop_came);
    errno = kept;
}

static void on_usr1(int number)
{
    int kept = errno;
    (void)number;
    tell(&usr1_came);
    errno = kept;
}

static int take_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    /* One handler at a time: what comes meanwhile finds the system's own handling. */
    for (int i = 0; i < N_SIGNALS; i++)
        (void)sigaddset(&action.sa_mask, watched[i]);
    for (int i = 0; i < N_SIGNALS; i++) {
        if (sigaction(watched[i], &action, NULL) != 0)
            return -errno;
    }
    action.sa_handler = on_usr1;
    return !reopen_fn || sigaction(SIGUSR1, &action, NULL) == 0 ? 0 : -errno;
}

static void stop(watch *w)
{
    (void)uv_poll_stop(&w->handle);
    redd__say("redd serve", "stopping");
    redd_runtime_stop(redd_worker_runtime(w->worker), REDD_STOP_GRACEFUL);
}

static void on_wake(uv_poll_t *handle, int status, int events)
{
    char bytes[16];
    watch *w = handle->data;
    (void)status;
    (void)events;
    ssize_t n = read(w->read_end, bytes, sizeof(bytes));
    (void)n; /* the flags tell */
    if (atomic_exchange(&usr1_came, false) && reopen_fn)
        reopen_fn(reopen_user);
    if (atomic_exchange(&stop_came, false))
        stop(w);
}

static void free_watch(watch *w)
{
    (void)close(w->read_end);
    redd_free(redd_allocator_default(), w, sizeof(*w));
}

static void closed(uv_handle_t *handle)
{
    free_watch(handle->data);
}

static void end(redd_worker *worker, void *state)
{
    (void)worker;
    watch *w = state;
    if (!w)
        return;
    restore_default();
    if (reopen_fn)
        redd__signals_ignore_reopen();
    uv_close((uv_handle_t *)&w->handle, closed);
}

static int watch_pipe(watch *w)
{
    int err = uv_poll_init(redd_worker_loop(w->worker), &w->handle, w->read_end);
    if (err) {
        free_watch(w);
        return err;
    }
    w->handle.data = w;
    err = uv_poll_start(&w->handle, UV_READABLE, on_wake);
    uv_unref((uv_handle_t *)&w->handle); /* it must not keep the worker alive */
    if (!err)
        err = take_signals();
    if (err)
        end(w->worker, w);
    return err;
}

static int begin(redd_worker *worker, void *shared, void **state)
{
    (void)shared;
    if (redd_worker_index(worker) != 0)
        return 0;
    watch *w = redd_alloc_zero(redd_allocator_default(), sizeof(*w));
    if (!w)
        return UV_ENOMEM;
    uv_file ends[2];
    int err = uv_pipe(ends, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE);
    if (err) {
        redd_free(redd_allocator_default(), w, sizeof(*w));
        return err;
    }
    w->worker = worker;
    w->read_end = ends[0];
    atomic_store(&wake, ends[1]);
    err = watch_pipe(w);
    if (!err)
        *state = w;
    return err;
}

const redd_extension redd__signals_extension = {
    REDD_EXTENSION_HEAD,  .name = "cli.signals", .version = REDD_VERSION,
    .worker_init = begin, .worker_fini = end,
};
