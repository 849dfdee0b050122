/* SPDX-License-Identifier: MIT */
/** Join handles, abort, and that every future is dropped exactly once on every path. */
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

static redd_value counted_text(const char *text)
{
    redd_bytes *b;
    assert_int_equal(redd_bytes_copy(f.alloc, redd_slice_str(text), &b), 0);
    return redd_value_string(b);
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

/* --- results --- */

static void result_is_handed_over_once(void **state)
{
    (void)state;
    probe p;
    bell b;
    redd_value out;
    probe_init(&p, NULL);
    p.result = counted_text("result");
    bell_init(&b);
    redd_join *join = spawn(&p);
    assert_int_equal(redd_join_poll(join, &b.base, &out), REDD_PENDING);
    assert_int_equal(b.refs, 1);
    fixture_run(&f);
    assert_int_equal(b.rings, 1);
    assert_int_equal(b.refs, 0);
    assert_int_equal(p.drops, 1);
    assert_int_equal(redd_join_poll(join, &b.base, &out), REDD_READY);
    assert_true(redd_slice_equal(redd_bytes_slice(out.as.bytes), redd_slice_str("result")));
    redd_value_drop(&out);
    redd_join_detach(join);
}

static void only_the_last_waker_is_kept(void **state)
{
    (void)state;
    probe p;
    bell b[2];
    redd_value out;
    probe_init(&p, NULL);
    bell_init(&b[0]);
    bell_init(&b[1]);
    redd_join *join = spawn(&p);
    assert_int_equal(redd_join_poll(join, &b[0].base, &out), REDD_PENDING);
    assert_int_equal(redd_join_poll(join, &b[1].base, &out), REDD_PENDING);
    assert_int_equal(b[0].refs, 0);
    fixture_run(&f);
    assert_int_equal(b[0].rings, 0);
    assert_int_equal(b[1].rings, 1);
    redd_join_detach(join);
}

static void detached_results_are_dropped(void **state)
{
    (void)state;
    probe before, after, never;
    bell b;
    redd_value out;
    probe_init(&before, NULL);
    probe_init(&after, NULL);
    probe_init(&never, NULL);
    before.result = counted_text("detached before the end");
    after.result = counted_text("detached after the end");
    never.result = counted_text("never joined");
    redd_join *first = spawn(&before), *second = spawn(&after);
    assert_int_equal(redd_spawn(f.ex, &never.base, NULL), 0);
    bell_init(&b);
    assert_int_equal(redd_join_poll(first, &b.base, &out), REDD_PENDING);
    redd_join_detach(first);
    assert_int_equal(b.refs, 0);
    fixture_run(&f);
    assert_int_equal(b.rings, 0);
    redd_join_detach(second);
    redd_join_detach(NULL);
    assert_int_equal(before.drops + after.drops + never.drops, 3);
    /* The teardown counts the bytes. */
}

typedef struct joiner {
    probe p;
    redd_join *join;
    redd_value got;
} joiner;

static redd_poll body_join(probe *p, redd_waker *waker, redd_value *out)
{
    (void)out;
    joiner *j = (joiner *)p;
    return redd_join_poll(j->join, waker, &j->got);
}

static void drop_joiner(probe *p)
{
    redd_join_detach(((joiner *)p)->join);
}

static void a_task_joins_another(void **state)
{
    (void)state;
    probe p;
    joiner j;
    probe_init(&p, body_second_time);
    p.number = 7;
    probe_init(&j.p, body_join);
    j.p.on_drop = drop_joiner;
    j.join = spawn(&p);
    assert_int_equal(redd_spawn(f.ex, &j.p.base, NULL), 0);
    fixture_turn(&f);
    assert_int_equal(j.p.polls, 1);
    redd_waker_wake(p.waker);
    fixture_run(&f);
    assert_int_equal(j.p.polls, 2);
    assert_int_equal(j.got.as.i32, 7);
    assert_int_equal(j.p.drops, 1);
}

static void an_aborted_joiner_lets_the_other_go_on(void **state)
{
    (void)state;
    probe p;
    joiner j;
    probe_init(&p, body_second_time);
    probe_init(&j.p, body_join);
    j.p.on_drop = drop_joiner;
    j.join = spawn(&p);
    redd_join *join = spawn(&j.p);
    fixture_turn(&f);
    redd_join_abort(join);
    fixture_turn(&f);
    assert_int_equal(j.p.drops, 1);
    assert_int_equal(p.drops, 0);
    redd_waker_wake(p.waker);
    fixture_run(&f);
    assert_int_equal(p.drops, 1);
    assert_ended(join, UV_ECANCELED);
}

/* --- abort --- */

static void abort_before_the_first_poll(void **state)
{
    (void)state;
    probe p;
    bell b;
    redd_value out;
    probe_init(&p, NULL);
    bell_init(&b);
    redd_join *join = spawn(&p);
    assert_int_equal(redd_join_poll(join, &b.base, &out), REDD_PENDING);
    redd_join_abort(join);
    redd_join_abort(join);
    assert_int_equal(p.drops, 0); /* soon, but not inside the caller */
    fixture_run(&f);
    assert_int_equal(p.polls, 0);
    assert_int_equal(p.drops, 1);
    assert_int_equal(b.rings, 1);
    assert_ended(join, UV_ECANCELED);
}

static void abort_between_polls(void **state)
{
    (void)state;
    for (int woken = 0; woken < 2; woken++) {
        probe p;
        probe_init(&p, body_pending);
        redd_join *join = spawn(&p);
        fixture_turn(&f);
        if (woken)
            redd_waker_wake(p.waker);
        redd_join_abort(join);
        redd_waker_wake(p.waker);
        fixture_run(&f);
        assert_int_equal(p.polls, 1);
        assert_int_equal(p.drops, 1);
        assert_ended(join, UV_ECANCELED);
    }
}

static redd_poll body_abort_self(probe *p, redd_waker *waker, redd_value *out)
{
    redd_waker_wake(waker);
    redd_join_abort(p->user);
    redd_waker_wake(waker);
    assert_int_equal(p->drops, 0);
    if (p->number == 0)
        return body_pending(p, waker, out);
    *out = redd_value_i32(p->number);
    return REDD_READY;
}

static void abort_inside_the_own_poll(void **state)
{
    (void)state;
    for (int result = 0; result < 2; result++) {
        probe p;
        probe_init(&p, body_abort_self);
        p.number = result;
        redd_join *join = spawn(&p);
        p.user = join;
        fixture_run(&f);
        assert_int_equal(p.polls, 1);
        assert_int_equal(p.drops, 1);
        assert_ended(join, result ? 0 : UV_ECANCELED); /* a finished task keeps its result */
    }
}

static void abort_after_the_end_keeps_the_result(void **state)
{
    (void)state;
    probe p;
    probe_init(&p, NULL);
    p.result = counted_text("kept");
    redd_join *join = spawn(&p);
    fixture_run(&f);
    redd_join_abort(join);
    fixture_run(&f);
    assert_int_equal(p.drops, 1);
    assert_ended(join, 0);
}

static void abort_and_detach(void **state)
{
    (void)state;
    probe p;
    probe_init(&p, NULL);
    redd_join *join = spawn(&p);
    redd_join_abort(join);
    redd_join_detach(join);
    fixture_run(&f);
    assert_int_equal(p.polls, 0);
    assert_int_equal(p.drops, 1);
}

/* --- drops that call back --- */

typedef struct meddler {
    probe p;
    redd_join *own;
    redd_join *other;
    redd_waker *waker;
    probe child;
} meddler;

static redd_poll body_keep(probe *p, redd_waker *waker, redd_value *out)
{
    meddler *m = (meddler *)p;
    redd_waker_keep(&m->waker, waker);
    return p->number ? REDD_READY : body_pending(p, waker, out);
}

/** A drop that touches everything it can reach. */
static void drop_meddle(probe *p)
{
    meddler *m = (meddler *)p;
    redd_value out = redd_value_undefined();
    if (m->waker)
        redd_waker_wake(m->waker);
    redd_join_abort(m->own);
    assert_int_equal(redd_join_poll(m->own, m->waker, &out), REDD_READY);
    redd_join_detach(m->own);
    redd_join_abort(m->other);
    redd_join_detach(m->other);
    probe_init(&m->child, NULL);
    assert_int_equal(redd_spawn(f.ex, &m->child.base, NULL), 0);
    redd_waker_keep(&m->waker, NULL);
}

static void drops_may_call_anything(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        meddler m = {0};
        probe other;
        probe_init(&m.p, body_keep);
        m.p.on_drop = drop_meddle;
        m.p.number = way == 0;
        probe_init(&other, body_pending);
        m.own = spawn(&m.p);
        m.other = spawn(&other);
        if (way == 1)
            redd_join_abort(m.own); /* before the first poll */
        fixture_turn(&f);
        if (way == 2)
            redd_join_abort(m.own);
        if (way == 3) {
            assert_int_equal(redd__executor_abort_all(f.ex), 3);
            assert_int_equal(m.child.polls, 0);
        }
        fixture_run(&f);
        assert_int_equal(m.p.drops, 1);
        assert_int_equal(other.drops, 1);
        assert_int_equal(m.child.drops, 1);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(result_is_handed_over_once),
        TEST(only_the_last_waker_is_kept),
        TEST(detached_results_are_dropped),
        TEST(a_task_joins_another),
        TEST(an_aborted_joiner_lets_the_other_go_on),
        TEST(abort_before_the_first_poll),
        TEST(abort_between_polls),
        TEST(abort_inside_the_own_poll),
        TEST(abort_after_the_end_keeps_the_result),
        TEST(abort_and_detach),
        TEST(drops_may_call_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
