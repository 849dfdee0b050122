/* SPDX-License-Identifier: MIT */
/** A cancellation that is fired once and seen by any number of futures of the same worker. */
#ifndef REDD_CANCEL_H
#define REDD_CANCEL_H

#include <redd/alloc.h>
#include <redd/future.h>

REDD_BEGIN_DECLS

/** Counted. */
typedef struct redd_cancel redd_cancel;
/** One waiter's place; zeroed before the first poll, in the waiter's memory. Private fields. */
typedef struct redd_cancel_wait {
    struct redd_cancel_wait *next, *prev;
    redd_waker *waker;
} redd_cancel_wait;

REDD_API int redd_cancel_new(const redd_allocator *a, redd_cancel **out);
REDD_API redd_cancel *redd_cancel_ref(redd_cancel *c);
REDD_API void redd_cancel_unref(redd_cancel *c);
/** Wakes every waiter; later calls do nothing. */
REDD_API void redd_cancel_fire(redd_cancel *c);
REDD_API bool redd_cancel_fired(const redd_cancel *c);
/** READY once fired. PENDING keeps the waker in `wait` until fire or leave. */
REDD_API redd_poll redd_cancel_poll(redd_cancel *c, redd_cancel_wait *wait, redd_waker *waker);
/** Ends the wait; must be called before `wait`'s memory goes. Does nothing on a zeroed one. */
REDD_API void redd_cancel_leave(redd_cancel *c, redd_cancel_wait *wait);

REDD_END_DECLS

#endif
