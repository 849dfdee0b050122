/* SPDX-License-Identifier: MIT */
/** What the wheel and the clocks know of each other. */
#ifndef REDD_TASK_WHEEL_H
#define REDD_TASK_WHEEL_H

#include "runtime/base/list.h"
#include "runtime/task/timers.h"

/* 64 slots of 6 bits each: eleven levels hold every 64-bit deadline, so none needs clamping. */
enum {
    REDD__WHEEL_BITS = 6,
    REDD__WHEEL_SLOTS = 1 << REDD__WHEEL_BITS,
    REDD__WHEEL_LEVELS = 11,
    REDD__SLOT_SOON = REDD__WHEEL_LEVELS * REDD__WHEEL_SLOTS, /* due: fires with the next pass */
    REDD__SLOT_FIRING,                                        /* due: fires with this pass */
    REDD__SLOT_COUNT
};

typedef struct redd__slot {
    redd_timer *first, *last;
} redd__slot;

struct redd_timers {
    uv_timer_t driver; /* first: sleeps until the next slot; real time only */
    uv_idle_t soon;    /* active while the slot SOON has timers */
    uv_loop_t *loop;
    const redd_allocator *alloc;
    redd_clock *clock; /* NULL: real time */
    redd__list link;   /* in the clock's list of wheels */
    uint64_t step;     /* the clock's last step that was seen */

    /* A timer lies at the level of the highest bit group in which its deadline and `elapsed`
     * differ, in the slot of its deadline's bits there. So all timers of one deadline share a slot,
     * in the order of their starts, every occupied slot lies ahead of `elapsed`, and a lower level
     * is due before a higher one. */
    uint64_t elapsed;
    uint64_t limit;    /* >= elapsed: what is due up to here has fired or fires in this pass */
    uint64_t armed_at; /* when the driver fires; UINT64_MAX: it is stopped */
    unsigned passes;   /* nested ones that are on the stack */
    unsigned open;     /* handles that have not closed */
    bool closing;
    void (*done)(void *user);
    void *user;
    uint32_t levels; /* bit per level with occupied slots */
    uint64_t occupied[REDD__WHEEL_LEVELS];
    redd__slot slots[REDD__SLOT_COUNT];
};

/** When the next slot is due (a timer's moment, or when a slot of a higher level is to be
 *  distributed); UINT64_MAX: nothing waits. Timers in SOON are not asked. */
uint64_t redd__timers_next(const redd_timers *w);
/** Fires what is due up to `now`, in order. */
void redd__timers_pass(redd_timers *w, uint64_t now);

struct redd_clock {
    int64_t unix_base;
    uint64_t now;
    redd__list wheels;
    uint64_t step;
};

/** Milliseconds of a clock that was never moved; not 0, so that 0 can mean "no deadline". */
#define REDD__CLOCK_START 1000U

#endif
