/* SPDX-License-Identifier: MIT */
/** The wheel against a naive model, its clocks, and sleep. */
#include "tests/unit/task_fixture.h"

#include "runtime/task/wheel.h"

#include <unistd.h>

static fixture f;
static redd_clock *the_clock;
static redd_timers *timers;
static int wheels_closed;

static void on_wheel_closed(void *user)
{
    (void)user;
    wheels_closed++;
}

static int setup_virtual(void **state)
{
    (void)state;
    fixture_init(&f);
    wheels_closed = 0;
    assert_int_equal(redd_virtual_clock_new(1700000000, &the_clock), 0);
    assert_int_equal(redd__timers_new(&f.loop, f.alloc, the_clock, &timers), 0);
    return 0;
}

static int setup_real(void **state)
{
    (void)state;
    fixture_init(&f);
    wheels_closed = 0;
    assert_int_equal(redd__timers_new(&f.loop, f.alloc, NULL, &timers), 0);
    return 0;
}

static int teardown(void **state)
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

static void on_entry(redd_timer *t, void *user)
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

static entry *entries_init(int n)
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

static void on_again_at_once(redd_timer *t, void *user)
{
    entry *e = user;
    e->fired++;
    redd_timer_start(t, 0);
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

static void on_keep_alive(uv_timer_t *t)
{
    (void)t;
    static int ticks;
    if (++ticks > 20000)
        fail_msg("the wheel did not fire within 20 seconds");
}

/** `n` + 1 turns of a loop that something else keeps alive. */
static void turns(int n)
{
    static uv_timer_t keep_alive;
    uv_timer_init(&f.loop, &keep_alive);
    uv_timer_start(&keep_alive, on_keep_alive, 1000000, 0);
    for (int i = 0; i < n; i++)
        fixture_turn(&f);
    uv_close((uv_handle_t *)&keep_alive, NULL);
    fixture_turn(&f);
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

/* --- against a model --- */

enum { MODEL_TIMERS = 200, MODEL_STEPS = 20000 };

typedef struct model {
    redd_timer timer;
    bool active;
    uint64_t deadline, order;
} model;

static model models[MODEL_TIMERS];
static uint64_t model_order, model_fired;
static uint64_t random_state;

static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/** Of any magnitude up to 2^44. */
static uint64_t random_ms(void)
{
    return random_next() >> 20 >> (random_next() % 45);
}

static void model_start(model *m, uint64_t ms)
{
    m->active = true;
    m->deadline = redd_timers_now(timers) + ms;
    m->order = model_order++;
    redd_timer_start(&m->timer, ms);
}

static void model_stop(model *m)
{
    m->active = false;
    redd_timer_stop(&m->timer);
}

/** The one that fires must be the first of all by deadline and order of start. */
static void on_model(redd_timer *t, void *user)
{
    model *m = user;
    model_fired++;
    assert_true(m->active);
    assert_false(redd_timer_active(t));
    assert_true(m->deadline <= redd_timers_now(timers));
    for (int i = 0; i < MODEL_TIMERS; i++) {
        model *o = &models[i];
        if (o->active && o != m)
            assert_true(o->deadline > m->deadline ||
                        (o->deadline == m->deadline && o->order > m->order));
    }
    m->active = false;
    model *other = &models[random_next() % MODEL_TIMERS];
    switch (random_next() % 8) {
    case 0:
        model_start(m, random_ms());
        break;
    case 1:
        model_stop(other);
        break;
    case 2:
        model_start(other, random_ms());
        break;
    default:
        break;
    }
}

static void run_model(uint64_t seed)
{
    random_state = seed;
    for (int i = 0; i < MODEL_TIMERS; i++) {
        models[i].active = false;
        redd_timer_init(&models[i].timer, timers, on_model, &models[i]);
    }
    for (int step = 0; step < MODEL_STEPS; step++) {
        model *m = &models[random_next() % MODEL_TIMERS];
        switch (random_next() % 4) {
        case 0:
        case 1:
            model_start(m, random_ms());
            break;
        case 2:
            model_stop(m);
            break;
        default:
            redd_clock_advance(the_clock, random_ms());
            for (int i = 0; i < MODEL_TIMERS; i++)
                assert_true(!models[i].active || models[i].deadline >= redd_timers_now(timers));
            break;
        }
        for (int i = step % 16; i < MODEL_TIMERS; i += 16)
            assert_int_equal(models[i].active, redd_timer_active(&models[i].timer));
    }
    for (int i = 0; i < MODEL_TIMERS; i++)
        model_stop(&models[i]);
}

static void the_wheel_agrees_with_a_list(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        model_fired = 0;
        run_model(seed * UINT64_C(0x9e3779b97f4a7c15));
        assert_true(model_fired > 1000);
    }
    assert_int_equal(timers->levels, 0);
    for (int i = 0; i < REDD__WHEEL_LEVELS; i++)
        assert_true(timers->occupied[i] == 0);
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
    redd_clock_advance(the_clock, 999);
    assert_int_equal(redd_timers_unix_time(timers), 1700000000);
    redd_clock_advance(the_clock, 1);
    assert_int_equal(redd_timers_unix_time(timers), 1700000001);
    redd_clock_advance(the_clock, 86400000);
    assert_int_equal(redd_timers_unix_time(timers), 1700086401);
}

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
#define REAL(name)    cmocka_unit_test_setup_teardown(name, setup_real, teardown)
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
        VIRTUAL(the_wheel_agrees_with_a_list),
        VIRTUAL(wheels_of_one_clock_fire_in_the_order_of_time),
        VIRTUAL(unix_time_follows_the_clock),
        REAL(real_timers_fire_not_early),
        REAL(real_timers_that_are_late_keep_their_order),
        REAL(real_timers_do_not_keep_the_loop),
        REAL(the_driver_is_armed_only_for_the_first),
        REAL(real_zero_leaves_room_for_io),
        REAL(real_unix_time_is_the_wall_clock),
        REAL(closing_stops_without_a_call),
        VIRTUAL(sleep_is_ready_in_time),
        VIRTUAL(sleep_counts_from_its_making),
        VIRTUAL(a_dropped_sleep_leaves_nothing),
        VIRTUAL(failures_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
