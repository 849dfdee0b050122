/* SPDX-License-Identifier: MIT */
#include "runtime/task/wheel.h"

#include <assert.h>

int redd_virtual_clock_new(int64_t unix_time, redd_clock **out)
{
    redd_clock *c = redd_alloc(redd_allocator_default(), sizeof(*c));
    if (!c)
        return UV_ENOMEM;
    c->unix_base = unix_time;
    c->now = REDD__CLOCK_START;
    c->step = 0;
    redd__list_init(&c->wheels);
    *out = c;
    return 0;
}

void redd_clock_free(redd_clock *c)
{
    if (!c)
        return;
    assert(redd__list_empty(&c->wheels));
    redd_free(redd_allocator_default(), c, sizeof(*c));
}

/** The earliest moment up to `target` at which any wheel has something to do, or else `target`. */
static uint64_t next_moment(const redd_clock *c, uint64_t target)
{
    const redd__list *link;
    for (link = c->wheels.next; link != &c->wheels; link = link->next) {
        uint64_t next = redd__timers_next(REDD__LIST_ITEM(link, redd_timers, link));
        if (next < target)
            target = next;
    }
    return target;
}

static redd_timers *wheel_behind(const redd_clock *c, uint64_t step)
{
    for (redd__list *link = c->wheels.next; link != &c->wheels; link = link->next) {
        redd_timers *w = REDD__LIST_ITEM(link, redd_timers, link);
        if (w->step < step)
            return w;
    }
    return NULL;
}

/** Fires everywhere what is due now. Callbacks may close wheels, so the walk starts over after
 *  each. */
static void step(redd_clock *c)
{
    uint64_t number = ++c->step;
    redd_timers *w;
    while ((w = wheel_behind(c, number))) {
        w->step = number;
        redd__timers_pass(w, c->now);
        /* Timers of 0 ms that callbacks started still belong to this moment; what those start in
         * turn waits, or a timer that restarts itself would hold the clock for ever. */
        redd__timers_pass(w, c->now);
    }
}

void redd_clock_advance(redd_clock *c, uint64_t ms)
{
    uint64_t target = ms < UINT64_MAX - c->now ? c->now + ms : UINT64_MAX;
    uint64_t moment;
    do {
        moment = next_moment(c, target);
        if (moment > c->now)
            c->now = moment;
        step(c);
    } while (moment < target);
}
