/* SPDX-License-Identifier: MIT */
#include "tests/unit/task_fixture.h"

#include <redd/cancel.h>

static fixture f;
static redd_cancel *cancel;

static int setup(void **state)
{
    (void)state;
    fixture_init(&f);
    assert_int_equal(fixture_executor(&f, 0), 0);
    assert_int_equal(redd_cancel_new(f.alloc, &cancel), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    redd_cancel_unref(cancel);
    fixture_fini(&f);
    return 0;
}

static void fire_wakes_every_waiter_once(void **state)
{
    (void)state;
    bell b[3];
    redd_cancel_wait wait[3] = {0};
    for (int i = 0; i < 3; i++) {
        bell_init(&b[i]);
        assert_int_equal(redd_cancel_poll(cancel, &wait[i], &b[i].base), REDD_PENDING);
        assert_int_equal(redd_cancel_poll(cancel, &wait[i], &b[i].base), REDD_PENDING);
        assert_int_equal(b[i].refs, 1);
    }
    assert_false(redd_cancel_fired(cancel));
    redd_cancel_fire(cancel);
    redd_cancel_fire(cancel);
    assert_true(redd_cancel_fired(cancel));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(b[i].rings, 1);
        assert_int_equal(b[i].refs, 0);
        assert_int_equal(redd_cancel_poll(cancel, &wait[i], &b[i].base), REDD_READY);
        redd_cancel_leave(cancel, &wait[i]);
    }
}

static void whoever_leaves_is_not_woken(void **state)
{
    (void)state;
    bell b[4];
    redd_cancel_wait wait[4] = {0};
    for (int i = 0; i < 4; i++) {
        bell_init(&b[i]);
        assert_int_equal(redd_cancel_poll(cancel, &wait[i], &b[i].base), REDD_PENDING);
    }
    redd_cancel_leave(cancel, &wait[1]);
    redd_cancel_leave(cancel, &wait[3]);
    redd_cancel_leave(cancel, &wait[0]);
    redd_cancel_leave(cancel, &wait[0]);
    assert_int_equal(redd_cancel_poll(cancel, &wait[0], &b[0].base), REDD_PENDING);
    redd_cancel_fire(cancel);
    const int rings[] = {1, 0, 1, 0};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(b[i].rings, rings[i]);
        assert_int_equal(b[i].refs, 0);
    }
}

static void leaving_a_zeroed_place_is_nothing(void **state)
{
    (void)state;
    redd_cancel_wait wait = {0};
    redd_cancel_leave(cancel, &wait);
    redd_cancel_fire(cancel);
    redd_cancel_leave(cancel, &wait);
}

static void the_last_waker_counts(void **state)
{
    (void)state;
    bell b[2];
    redd_cancel_wait wait = {0};
    bell_init(&b[0]);
    bell_init(&b[1]);
    assert_int_equal(redd_cancel_poll(cancel, &wait, &b[0].base), REDD_PENDING);
    assert_int_equal(redd_cancel_poll(cancel, &wait, &b[1].base), REDD_PENDING);
    assert_int_equal(b[0].refs, 0);
    redd_cancel_fire(cancel);
    assert_int_equal(b[0].rings, 0);
    assert_int_equal(b[1].rings, 1);
}

typedef struct waiter {
    probe p;
    redd_cancel *cancel;
    redd_cancel_wait wait;
} waiter;

static redd_poll body_wait(probe *p, redd_waker *waker, redd_value *out)
{
    (void)out;
    waiter *w = (waiter *)p;
    return redd_cancel_poll(w->cancel, &w->wait, waker);
}

static void drop_leave(probe *p)
{
    waiter *w = (waiter *)p;
    redd_cancel_leave(w->cancel, &w->wait);
    redd_cancel_unref(w->cancel);
}

static void tasks_wait_and_may_be_aborted(void **state)
{
    (void)state;
    waiter w[3];
    redd_join *join[3];
    for (int i = 0; i < 3; i++) {
        memset(&w[i], 0, sizeof(w[i]));
        probe_init(&w[i].p, body_wait);
        w[i].p.on_drop = drop_leave;
        w[i].cancel = redd_cancel_ref(cancel);
        assert_int_equal(redd_spawn(f.ex, &w[i].p.base, &join[i]), 0);
    }
    fixture_turn(&f);
    redd_join_abort(join[1]);
    fixture_turn(&f);
    assert_int_equal(w[1].p.drops, 1);
    redd_cancel_fire(cancel);
    assert_int_equal(w[0].p.polls, 1); /* never inline */
    fixture_run(&f);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(w[i].p.polls, i == 1 ? 1 : 2);
        assert_int_equal(w[i].p.drops, 1);
        redd_join_detach(join[i]);
    }
}

static void failure_is_reported(void **state)
{
    (void)state;
    redd_cancel *c = NULL;
    redd_counting_allocator_fail_at(f.counting, 1, false);
    assert_int_equal(redd_cancel_new(f.alloc, &c), UV_ENOMEM);
    assert_null(c);
    redd_cancel_unref(NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(fire_wakes_every_waiter_once),      TEST(whoever_leaves_is_not_woken),
        TEST(leaving_a_zeroed_place_is_nothing), TEST(the_last_waker_counts),
        TEST(tasks_wait_and_may_be_aborted),     TEST(failure_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
