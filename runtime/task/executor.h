/* SPDX-License-Identifier: MIT */
/** The default executor: single-threaded, driven by one libuv loop. */
#ifndef REDD_TASK_EXECUTOR_H
#define REDD_TASK_EXECUTOR_H

#include "runtime/task/blocking.h"
#include "runtime/task/inbox.h"

#include <redd/log.h>
#include <redd/task.h>

typedef struct redd__executor_options {
    uv_loop_t *loop;
    const redd_allocator *alloc;
    redd__blocking *blocking; /* NULL: spawn_blocking is UV_ENOTSUP */
    unsigned run_budget;      /* polls per loop turn; 0: 1,024 */
    /** Runs after each batch of polls in a turn (may be NULL): batches of completions leave here.
     */
    void (*after_run)(void *user);
    /** Runs when the last live task has ended (may be NULL); on the loop, never inside a poll. */
    void (*on_idle)(void *user);
    void *user;
} redd__executor_options;

/**
 * Runs woken tasks in a prepare and a check handle (before and after libuv's I/O phase); an idle
 * handle keeps the loop from sleeping while tasks are left over. It keeps the loop alive exactly
 * while it has live tasks.
 */
int redd__executor_new(const redd__executor_options *options, redd_executor **out);
/** The inbox that its remote wakes and blocking results use; borrowed. */
redd__inbox *redd__executor_inbox(redd_executor *ex);
/** As the table's live; any thread, as long as the executor is not closed. */
size_t redd__executor_live(const redd_executor *base);
/** Drops every live future and abandons every job; returns how many there were. Spawning still
 * works inside the drops, and what is spawned there is dropped as well. */
size_t redd__executor_abort_all(redd_executor *base);
/** Aborts all, refuses spawns, closes the handles; `done` runs on the loop, the executor is freed.
 */
void redd__executor_close(redd_executor *base, void (*done)(void *user), void *user);

#endif
