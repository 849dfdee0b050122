/* SPDX-License-Identifier: MIT */
/** What other threads say to a worker: one queue, one uv_async_t. */
#ifndef REDD_TASK_INBOX_H
#define REDD_TASK_INBOX_H

#include <redd/alloc.h>
#include <uv.h>

/** Intrusive message. `deliver` runs on the worker's thread. */
typedef struct redd__note redd__note;
struct redd__note {
    redd__note *next;
    void (*deliver)(redd__note *n);
};

/** Counted (any thread), so that senders may hold it beyond the worker's life. */
typedef struct redd__inbox redd__inbox;

/** On the loop's thread. The async handle is unreferenced: it never keeps the loop alive by itself.
 *  The first reference is the caller's; it is dropped by unref, after close. */
int redd__inbox_new(uv_loop_t *loop, const redd_allocator *a, redd__inbox **out);
redd__inbox *redd__inbox_ref(redd__inbox *in);
void redd__inbox_unref(redd__inbox *in);

/** Any thread. REDD_ECLOSED: the worker has ended, the note stays the caller's. Otherwise it cannot
 *  fail. Notes of one thread are delivered in order. */
int redd__inbox_post(redd__inbox *in, redd__note *n);

/** Delivers what is there without waiting for the loop's turn; false when nothing was. On the
 * loop's thread. */
bool redd__inbox_deliver(redd__inbox *in);

/** Delivers what is there, then refuses further notes and closes the handle (`done` runs on the
 *  loop; may be NULL). Once, on the loop's thread. */
void redd__inbox_close(redd__inbox *in, void (*done)(void *user), void *user);

#endif
