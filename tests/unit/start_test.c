/* SPDX-License-Identifier: MIT */
/** Starting a future at once, and a whole scenario under failing allocations. */
#include "tests/unit/task_fixture.h"

static fixture f;

static int setup(void **state)
{
    (void)state;
    fixture_init(&f);
    assert_int_equal(fixture_executor(&f, 0), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fixture_fini(&f);
    return 0;
}

static redd_join *spawn(probe *p)
{
    redd_join *join = NULL;
    assert_int_equal(redd_spawn(f.ex, &p->base, &join), 0);
    assert_non_null(join);
    return join;
}

/** The join must be READY with this error or, for 0, with anything else, which is dropped. */
static void assert_ended(redd_join *join, int error)
{
    bell b;
    redd_value out = redd_value_undefined();
    bell_init(&b);
    assert_int_equal(redd_join_poll(join, &b.base, &out), REDD_READY);
    assert_int_equal(out.kind == REDD_ERROR ? out.as.i32 : 0, error);
    assert_int_equal(b.refs, 0);
    redd_value_drop(&out);
    redd_join_detach(join);
}

/* --- start --- */

static void start_of_a_ready_future(void **state)
{
    (void)state;
    probe p;
    redd_join *join = NULL;
    redd_value out;
    probe_init(&p, NULL);
    p.result = redd_value_i32(5);
    assert_int_equal(redd_spawn_now(f.ex, &p.base, &out, &join), 1);
    assert_int_equal(out.as.i32, 5);
    assert_null(join);
    assert_int_equal(p.drops, 1);
    assert_int_equal(f.ex->vt->live(f.ex), 0);
    assert_false(uv_loop_alive(&f.loop));
    redd_allocator_stats warm = fixture_stats(&f);
    for (int i = 0; i < 1000; i++) {
        probe_init(&p, NULL);
        assert_int_equal(redd_spawn_now(f.ex, &p.base, &out, NULL), 1);
    }
    assert_int_equal(fixture_stats(&f).allocations, warm.allocations);
    fixture_run(&f);
    assert_int_equal(f.idle_calls, 0);
}

static void start_of_a_future_that_parks(void **state)
{
    (void)state;
    probe p;
    redd_join *join = NULL;
    redd_value out;
    probe_init(&p, body_second_time);
    p.number = 3;
    assert_int_equal(redd_spawn_now(f.ex, &p.base, &out, &join), 0);
    assert_int_equal(p.polls, 1);
    assert_true(uv_loop_alive(&f.loop));
    fixture_turn(&f);
    assert_int_equal(p.polls, 1); /* exactly once before it is woken */
    redd_waker_wake(p.waker);
    fixture_run(&f);
    bell b;
    bell_init(&b);
    assert_int_equal(redd_join_poll(join, &b.base, &out), REDD_READY);
    assert_int_equal(out.as.i32, 3);
    redd_join_detach(join);
    assert_int_equal(p.drops, 1);
}

static redd_poll body_wake_in_start(probe *p, redd_waker *waker, redd_value *out)
{
    (void)out;
    redd_waker_wake(waker);
    return p->polls <= p->number ? REDD_PENDING : REDD_READY;
}

static void start_with_a_wake_inside(void **state)
{
    (void)state;
    for (int pending = 0; pending < 3; pending++) {
        probe p;
        redd_value out;
        probe_init(&p, body_wake_in_start);
        p.number = pending;
        assert_int_equal(redd_spawn_now(f.ex, &p.base, &out, NULL), pending == 0);
        fixture_run(&f);
        fixture_turn(&f);
        assert_int_equal(p.polls, pending + 1);
        assert_int_equal(p.drops, 1);
    }
}

static redd_poll body_start_nested(probe *p, redd_waker *waker, redd_value *out)
{
    if (p->number == 0)
        return body_pending(p, waker, out);
    probe *inner = p->user;
    assert_int_equal(redd_spawn_now(f.ex, &inner->base, out, NULL), 0);
    assert_int_equal(f.ex->vt->live(f.ex), 4); /* three of these are being polled or parked */
    return body_pending(p, waker, out);
}

static void starts_nest(void **state)
{
    (void)state;
    probe p[3], parked;
    redd_value out;
    probe_init(&parked, body_pending);
    redd_join *join = spawn(&parked);
    fixture_turn(&f);
    for (int i = 0; i < 3; i++) {
        probe_init(&p[i], body_start_nested);
        p[i].number = i == 0 ? 0 : 1;
        p[i].user = i == 0 ? NULL : &p[i - 1];
    }
    assert_int_equal(redd_spawn_now(f.ex, &p[2].base, &out, NULL), 0);
    redd_join_abort(join);
    redd_join_detach(join);
    fixture_turn(&f);
    assert_int_equal(redd__executor_abort_all(f.ex), 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(p[i].drops, 1);
    assert_int_equal(parked.drops, 1);
}

static redd_poll body_abort_all_in_start(probe *p, redd_waker *waker, redd_value *out)
{
    assert_int_equal(redd__executor_abort_all(f.ex), 1);
    assert_int_equal(p->drops, 0);
    return p->number ? REDD_READY : body_pending(p, waker, out);
}

static void abort_of_all_inside_a_start(void **state)
{
    (void)state;
    for (int ready = 0; ready < 2; ready++) {
        probe p;
        redd_join *join = NULL;
        redd_value out;
        probe_init(&p, body_abort_all_in_start);
        p.number = ready;
        assert_int_equal(redd_spawn_now(f.ex, &p.base, &out, &join), ready);
        assert_int_equal(p.drops, 1);
        if (!ready)
            assert_ended(join, UV_ECANCELED);
        fixture_run(&f);
    }
}

/* --- allocation failure --- */

static redd_poll body_spawn_child(probe *p, redd_waker *waker, redd_value *out)
{
    if (p->polls > 1)
        return REDD_READY;
    probe *child = p->user;
    redd_join *join = NULL;
    int rc = redd_spawn(f.ex, &child->base, &join);
    if (rc < 0) {
        *out = redd_value_error(rc);
        return REDD_READY;
    }
    redd_poll state = redd_join_poll(join, waker, out);
    redd_join_detach(join);
    redd_waker_wake(waker);
    return state;
}

/** Spawns, starts, joins, aborts and goes through remote wakers; whatever fails must be reported
 * and leave the rest in order. Returns the number of failures that were reported. */
static int scenario(void)
{
    int failures = 0;
    if (fixture_executor(&f, 3) < 0)
        return 1;
    probe p[8], child;
    redd_join *joins[8] = {0};
    redd_remote_waker *remote = NULL;
    redd_value out;
    probe_init(&child, NULL);
    for (int i = 0; i < 8; i++) {
        probe_init(&p[i], i % 2 ? body_second_time : NULL);
        if (i == 5) {
            p[i].body = body_spawn_child;
            p[i].user = &child;
        }
        int rc = i == 3 ? redd_spawn_now(f.ex, &p[i].base, &out, &joins[i])
                        : redd_spawn(f.ex, &p[i].base, &joins[i]);
        if (rc < 0) {
            assert_int_equal(rc, UV_ENOMEM);
            assert_int_equal(p[i].polls + p[i].drops, 0);
            p[i].drops = 1; /* was never taken */
            failures++;
        }
    }
    fixture_turn(&f);
    if (p[1].waker && redd_waker_remote(p[1].waker, &remote) < 0)
        failures++;
    if (remote)
        redd_remote_waker_wake(remote);
    redd_remote_waker_unref(remote);
    for (int i = 0; i < 8; i++) {
        if (joins[i] && i % 2)
            redd_join_abort(joins[i]);
        redd_join_detach(joins[i]);
    }
    fixture_turn(&f);
    fixture_close_executor(&f);
    fixture_run(&f);
    for (int i = 0; i < 8; i++)
        assert_int_equal(p[i].drops, 1);
    return failures + (child.drops == 0 && p[5].polls > 0);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    fixture_close_executor(&f);
    fixture_run(&f);
    assert_int_equal(scenario(), 0);
    for (int sticky = 0; sticky < 2; sticky++)
        for (uint64_t n = 1;; n++) {
            uint64_t before = fixture_stats(&f).failures;
            redd_counting_allocator_fail_at(f.counting, n, sticky != 0);
            int failures = scenario();
            redd_counting_allocator_fail_at(f.counting, 0, false);
            assert_int_equal(fixture_stats(&f).blocks, 0);
            if (fixture_stats(&f).failures == before)
                break;
            assert_true(failures > 0);
            assert_true(n < 1000);
        }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(start_of_a_ready_future),     TEST(start_of_a_future_that_parks),
        TEST(start_with_a_wake_inside),    TEST(starts_nest),
        TEST(abort_of_all_inside_a_start), TEST(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
