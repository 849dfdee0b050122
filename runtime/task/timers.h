/* SPDX-License-Identifier: MIT */
/** The timer wheel of one worker, and the clocks that move it. */
#ifndef REDD_TASK_TIMERS_H
#define REDD_TASK_TIMERS_H

#include <redd/alloc.h>
#include <redd/timer.h>
#include <uv.h>

/** On the loop's thread. `clock` NULL: real time, driven by one uv_timer_t (unreferenced). */
int redd__timers_new(uv_loop_t *loop, const redd_allocator *a, redd_clock *clock,
                     redd_timers **out);
/** Stops every timer without a call; `done` runs on the loop, the wheel is freed. */
void redd__timers_close(redd_timers *t, void (*done)(void *user), void *user);

#endif
