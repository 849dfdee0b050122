/* SPDX-License-Identifier: MIT */
/** A timer wheel on a loop, in virtual or real time, and timers that leave a trace. */
#ifndef REDD_TESTS_TIMERS_FIXTURE_H
#define REDD_TESTS_TIMERS_FIXTURE_H

#include "tests/unit/task_fixture.h"

#include "runtime/task/wheel.h"

static fixture f;
static redd_clock *the_clock;
static redd_timers *timers;
static int wheels_closed;

static inline void on_wheel_closed(void *user)
{
    (void)user;
    wheels_closed++;
}

static inline int setup_virtual(void **state)
{
    (void)state;
    fixture_init(&f);
    wheels_closed = 0;
    assert_int_equal(redd_virtual_clock_new(1700000000, &the_clock), 0);
    assert_int_equal(redd__timers_new(&f.loop, f.alloc, the_clock, &timers), 0);
    return 0;
}

static inline int setup_real(void **state)
{
    (void)state;
    fixture_init(&f);
    wheels_closed = 0;
    assert_int_equal(redd__timers_new(&f.loop, f.alloc, NULL, &timers), 0);
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    if (timers)
        redd__timers_close(timers, on_wheel_closed, NULL);
    timers = NULL;
    fixture_run(&f);
    assert_int_equal(wheels_closed, 1);
    fixture_fini(&f);
    redd_clock_free(the_clock);
    the_clock = NULL;
    return 0;
}

/* --- what fired, and when --- */

typedef struct entry {
    redd_timer timer;
    int number;
    int fired;
    uint64_t at;
} entry;

static int trace[128];
static int traced;

static inline void on_entry(redd_timer *t, void *user)
{
    entry *e = user;
    assert_ptr_equal(t, &e->timer);
    assert_false(redd_timer_active(t));
    e->fired++;
    e->at = redd_timers_now(timers);
    trace[traced++] = e->number;
}

/** Not on a test's stack, so that a failed test's timers can still be stopped. */
static entry entries[128];

static inline entry *entries_init(int n)
{
    entry *e = entries;
    traced = 0;
    memset(e, 0, (size_t)n * sizeof(*e));
    for (int i = 0; i < n; i++) {
        e[i].number = i;
        redd_timer_init(&e[i].timer, timers, on_entry, &e[i]);
    }
    return e;
}

static inline void on_keep_alive(uv_timer_t *t)
{
    (void)t;
    static int ticks;
    if (++ticks > 20000)
        fail_msg("the wheel did not fire within 20 seconds");
}

/** `n` + 1 turns of a loop that something else keeps alive. */
static inline void turns(int n)
{
    static uv_timer_t keep_alive;
    uv_timer_init(&f.loop, &keep_alive);
    uv_timer_start(&keep_alive, on_keep_alive, 1000000, 0);
    for (int i = 0; i < n; i++)
        fixture_turn(&f);
    uv_close((uv_handle_t *)&keep_alive, NULL);
    fixture_turn(&f);
}

static inline void on_again_at_once(redd_timer *t, void *user)
{
    entry *e = user;
    e->fired++;
    redd_timer_start(t, 0);
}

#endif
