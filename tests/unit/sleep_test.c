/* SPDX-License-Identifier: MIT */
/** The sleep future, and allocations that fail. */
#include "tests/unit/timers_fixture.h"

/* --- sleep --- */

static void sleep_is_ready_in_time(void **state)
{
    (void)state;
    assert_int_equal(fixture_executor(&f, 0), 0);
    redd_future *sleep;
    redd_join *join;
    redd_value out;
    bell b;
    bell_init(&b);
    assert_int_equal(redd_sleep_new(timers, 100, &sleep), 0);
    assert_int_equal(redd_spawn(f.ex, sleep, &join), 0);
    fixture_turn(&f);
    redd_clock_advance(the_clock, 99);
    fixture_turn(&f);
    assert_int_equal(redd_join_poll(join, &b.base, &out), REDD_PENDING);
    redd_clock_advance(the_clock, 1);
    assert_int_equal(b.rings, 0); /* its task runs in the loop's next turn */
    fixture_run(&f);
    assert_int_equal(b.rings, 1);
    assert_int_equal(redd_join_poll(join, &b.base, &out), REDD_READY);
    assert_int_equal(out.kind, REDD_UNDEFINED);
    redd_join_detach(join);
}

static void sleep_counts_from_its_making(void **state)
{
    (void)state;
    redd_future *sleep;
    redd_value out;
    bell b;
    bell_init(&b);
    assert_int_equal(redd_sleep_new(timers, 10, &sleep), 0);
    redd_clock_advance(the_clock, 10);
    assert_int_equal(redd_future_poll(sleep, &b.base, &out), REDD_READY);
    redd_future_drop(sleep);
}

static void a_dropped_sleep_leaves_nothing(void **state)
{
    (void)state;
    redd_future *sleep;
    redd_value out;
    bell b;
    bell_init(&b);
    assert_int_equal(redd_sleep_new(timers, 10, &sleep), 0);
    assert_int_equal(redd_future_poll(sleep, &b.base, &out), REDD_PENDING);
    redd_future_drop(sleep);
    assert_int_equal(b.refs, 0);
    redd_clock_advance(the_clock, 10);
    assert_int_equal(b.rings, 0);
    /* One that outlives its wheel is never ready, and can be dropped. */
    assert_int_equal(redd_sleep_new(timers, 10, &sleep), 0);
    redd__timers_close(timers, on_wheel_closed, NULL);
    timers = NULL;
    fixture_run(&f);
    redd_future_drop(sleep);
}

static void failures_are_reported(void **state)
{
    (void)state;
    redd_future *sleep = NULL;
    redd_timers *other = NULL;
    redd_counting_allocator_fail_at(f.counting, 1, true);
    assert_int_equal(redd_sleep_new(timers, 10, &sleep), UV_ENOMEM);
    assert_int_equal(redd__timers_new(&f.loop, f.alloc, the_clock, &other), UV_ENOMEM);
    redd_counting_allocator_fail_at(f.counting, 0, false);
    assert_null(sleep);
    assert_null(other);
}

int main(void)
{
#define VIRTUAL(name) cmocka_unit_test_setup_teardown(name, setup_virtual, teardown)
    const struct CMUnitTest tests[] = {
        VIRTUAL(sleep_is_ready_in_time),
        VIRTUAL(sleep_counts_from_its_making),
        VIRTUAL(a_dropped_sleep_leaves_nothing),
        VIRTUAL(failures_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
