/* SPDX-License-Identifier: MIT */
/** The runtime's own struct. */
#ifndef REDD_WORKER_RUNTIME_H
#define REDD_WORKER_RUNTIME_H

#include "runtime/op/registry.h"
#include "runtime/task/blocking.h"
#include "runtime/worker/metrics.h"
#include "runtime/worker/settings.h"

#include <redd/worker.h>

#include <pthread.h>
#include <stdatomic.h>

typedef enum redd__runtime_state {
    REDD__RUNTIME_OPEN,
    REDD__RUNTIME_SEALED,
    REDD__RUNTIME_FAILED, /* can only be freed */
} redd__runtime_state;

/** Up to `failure` it is written by the thread that owns it, and constant once sealed. */
struct redd_runtime {
    redd__registry registry; /* first: see redd__registry_of */
    redd_runtime_options options;
    const redd_allocator *alloc;
    redd__extensions extensions;
    redd__settings settings;
    redd__metrics metrics; /* once sealed */
    redd__blocking *blocking;
    redd__message message;
    redd__runtime_state state;
    int jobs_error; /* of redd_default_workers, told when it matters */
    const char *jobs_source;
    unsigned n_workers;

    pthread_mutex_t lock; /* guards `failure`, `workers` and each worker's `control` against other
                             threads; nothing is locked or called while it is held */
    int failure;          /* the first error of a worker */
    redd__message failure_message;
    redd_worker **workers; /* [n_workers], NULL where none runs; NULL before run and attach */

    atomic_int stop; /* 0, or the mode that was asked for */
    /** Workers that have something to do, plus posts that were not delivered: at 0 nothing can ever
     *  happen any more. */
    atomic_size_t busy;
    atomic_uint_fast64_t forced;
};

/** Clears the message; every public call that may fail begins so. */
redd__message *redd__runtime_begin(redd_runtime *rt);
/** The fini of the first `n` extensions, in reverse. */
void redd__runtime_run_finis(redd_runtime *rt, size_t n);
/** Seals, and makes the table of `n` workers: once. */
int redd__runtime_prepare(redd_runtime *rt, unsigned n);
/** After the run: no thread finds a worker any more. */
void redd__runtime_forget_workers(redd_runtime *rt);
/** Logs the sentence at once, and keeps it with `code` if it is the first. Any thread. */
void redd__runtime_fail(redd_runtime *rt, int code, const char *format, ...) REDD_PRINTF(3, 4);
/** One less of `busy`; stops the runtime when that was the last. Any thread. */
void redd__runtime_rest(redd_runtime *rt);
/** Moves a worker's error into the message; returns its code, 0 when there was none. */
int redd__runtime_take_failure(redd_runtime *rt);

#endif
