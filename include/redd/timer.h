/* SPDX-License-Identifier: MIT */
/** Timers: one wheel per worker, driven by one libuv timer; starting and stopping cost O(1). */
#ifndef REDD_TIMER_H
#define REDD_TIMER_H

#include <redd/future.h>

REDD_BEGIN_DECLS

typedef struct redd_timers redd_timers;
typedef struct redd_timer redd_timer;
typedef struct redd_clock redd_clock;

/** Runs on the worker's thread, with the timer stopped: it may start or free it. */
typedef void (*redd_timer_fn)(redd_timer *t, void *user);

/** Caller's memory; the fields are private. */
struct redd_timer {
    redd_timer *next, *prev;
    uint64_t deadline;
    redd_timer_fn fn;
    void *user;
    redd_timers *timers;
    uint32_t slot; /* level and slot in the wheel; 0 = stopped */
};

REDD_API void redd_timer_init(redd_timer *t, redd_timers *timers, redd_timer_fn fn, void *user);
/** (Re)starts: fires once, not before `ms` milliseconds from redd_timers_now, timers of the same
 * deadline in the order of their starts. 0 fires in the next turn. Cannot fail. */
REDD_API void redd_timer_start(redd_timer *t, uint64_t ms);
/** Does nothing on a stopped timer. */
REDD_API void redd_timer_stop(redd_timer *t);
static inline bool redd_timer_active(const redd_timer *t)
{
    return t->slot != 0;
}

/** Monotonic milliseconds of the worker's clock, as of the beginning of this loop turn: code that
 *  has worked long since then may call uv_update_time first. No system call. */
REDD_API uint64_t redd_timers_now(const redd_timers *timers);
/** Seconds since 1970 of the worker's clock. */
REDD_API int64_t redd_timers_unix_time(const redd_timers *timers);
/** The same in milliseconds. */
REDD_API int64_t redd_timers_unix_ms(const redd_timers *timers);

/** A future that is ready (undefined) after `ms`. UV_ENOMEM. */
REDD_API int redd_sleep_new(redd_timers *timers, uint64_t ms, redd_future **out);

/* --- clocks --- */

/** A clock that moves only by redd_clock_advance. For workers on the calling thread's own loop
 *  (redd_runtime_attach). */
REDD_API int redd_virtual_clock_new(int64_t unix_time, redd_clock **out);
/** Every worker that uses it must be gone. */
REDD_API void redd_clock_free(redd_clock *c);
/** Moves time on, timer by timer: each fires at its own moment, in order. Tasks that they wake run
 *  in the loop's next turn. On the thread of the clock's workers. */
REDD_API void redd_clock_advance(redd_clock *c, uint64_t ms);

REDD_END_DECLS

#endif
