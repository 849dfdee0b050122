/* SPDX-License-Identifier: MIT */
/** The wheel in real time, driven by libuv. */
#include "tests/unit/timers_fixture.h"

/* --- real time --- */

/** Lets the real clock go on while the loop does not look. */
static void block_loop(uint64_t ms)
{
    uint64_t end = uv_hrtime() + ms * 1000000;
    while (uv_hrtime() < end)
        ;
}

/** Turns the loop until `n` timers fired. */
static void run_until_traced(int n)
{
    uv_timer_t keep_alive;
    uv_timer_init(&f.loop, &keep_alive);
    uv_timer_start(&keep_alive, on_keep_alive, 1, 1); /* so that no turn sleeps for long */
    while (traced < n)
        (void)uv_run(&f.loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&keep_alive, NULL);
    fixture_run(&f);
}

static void real_timers_fire_not_early(void **state)
{
    (void)state;
    const uint64_t ms[] = {30, 0, 10, 10};
    const int order[] = {1, 2, 3, 0};
    entry *e = entries_init(4);
    uv_update_time(&f.loop);
    uint64_t start = redd_timers_now(timers);
    for (int i = 0; i < 4; i++)
        redd_timer_start(&e[i].timer, ms[i]);
    run_until_traced(4);
    assert_memory_equal(trace, order, sizeof(order));
    for (int i = 0; i < 4; i++)
        assert_true(e[i].at - start >= ms[i]);
}

static void real_timers_that_are_late_keep_their_order(void **state)
{
    (void)state;
    enum { N = 100 };
    entry *e = entries_init(N);
    uv_update_time(&f.loop);
    for (int i = 0; i < N; i++)
        redd_timer_start(&e[i].timer, (uint64_t)(i * 37 % N));
    block_loop(120);
    run_until_traced(N);
    for (int i = 0; i < N; i++)
        assert_int_equal(trace[i] * 37 % N, i);
}

static void real_timers_do_not_keep_the_loop(void **state)
{
    (void)state;
    entry *e = entries_init(2);
    redd_timer_start(&e[0].timer, 100000);
    redd_timer_start(&e[1].timer, 0);
    assert_false(uv_loop_alive(&f.loop));
    fixture_run(&f);
    redd_timer_stop(&e[0].timer);
    redd_timer_stop(&e[1].timer);
}

static void the_driver_is_armed_only_for_the_first(void **state)
{
    (void)state;
    entry *e = entries_init(4);
    uv_update_time(&f.loop);
    assert_false(uv_is_active((uv_handle_t *)&timers->driver));
    redd_timer_start(&e[0].timer, 10000);
    assert_int_equal(uv_timer_get_due_in(&timers->driver), 10000);
    redd_timer_start(&e[1].timer, 20000);
    assert_int_equal(uv_timer_get_due_in(&timers->driver), 10000);
    redd_timer_start(&e[2].timer, 5000);
    assert_int_equal(uv_timer_get_due_in(&timers->driver), 5000);
    redd_timer_stop(&e[2].timer); /* O(1): the driver finds out when it fires */
    assert_int_equal(uv_timer_get_due_in(&timers->driver), 5000);
    for (int i = 0; i < 4; i++)
        redd_timer_stop(&e[i].timer);
}

static void real_zero_leaves_room_for_io(void **state)
{
    (void)state;
    entry *e = entries_init(1);
    redd_timer_init(&e->timer, timers, on_again_at_once, e);
    redd_timer_start(&e->timer, 0);
    turns(100); /* each must return */
    assert_true(e->fired >= 99);
    assert_true(e->fired <= 200);
    redd_timer_stop(&e->timer);
}

static void real_unix_time_is_the_wall_clock(void **state)
{
    (void)state;
    uv_timeval64_t now;
    assert_int_equal(uv_gettimeofday(&now), 0);
    int64_t difference = redd_timers_unix_time(timers) - now.tv_sec;
    assert_true(difference >= -1 && difference <= 5);
    int64_t ms = redd_timers_unix_ms(timers) - (now.tv_sec * 1000 + now.tv_usec / 1000);
    assert_true(ms >= 0 && ms <= 5000);
}

static void closing_stops_without_a_call(void **state)
{
    (void)state;
    entry *e = entries_init(3);
    redd_timer_start(&e[0].timer, 0);
    redd_timer_start(&e[1].timer, 1);
    redd_timer_start(&e[2].timer, 1000000);
    redd__timers_close(timers, on_wheel_closed, NULL);
    timers = NULL;
    for (int i = 0; i < 3; i++)
        assert_false(redd_timer_active(&e[i].timer));
    block_loop(3);
    fixture_run(&f);
    assert_int_equal(traced, 0);
}

int main(void)
{
#define REAL(name) cmocka_unit_test_setup_teardown(name, setup_real, teardown)
    const struct CMUnitTest tests[] = {
        REAL(real_timers_fire_not_early),       REAL(real_timers_that_are_late_keep_their_order),
        REAL(real_timers_do_not_keep_the_loop), REAL(the_driver_is_armed_only_for_the_first),
        REAL(real_zero_leaves_room_for_io),     REAL(real_unix_time_is_the_wall_clock),
        REAL(closing_stops_without_a_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
