/* SPDX-License-Identifier: MIT */
/** The wheel on a virtual clock. */
#include "tests/unit/timers_fixture.h"

static void fires_in_order_each_at_its_moment(void **state)
{
    (void)state;
    const uint64_t ms[] = {500, 1, 64, 63, 65, 4096, 4095, 100000, 64, 1};
    const int order[] = {1, 9, 3, 2, 8, 4, 0, 6, 5, 7};
    entry *e = entries_init(10);
    uint64_t start = redd_timers_now(timers);
    for (int i = 0; i < 10; i++) {
        redd_timer_start(&e[i].timer, ms[i]);
        assert_true(redd_timer_active(&e[i].timer));
    }
    redd_clock_advance(the_clock, 100000);
    assert_int_equal(traced, 10);
    assert_memory_equal(trace, order, sizeof(order));
    for (int i = 0; i < 10; i++)
        assert_int_equal(e[i].at - start, ms[i]);
}

static void not_a_moment_early(void **state)
{
    (void)state;
    for (uint64_t ms = 1; ms < 300; ms++) {
        entry *e = entries_init(1);
        redd_timer_start(&e->timer, ms);
        redd_clock_advance(the_clock, ms - 1);
        assert_int_equal(e->fired, 0);
        redd_clock_advance(the_clock, 1);
        assert_int_equal(e->fired, 1);
        redd_clock_advance(the_clock, 1000);
        assert_int_equal(e->fired, 1);
    }
}

static void stop_and_restart(void **state)
{
    (void)state;
    entry *e = entries_init(3);
    for (int i = 0; i < 3; i++)
        redd_timer_start(&e[i].timer, 10);
    redd_timer_stop(&e[1].timer);
    redd_timer_stop(&e[1].timer);
    assert_false(redd_timer_active(&e[1].timer));
    redd_timer_start(&e[0].timer, 10); /* now the youngest of its moment */
    redd_clock_advance(the_clock, 5);
    redd_timer_start(&e[2].timer, 100);
    redd_clock_advance(the_clock, 95);
    assert_int_equal(traced, 1);
    redd_clock_advance(the_clock, 5);
    assert_int_equal(traced, 2);
    assert_int_equal(trace[0], 0);
    assert_int_equal(trace[1], 2);
}

static void extreme_deadlines(void **state)
{
    (void)state;
    entry *e = entries_init(4);
    redd_timer_start(&e[0].timer, UINT64_MAX);
    redd_timer_start(&e[1].timer, UINT64_C(1) << 36);
    redd_timer_start(&e[2].timer, UINT64_C(1) << 63);
    redd_timer_start(&e[3].timer, (UINT64_C(1) << 36) - 1);
    redd_clock_advance(the_clock, (UINT64_C(1) << 36) - 1);
    assert_int_equal(traced, 1);
    redd_clock_advance(the_clock, 1);
    assert_int_equal(traced, 2);
    assert_int_equal(trace[1], 1);
    redd_clock_advance(the_clock, UINT64_C(1) << 63);
    assert_int_equal(traced, 3);
    assert_int_equal(e[0].fired, 0);
    redd_clock_advance(the_clock, UINT64_MAX);
    assert_int_equal(e[0].fired, 1);
    assert_true(redd_timers_now(timers) == UINT64_MAX);
    redd_timer_start(&e[1].timer, 5); /* even at the end of time */
    redd_clock_advance(the_clock, 5);
    assert_int_equal(e[1].fired, 2);
}

/* --- callbacks that meddle --- */

typedef struct meddler {
    entry own;
    entry *victim;
    entry *same_moment;
    uint64_t again;
    int rounds;
} meddler;

static void on_meddle(redd_timer *t, void *user)
{
    meddler *m = user;
    on_entry(t, &m->own);
    redd_timer_stop(&m->victim->timer);
    redd_timer_start(&m->same_moment->timer, 0);
    if (m->rounds-- > 0)
        redd_timer_start(t, m->again);
}

static void callbacks_start_and_stop(void **state)
{
    (void)state;
    entry *e = entries_init(2);
    static meddler m;
    m = (meddler){.victim = &e[0], .same_moment = &e[1], .again = 7, .rounds = 2};
    redd_timer_init(&m.own.timer, timers, on_meddle, &m);
    uint64_t start = redd_timers_now(timers);
    redd_timer_start(&m.own.timer, 10);
    redd_timer_start(&e[0].timer, 10);
    redd_clock_advance(the_clock, 10);
    assert_int_equal(e[0].fired, 0); /* stopped by its neighbour */
    assert_int_equal(e[1].fired, 1);
    assert_int_equal(e[1].at - start, 10);
    redd_clock_advance(the_clock, 100);
    assert_int_equal(m.own.fired, 3);
    assert_int_equal(m.own.at - start, 24);
    assert_int_equal(e[1].fired, 3);
}

static void on_free(redd_timer *t, void *user)
{
    assert_int_equal(((entry *)user)->number, 42);
    assert_ptr_equal(t, user);
    redd_free(f.alloc, user, sizeof(entry));
    traced++;
}

static void a_timer_frees_itself(void **state)
{
    (void)state;
    traced = 0;
    for (int i = 0; i < 4; i++) {
        entry *e = redd_alloc(f.alloc, sizeof(*e));
        e->number = 42;
        redd_timer_init(&e->timer, timers, on_free, e);
        redd_timer_start(&e->timer, i < 2 ? 5 : 5000);
    }
    redd_clock_advance(the_clock, 5000);
    assert_int_equal(traced, 4);
}

static void a_timer_of_zero_does_not_hold_the_clock(void **state)
{
    (void)state;
    entry *e = entries_init(2);
    redd_timer_init(&e[0].timer, timers, on_again_at_once, &e[0]);
    redd_timer_start(&e[0].timer, 10);
    redd_timer_start(&e[1].timer, 20);
    redd_clock_advance(the_clock, 20);
    assert_int_equal(e[1].fired, 1);
    assert_true(e[0].fired >= 2);
    int before = e[0].fired;
    redd_clock_advance(the_clock, 0);
    assert_true(e[0].fired > before);
    redd_timer_stop(&e[0].timer);
}

static void zero_fires_in_the_next_turn_of_the_loop(void **state)
{
    (void)state;
    entry *e = entries_init(2);
    redd_timer_start(&e[0].timer, 0);
    redd_timer_start(&e[1].timer, 1);
    assert_int_equal(traced, 0);
    turns(1);
    assert_int_equal(e[0].fired, 1); /* a virtual clock need not be moved for that */
    turns(2);
    assert_int_equal(e[1].fired, 0);
    redd_timer_stop(&e[1].timer);
}

static void on_advance(redd_timer *t, void *user)
{
    on_entry(t, user);
    redd_clock_advance(the_clock, 50);
}

static void a_callback_may_move_the_clock(void **state)
{
    (void)state;
    entry *e = entries_init(4);
    redd_timer_init(&e[0].timer, timers, on_advance, &e[0]);
    uint64_t start = redd_timers_now(timers);
    const uint64_t ms[] = {10, 10, 40, 70};
    for (int i = 0; i < 4; i++)
        redd_timer_start(&e[i].timer, ms[i]);
    redd_clock_advance(the_clock, 20);
    assert_int_equal(traced, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(trace[i], i);
    assert_int_equal(redd_timers_now(timers) - start, 60);
    redd_clock_advance(the_clock, 10);
    assert_int_equal(e[3].at - start, 70);
}

static void on_close_wheel(redd_timer *t, void *user)
{
    on_entry(t, user);
    redd__timers_close(timers, on_wheel_closed, NULL);
    redd_timer_start(t, 1); /* too late, and harmless */
    assert_false(redd_timer_active(t));
}

static void closing_inside_a_callback(void **state)
{
    (void)state;
    entry *e = entries_init(3);
    redd_timer_init(&e[0].timer, timers, on_close_wheel, &e[0]);
    redd_timer_start(&e[0].timer, 10);
    redd_timer_start(&e[1].timer, 10);
    redd_timer_start(&e[2].timer, 0);
    redd_clock_advance(the_clock, 5);
    redd_timer_start(&e[2].timer, 5000);
    redd_clock_advance(the_clock, 5000);
    assert_int_equal(e[0].fired, 1);
    assert_int_equal(e[1].fired, 0);
    assert_false(redd_timer_active(&e[1].timer));
    assert_false(redd_timer_active(&e[2].timer));
    timers = NULL;
}

/* --- several wheels on one clock --- */

typedef struct shared_entry {
    redd_timer timer;
    int number;
} shared_entry;

static void on_shared(redd_timer *t, void *user)
{
    (void)t;
    trace[traced++] = ((shared_entry *)user)->number;
}

static void wheels_of_one_clock_fire_in_the_order_of_time(void **state)
{
    (void)state;
    redd_timers *other;
    assert_int_equal(redd__timers_new(&f.loop, f.alloc, the_clock, &other), 0);
    static shared_entry e[6];
    traced = 0;
    for (int i = 0; i < 6; i++) {
        e[i].number = i;
        redd_timer_init(&e[i].timer, i % 2 ? timers : other, on_shared, &e[i]);
        redd_timer_start(&e[i].timer, 1000 * (uint64_t)(i + 1));
    }
    redd_clock_advance(the_clock, 6000);
    assert_int_equal(traced, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(trace[i], i);
    wheels_closed--;
    redd__timers_close(other, on_wheel_closed, NULL);
    fixture_run(&f);
}

static void unix_time_follows_the_clock(void **state)
{
    (void)state;
    assert_int_equal(redd_timers_unix_time(timers), 1700000000);
    assert_int_equal(redd_timers_unix_ms(timers), 1700000000000);
    redd_clock_advance(the_clock, 999);
    assert_int_equal(redd_timers_unix_time(timers), 1700000000);
    assert_int_equal(redd_timers_unix_ms(timers), 1700000000999);
    redd_clock_advance(the_clock, 1);
    assert_int_equal(redd_timers_unix_time(timers), 1700000001);
    assert_int_equal(redd_timers_unix_ms(timers), 1700000001000);
    redd_clock_advance(the_clock, 86400000);
    assert_int_equal(redd_timers_unix_time(timers), 1700086401);
}

int main(void)
{
#define VIRTUAL(name) cmocka_unit_test_setup_teardown(name, setup_virtual, teardown)
    const struct CMUnitTest tests[] = {
        VIRTUAL(fires_in_order_each_at_its_moment),
        VIRTUAL(not_a_moment_early),
        VIRTUAL(stop_and_restart),
        VIRTUAL(extreme_deadlines),
        VIRTUAL(callbacks_start_and_stop),
        VIRTUAL(a_timer_frees_itself),
        VIRTUAL(a_timer_of_zero_does_not_hold_the_clock),
        VIRTUAL(zero_fires_in_the_next_turn_of_the_loop),
        VIRTUAL(a_callback_may_move_the_clock),
        VIRTUAL(closing_inside_a_callback),
        VIRTUAL(wheels_of_one_clock_fire_in_the_order_of_time),
        VIRTUAL(unix_time_follows_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
