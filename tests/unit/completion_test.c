/* SPDX-License-Identifier: MIT */
/** Calls that are parked: how their results come, in batches, and how they are cancelled. */
#include "tests/unit/gate.h"

static void parks_and_ends(void **state)
{
    fixture *f = *state;
    batch_log log = {0};
    gate *g = attach_gate(f);
    redd_op_on_completion(f->w, take_batch, &log);
    redd_bytes *text;
    assert_int_equal(redd_bytes_copy(f->options.allocator, redd_slice_str("hello"), &text), 0);
    redd_value result = redd_value_string(text);
    redd_op_call_id a, b;
    assert_int_equal(call_wait(f, 0, result, &a), REDD_OP_PARKED);
    redd_value_drop(&result); /* the op keeps its own */
    assert_int_equal(call_wait(f, 1, redd_value_error(UV_EIO), &b), REDD_OP_PARKED);
    assert_true(a != 0 && b != 0 && a != b);
    assert_int_equal(g->polls, 2); /* exactly one each */
    fixture_turn(f);
    assert_int_equal(g->polls, 2);
    assert_int_equal(log.batches, 0);
    gate_open(g, 1);
    gate_open(g, 0);
    fixture_turn(f);
    assert_int_equal(g->polls, 4);
    assert_int_equal(g->drops, 2);
    assert_int_equal(log.batches, 1);
    assert_int_equal(log.n, 2);
    assert_int_equal(log.calls[0], b); /* in the order of their ends */
    assert_int_equal(log.values[0].kind, REDD_ERROR);
    assert_int_equal(log.values[0].as.i32, UV_EIO);
    assert_int_equal(log.calls[1], a);
    assert_int_equal(log.values[1].kind, REDD_STRING);
    assert_true(
        redd_slice_equal(redd_bytes_slice(log.values[1].as.bytes), redd_slice_str("hello")));
    assert_int_equal(redd_op_cancel(f->w, a), UV_ENOENT);
    drop_values(&log);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

static void one_batch_for_all(void **state)
{
    fixture *f = *state;
    batch_log log = {0};
    gate *g = attach_gate(f);
    redd_op_on_completion(f->w, take_batch, &log);
    for (unsigned i = 0; i < GATE_PLACES; i++) { /* more than the first batch has room for */
        redd_op_call_id id;
        assert_int_equal(call_wait(f, i, redd_value_u32(i), &id), REDD_OP_PARKED);
        assert_int_equal(id, i + 1);
    }
    for (unsigned i = 0; i < GATE_PLACES; i++)
        gate_open(g, GATE_PLACES - 1 - i);
    fixture_turn(f);
    assert_int_equal(log.batches, 1);
    assert_int_equal(log.sizes[0], GATE_PLACES);
    for (unsigned i = 0; i < GATE_PLACES; i++) {
        assert_int_equal(log.values[i].as.u32, GATE_PLACES - 1 - i);
        assert_int_equal(log.calls[i], GATE_PLACES - i);
    }
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

static void batch_without_memory(void **state)
{
    fixture *f = *state;
    batch_log log = {0};
    gate *g = attach_gate(f);
    redd_op_on_completion(f->w, take_batch, &log);
    for (unsigned i = 0; i < GATE_PLACES; i++)
        assert_int_equal(call_wait(f, i, redd_value_u32(i), NULL), REDD_OP_PARKED);
    for (unsigned i = 0; i < GATE_PLACES; i++)
        gate_open(g, i);
    redd_counting_allocator_fail_at(f->counting, 1, true);
    fixture_turn(f);
    redd_counting_allocator_fail_at(f->counting, 0, false);
    assert_int_equal(log.n, GATE_PLACES);
    for (unsigned i = 0; i < GATE_PLACES; i++)
        assert_int_equal(log.values[i].as.u32, i);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

typedef struct chain {
    fixture *f;
    unsigned left;
    unsigned batches;
} chain;

static void chain_batch(redd_worker *w, const redd_op_call_id *calls, redd_value *values, size_t n,
                        void *user)
{
    chain *c = user;
    c->batches++;
    assert_int_equal(n, 1);
    assert_int_equal(redd_op_cancel(w, calls[0]), UV_ENOENT);
    redd_value_drop(&values[0]);
    redd_value how = redd_value_u32(1);
    redd_value out;
    assert_int_equal(
        redd_op_call(w, redd_op_find(c->f->rt, "op_gate_at_once"), &how, 1, &out, NULL), 0);
    if (c->left-- == 0)
        return;
    assert_int_equal(call_wait(c->f, 0, redd_value_null(), NULL), REDD_OP_PARKED);
    gate_open(redd_worker_state(w, "gate"), 0);
}

static void ops_from_within_a_batch(void **state)
{
    fixture *f = *state;
    chain c = {f, 10, 0};
    gate *g = attach_gate(f);
    redd_op_on_completion(f->w, chain_batch, &c);
    assert_int_equal(call_wait(f, 0, redd_value_null(), NULL), REDD_OP_PARKED);
    gate_open(g, 0);
    for (int i = 0; i < 20; i++)
        fixture_turn(f);
    assert_int_equal(c.batches, 11);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

static void cancel_parked(void **state)
{
    fixture *f = *state;
    batch_log log = {0};
    gate *g = attach_gate(f);
    redd_op_on_completion(f->w, take_batch, &log);
    redd_op_call_id a, b;
    assert_int_equal(call_wait(f, 0, redd_value_u32(1), &a), REDD_OP_PARKED);
    assert_int_equal(call_wait(f, 1, redd_value_u32(2), &b), REDD_OP_PARKED);
    assert_int_equal(redd_op_cancel(f->w, a), 0);
    assert_int_equal(redd_op_cancel(f->w, a), UV_ENOENT);
    assert_int_equal(redd_op_cancel(f->w, 0), UV_ENOENT);
    assert_int_equal(redd_op_cancel(f->w, 12345), UV_ENOENT);
    fixture_turn(f);
    assert_int_equal(g->drops, 1);
    assert_null(g->waiting[0]);
    gate_open(g, 1);
    fixture_turn(f);
    assert_int_equal(log.n, 1);
    assert_int_equal(log.calls[0], b);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

/** Woken, but not polled yet: the cancel still comes first. */
static void cancel_woken(void **state)
{
    fixture *f = *state;
    batch_log log = {0};
    gate *g = attach_gate(f);
    redd_op_on_completion(f->w, take_batch, &log);
    redd_op_call_id a;
    assert_int_equal(call_wait(f, 0, redd_value_u32(1), &a), REDD_OP_PARKED);
    gate_open(g, 0);
    assert_int_equal(redd_op_cancel(f->w, a), 0);
    fixture_turn(f);
    assert_int_equal(log.n, 0);
    assert_int_equal(g->polls, 1);
    assert_int_equal(g->drops, 1);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

typedef struct canceller {
    redd_future base;
    fixture *f;
    redd_waker *waker;
    redd_op_call_id targets[2];
    bool go;
} canceller;

static redd_poll canceller_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    (void)out;
    canceller *c = (canceller *)f;
    if (!c->go) {
        redd_waker_keep(&c->waker, waker);
        return REDD_PENDING;
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(redd_op_cancel(c->f->w, c->targets[i]), 0);
    return REDD_READY;
}

static void canceller_drop(redd_future *f)
{
    redd_waker_keep(&((canceller *)f)->waker, NULL);
    ((canceller *)f)->f = NULL;
}

static canceller *the_canceller;

static int op_cancel(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                     redd_future **pending)
{
    (void)w;
    (void)state;
    (void)argv;
    (void)out;
    *pending = &the_canceller->base;
    return 0;
}

static const redd_op cancel_ops[] = {
    {sizeof(redd_op), REDD_OP_ASYNC, 0, "op_cancel", op_cancel, {{0}}},
};
static const redd_extension cancel_extension = {
    REDD_EXTENSION_HEAD, .name = "cancel", .version = "1", .ops = cancel_ops, .n_ops = 1,
};

static void cancel_from_within_a_poll(void **state)
{
    static const redd_future_vt vt = {"canceller", canceller_poll, canceller_drop};
    fixture *f = *state;
    batch_log log = {0};
    assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
    assert_int_equal(redd_runtime_add(f->rt, &gate_extension), 0);
    assert_int_equal(redd_runtime_add(f->rt, &cancel_extension), 0);
    assert_int_equal(redd_runtime_attach(f->rt, &f->loop, &f->w), 0);
    redd_op_on_completion(f->w, take_batch, &log);
    canceller c = {.base.vt = &vt, .f = f};
    the_canceller = &c;
    redd_value out;
    assert_int_equal(call_wait(f, 0, redd_value_u32(1), &c.targets[0]), REDD_OP_PARKED);
    assert_int_equal(
        redd_op_call(f->w, redd_op_find(f->rt, "op_cancel"), NULL, 0, &out, &c.targets[1]),
        REDD_OP_PARKED);
    gate_open(redd_worker_state(f->w, "gate"), 0); /* has ended when the canceller is polled */
    c.go = true;
    redd_waker_fire(&c.waker);
    fixture_turn(f);
    assert_null(c.f); /* dropped */
    assert_int_equal(log.n, 0);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

static void forced_stop_tells_the_host(void **state)
{
    fixture *f = *state;
    batch_log log = {0};
    gate *g = attach_gate(f);
    redd_op_on_completion(f->w, take_batch, &log);
    redd_op_call_id id;
    assert_int_equal(call_wait(f, 0, redd_value_null(), &id), REDD_OP_PARKED);
    assert_int_equal(g->drops, 0);
    redd_worker_detach(f->w, REDD_STOP_FORCED, fixture_done, f);
    fixture_await_done(f);
    assert_int_equal(redd_runtime_forced(f->rt), 1);
    redd_runtime_free(f->rt);
    assert_int_equal(log.n, 1);
    assert_int_equal(log.calls[0], id);
    assert_int_equal(log.values[0].kind, REDD_ERROR);
    assert_int_equal(log.values[0].as.i32, UV_ECANCELED);
}

/** The stop of a runtime ends the calls of an attached worker, although the worker stays. */
static void forced_stop_of_an_attached_worker_tells_the_host(void **state)
{
    fixture *f = *state;
    batch_log log = {0};
    (void)attach_gate(f);
    redd_op_on_completion(f->w, take_batch, &log);
    redd_op_call_id id;
    assert_int_equal(call_wait(f, 0, redd_value_null(), &id), REDD_OP_PARKED);
    redd_runtime_stop(f->rt, REDD_STOP_FORCED);
    for (int i = 0; i < 3; i++)
        fixture_turn(f);
    assert_int_equal(log.n, 1);
    assert_int_equal(log.calls[0], id);
    assert_int_equal(log.values[0].as.i32, UV_ECANCELED);
    fixture_detach(f, REDD_STOP_FORCED);
    assert_int_equal(log.n, 1);
}

enum { SLEEPS = 3000 };

/** Results by the call's id, which counts from 1. */
static void mark(redd_worker *w, const redd_op_call_id *calls, redd_value *values, size_t n,
                 void *user)
{
    (void)w;
    (void)values;
    unsigned char *seen = user;
    for (size_t i = 0; i < n; i++)
        seen[calls[i]]++;
}

/** Far more calls than the first table and the first batch have room for. */
static void thousands_of_calls(void **state)
{
    fixture *f = *state;
    static unsigned char seen[SLEEPS + 1];
    f->options.run_budget = 10000; /* lets many end in one batch */
    fixture_attach(f, NULL);
    redd_op_on_completion(f->w, mark, seen);
    redd_op_id sleep = redd_op_find(f->rt, "op_sleep");
    for (unsigned i = 1; i <= SLEEPS; i++) {
        redd_value ms = redd_value_u32(i < SLEEPS / 2 ? i : SLEEPS);
        redd_value out;
        redd_op_call_id id;
        assert_int_equal(redd_op_call(f->w, sleep, &ms, 1, &out, &id), REDD_OP_PARKED);
        assert_int_equal(id, i);
    }
    for (unsigned i = 3; i <= SLEEPS; i += 3)
        assert_int_equal(redd_op_cancel(f->w, i), 0);
    for (unsigned ms = 0; ms <= SLEEPS; ms += 100) {
        redd_clock_advance(f->clock, 100);
        fixture_turn(f);
    }
    for (unsigned i = 1; i <= SLEEPS; i++)
        assert_int_equal(seen[i], i % 3 != 0);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

/** The host parks a call for each that ends, as long as it can. */
static void park_again(redd_worker *w, const redd_op_call_id *calls, redd_value *values, size_t n,
                       void *user)
{
    (void)calls;
    (void)values;
    fixture *f = user;
    assert_int_equal(n, 1);
    assert_int_equal(call_wait(f, 1, redd_value_null(), NULL), REDD_OP_PARKED);
    assert_non_null(redd_worker_state(w, "gate"));
}

static void last_batch_begins_more(void **state)
{
    fixture *f = *state;
    (void)attach_gate(f);
    redd_op_on_completion(f->w, park_again, f);
    assert_int_equal(call_wait(f, 0, redd_value_null(), NULL), REDD_OP_PARKED);
    redd_worker_detach(f->w, REDD_STOP_FORCED, fixture_done, f);
    fixture_await_done(f); /* the second call is gone before worker_fini frees what it uses */
    assert_int_equal(redd_runtime_forced(f->rt), 2);
    redd_runtime_free(f->rt);
}

static void nobody_listens(void **state)
{
    fixture *f = *state;
    gate *g = attach_gate(f);
    redd_bytes *text;
    assert_int_equal(redd_bytes_copy(f->options.allocator, redd_slice_str("hello"), &text), 0);
    redd_value result = redd_value_string(text);
    assert_int_equal(call_wait(f, 0, result, NULL), REDD_OP_PARKED);
    redd_value_drop(&result);
    gate_open(g, 0);
    fixture_turn(f);
    assert_int_equal(g->drops, 1);
    fixture_detach(f, REDD_STOP_GRACEFUL); /* the teardown finds a leak if the result stayed */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(parks_and_ends),
        TEST(one_batch_for_all),
        TEST(batch_without_memory),
        TEST(ops_from_within_a_batch),
        TEST(cancel_parked),
        TEST(cancel_woken),
        TEST(cancel_from_within_a_poll),
        TEST(forced_stop_tells_the_host),
        TEST(forced_stop_of_an_attached_worker_tells_the_host),
        TEST(thousands_of_calls),
        TEST(last_batch_begins_more),
        TEST(nobody_listens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
