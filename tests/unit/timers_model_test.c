/* SPDX-License-Identifier: MIT */
/** The wheel against a naive model: the first of all by deadline and order of start fires. */
#include "tests/unit/timers_fixture.h"

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

int main(void)
{
#define VIRTUAL(name) cmocka_unit_test_setup_teardown(name, setup_virtual, teardown)
    const struct CMUnitTest tests[] = {
        VIRTUAL(the_wheel_agrees_with_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
