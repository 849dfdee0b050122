/* SPDX-License-Identifier: MIT */
/** The runtime's own bounded pool of threads for blocking jobs (never libuv's). */
#ifndef REDD_TASK_BLOCKING_H
#define REDD_TASK_BLOCKING_H

#include "runtime/base/list.h"

#include <redd/alloc.h>

typedef struct redd__blocking redd__blocking;

/** Threads start when jobs want them, at most `threads`; at most `queue` jobs wait. */
int redd__blocking_new(const redd_allocator *a, unsigned threads, unsigned queue,
                       redd__blocking **out);
/** Waits for the jobs that run and ends the threads. All executors must be closed. */
void redd__blocking_free(redd__blocking *b);

/** One place in the pool, in the submitter's memory; private fields. */
typedef struct redd__blocking_item redd__blocking_item;
struct redd__blocking_item {
    redd__list link; /* initialised by the submitter; in the pool's list until a thread takes it */
    void (*run)(redd__blocking_item *item); /* on a pool thread */
    /** Next on the same thread, when the item's place in the pool is free again; the last use of
     * the item. */
    void (*done)(redd__blocking_item *item);
};
/** Any thread. UV_EBUSY when the queue is full, or a thread's creation error when there is none. */
int redd__blocking_submit(redd__blocking *b, redd__blocking_item *item);
/** True when the item had not begun: neither function will be called. Any thread. */
bool redd__blocking_withdraw(redd__blocking *b, redd__blocking_item *item);

#endif
