/* SPDX-License-Identifier: MIT */
/** Ops: found by name, called by id; sync, async, fast and blocking; counted. */
#include "tests/unit/gate.h"

static void names_and_ids(void **state)
{
    fixture *f = *state;
    assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
    assert_int_equal(redd_runtime_add(f->rt, &gate_extension), 0);
    assert_int_equal(redd_op_find(f->rt, "op_close"), 0); /* not before the seal */
    assert_int_equal(redd_runtime_seal(f->rt), 0);
    size_t n = redd_op_count(f->rt);
    assert_int_equal(n, 7);
    for (size_t i = 0; i < n; i++) {
        redd_op_id id = (redd_op_id)(i + 1);
        const char *extension;
        const redd_op *op = redd_op_info(f->rt, id, &extension);
        assert_int_equal(redd_op_find(f->rt, op->name), id);
        assert_string_equal(extension, id <= 3 ? "core" : "gate");
    }
    assert_null(redd_op_info(f->rt, 0, NULL));
    assert_null(redd_op_info(f->rt, (redd_op_id)(n + 1), NULL));
    assert_int_equal(redd_op_find(f->rt, "op_nothing"), 0);
    assert_int_equal(redd_op_find(f->rt, ""), 0);
    redd_runtime_free(f->rt);
}

static void wrong_calls(void **state)
{
    fixture *f = *state;
    gate *g = attach_gate(f);
    redd_op_id add = redd_op_find(f->rt, "op_gate_add");
    redd_value argv[] = {redd_value_i32(2), redd_value_i32(40), redd_value_i32(0)};
    redd_value out;
    assert_int_equal(redd_op_call(f->w, 0, argv, 2, &out, NULL), REDD_EOP);
    assert_int_equal(redd_op_call(f->w, 8, argv, 2, &out, NULL), REDD_EOP);
    assert_int_equal(redd_op_call(f->w, UINT16_MAX, argv, 2, &out, NULL), REDD_EOP);
    assert_int_equal(redd_op_call(f->w, add, argv, 1, &out, NULL), REDD_EARGUMENT);
    assert_int_equal(redd_op_call(f->w, add, argv, 3, &out, NULL), REDD_EARGUMENT);
    assert_int_equal(redd_op_call(f->w, add, NULL, 0, &out, NULL), REDD_EARGUMENT);
    argv[1] = redd_value_u32(40);
    assert_int_equal(redd_op_call(f->w, add, argv, 2, &out, NULL), REDD_EARGUMENT);
    argv[1].kind = 999; /* no kind at all, even for an op that accepts any */
    assert_int_equal(redd_op_call(f->w, add, argv, 2, &out, NULL), REDD_EARGUMENT);
    argv[0] = redd_value_u32(1);
    assert_int_equal(redd_op_call(f->w, redd_op_find(f->rt, "op_gate_wait"), argv, 2, &out, NULL),
                     REDD_EARGUMENT);
    assert_int_equal(out.kind, REDD_UNDEFINED);
    assert_int_equal(g->fast_calls, 0);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

static void ends_at_once(void **state)
{
    fixture *f = *state;
    gate *g = attach_gate(f);
    redd_op_id op = redd_op_find(f->rt, "op_gate_at_once");
    redd_op_id add = redd_op_find(f->rt, "op_gate_add");
    redd_value two[] = {redd_value_i32(2), redd_value_i32(40)};
    redd_value how = redd_value_u32(0);
    redd_value out;
    redd_op_call_id call = 0;
    uint64_t before = fixture_memory(f).allocations;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(redd_op_call(f->w, op, &how, 1, &out, &call), 0);
        assert_int_equal(out.as.i32, 7);
        assert_int_equal(redd_op_call(f->w, add, two, 2, &out, NULL), 0);
        assert_int_equal(out.as.i32, 42);
    }
    assert_int_equal(fixture_memory(f).allocations, before); /* nothing */
    assert_int_equal(g->polls, 0);
    how = redd_value_u32(1); /* a future, ready at its one poll */
    assert_int_equal(redd_op_call(f->w, op, &how, 1, &out, &call), 0);
    assert_int_equal(out.as.i32, 8);
    assert_int_equal(g->polls, 1);
    assert_int_equal(g->drops, 1);
    how = redd_value_u32(2);
    assert_int_equal(redd_op_call(f->w, op, &how, 1, &out, &call), UV_EPERM);
    how = redd_value_u32(3);
    assert_int_equal(redd_op_call(f->w, op, &how, 1, &out, &call), UV_EPIPE);
    how = redd_value_u32(4);
    assert_int_equal(redd_op_call(f->w, op, &how, 1, &out, &call), UV_EBUSY);
    assert_int_equal(out.kind, REDD_UNDEFINED);
    assert_int_equal(call, 0); /* none was parked */
    assert_int_equal(g->drops, 2);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

/** Without memory for one large array, the batch comes in pieces, complete. */
/** Each completion parks the next call, calls others and cancels what has just ended. */
/** A future that, while polled, cancels calls: its own, and one that has ended in this pass. */
static void blocking(void **state)
{
    fixture *f = *state;
    batch_log log = {0};
    (void)attach_gate(f);
    redd_op_on_completion(f->w, take_batch, &log);
    redd_op_id op = redd_op_find(f->rt, "op_gate_measure");
    redd_bytes *five, *none;
    assert_int_equal(redd_bytes_copy(f->options.allocator, redd_slice_str("12345"), &five), 0);
    assert_int_equal(redd_bytes_new(f->options.allocator, 0, &none), 0);
    redd_value argv[] = {redd_value_bytes(five), redd_value_bytes(none)};
    redd_value out;
    redd_op_call_id a, b;
    assert_int_equal(redd_op_call(f->w, op, &argv[0], 1, &out, &a), REDD_OP_PARKED);
    assert_int_equal(redd_op_call(f->w, op, &argv[1], 1, &out, &b), REDD_OP_PARKED);
    redd_value_drop(&argv[0]); /* the jobs hold their own references */
    redd_value_drop(&argv[1]);
    while (log.n < 2)
        (void)uv_run(&f->loop, UV_RUN_ONCE);
    for (size_t i = 0; i < 2; i++)
        if (log.calls[i] == a) {
            assert_int_equal(log.values[i].kind, REDD_I64);
            assert_int_equal(log.values[i].as.i64, 5);
        } else {
            assert_int_equal(log.calls[i], b);
            assert_int_equal(log.values[i].kind, REDD_ERROR);
            assert_int_equal(log.values[i].as.i32, UV_ENOTTY);
        }
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

static void blocking_cancelled(void **state)
{
    fixture *f = *state;
    batch_log log = {0};
    (void)attach_gate(f);
    redd_op_on_completion(f->w, take_batch, &log);
    redd_op_id op = redd_op_find(f->rt, "op_gate_measure");
    redd_bytes *five;
    assert_int_equal(redd_bytes_copy(f->options.allocator, redd_slice_str("12345"), &five), 0);
    redd_value arg = redd_value_bytes(five);
    redd_value out;
    for (int i = 0; i < 50; i++) {
        redd_op_call_id id;
        assert_int_equal(redd_op_call(f->w, op, &arg, 1, &out, &id), REDD_OP_PARKED);
        assert_int_equal(redd_op_cancel(f->w, id), 0);
        fixture_turn(f);
    }
    redd_value_drop(&arg);
    fixture_detach(f, REDD_STOP_GRACEFUL);
    assert_int_equal(log.n, 0);
}

static void metrics_off(void **state)
{
    fixture *f = *state;
    (void)attach_gate(f);
    redd_op_id op = redd_op_find(f->rt, "op_gate_at_once");
    redd_value how = redd_value_u32(0);
    redd_value out;
    redd_op_metrics m;
    assert_int_equal(redd_op_call(f->w, op, &how, 1, &out, NULL), 0);
    assert_int_equal(redd_op_metrics_get(f->w, op, &m), 0);
    assert_int_equal(m.dispatched + m.completed + m.failed + m.in_flight + m.nanoseconds, 0);
    assert_int_equal(redd_op_metrics_get(f->w, 0, &m), REDD_EOP);
    assert_int_equal(redd_op_metrics_get(f->w, 100, &m), REDD_EOP);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

static void assert_metrics(fixture *f, const char *op, uint64_t dispatched, uint64_t completed,
                           uint64_t failed, uint64_t in_flight)
{
    redd_op_metrics m;
    assert_int_equal(redd_op_metrics_get(f->w, redd_op_find(f->rt, op), &m), 0);
    assert_int_equal(m.dispatched, dispatched);
    assert_int_equal(m.completed, completed);
    assert_int_equal(m.failed, failed);
    assert_int_equal(m.in_flight, in_flight);
    assert_true((m.nanoseconds > 0) == (completed + failed > 0));
}

static void metrics_on(void **state)
{
    fixture *f = *state;
    f->options.op_metrics = true;
    gate *g = attach_gate(f);
    redd_op_id op = redd_op_find(f->rt, "op_gate_at_once");
    redd_value out;
    for (unsigned i = 0; i < 5; i++) {
        redd_value how = redd_value_u32(i);
        (void)redd_op_call(f->w, op, &how, 1, &out, NULL);
    }
    assert_metrics(f, "op_gate_at_once", 5, 2, 3, 0);
    redd_op_call_id id[3];
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(call_wait(f, i, redd_value_error(UV_EIO), &id[i]), REDD_OP_PARKED);
    assert_metrics(f, "op_gate_wait", 3, 0, 0, 3);
    gate_open(g, 0);
    fixture_turn(f);
    assert_metrics(f, "op_gate_wait", 3, 0, 1, 2);
    assert_int_equal(redd_op_cancel(f->w, id[1]), 0);
    assert_metrics(f, "op_gate_wait", 3, 0, 2, 1);
    fixture_detach(f, REDD_STOP_FORCED);
}

static void core_ops(void **state)
{
    fixture *f = *state;
    batch_log log = {0};
    fixture_attach(f, NULL);
    redd_op_on_completion(f->w, take_batch, &log);
    redd_op_call_id id;
    redd_value out;
    redd_value ms = redd_value_u32(250);
    assert_int_equal(redd_op_call(f->w, redd_op_find(f->rt, "op_sleep"), &ms, 1, &out, &id),
                     REDD_OP_PARKED);
    fixture_turn(f);
    redd_clock_advance(f->clock, 249);
    fixture_turn(f);
    assert_int_equal(log.n, 0);
    redd_clock_advance(f->clock, 1);
    fixture_turn(f);
    assert_int_equal(log.n, 1);
    assert_int_equal(log.calls[0], id);
    assert_int_equal(log.values[0].kind, REDD_UNDEFINED);
    redd_value rid = redd_value_resource(77);
    assert_int_equal(redd_op_call(f->w, redd_op_find(f->rt, "op_close"), &rid, 1, &out, NULL),
                     REDD_ERESOURCE);
    assert_int_equal(
        redd_op_call(f->w, redd_op_find(f->rt, "op_resource_name"), &rid, 1, &out, NULL),
        REDD_ERESOURCE);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

/* --- an executor around the default one --- */

typedef struct counting_executor {
    redd_executor base;
    redd_executor *inner;
    unsigned started, jobs;
} counting_executor;

static int counting_spawn(redd_executor *ex, redd_future *f, redd_join **join)
{
    return redd_spawn(((counting_executor *)ex)->inner, f, join);
}
static int counting_start(redd_executor *ex, redd_future *f, redd_value *out, redd_join **join)
{
    ((counting_executor *)ex)->started++;
    return redd_spawn_now(((counting_executor *)ex)->inner, f, out, join);
}
static int counting_blocking(redd_executor *ex, redd_job *job, redd_join **join)
{
    ((counting_executor *)ex)->jobs++;
    return redd_spawn_blocking(((counting_executor *)ex)->inner, job, join);
}
static size_t counting_live(const redd_executor *ex)
{
    const redd_executor *inner = ((const counting_executor *)ex)->inner;
    return inner->vt->live(inner);
}

static redd_executor *wrap(redd_worker *w, redd_executor *inner, void *user)
{
    (void)w;
    static const redd_executor_vt vt = {"counting", counting_spawn, counting_start,
                                        counting_blocking, counting_live};
    counting_executor *c = user;
    c->base.vt = &vt;
    c->inner = inner;
    return &c->base;
}

static void every_future_goes_to_the_workers_executor(void **state)
{
    fixture *f = *state;
    counting_executor c = {0};
    f->options.wrap_executor = wrap;
    f->options.wrap_user = &c;
    gate *g = attach_gate(f);
    assert_ptr_equal(redd_worker_executor(f->w), &c.base);
    redd_value out;
    redd_value how = redd_value_u32(1);
    assert_int_equal(
        redd_op_call(f->w, redd_op_find(f->rt, "op_gate_at_once"), &how, 1, &out, NULL), 0);
    assert_int_equal(c.started, 1);
    assert_int_equal(call_wait(f, 0, redd_value_null(), NULL), REDD_OP_PARKED);
    assert_int_equal(c.started, 2);
    gate_open(g, 0);
    redd_bytes *one;
    assert_int_equal(redd_bytes_copy(f->options.allocator, redd_slice_str("1"), &one), 0);
    redd_value arg = redd_value_bytes(one);
    assert_int_equal(
        redd_op_call(f->w, redd_op_find(f->rt, "op_gate_measure"), &arg, 1, &out, NULL),
        REDD_OP_PARKED);
    redd_value_drop(&arg);
    assert_int_equal(c.jobs, 1);
    assert_int_equal(c.started, 3);
    fixture_detach(f, REDD_STOP_FORCED);
}

/** Ids of many calls in every order of ends: the table grows, and no id comes twice. */
static void many_calls(void **state)
{
    fixture *f = *state;
    gate *g = attach_gate(f);
    redd_op_call_id last = 0;
    for (unsigned round = 0; round < 50; round++) {
        for (unsigned i = 0; i < GATE_PLACES; i++) {
            if (g->waiting[i])
                continue;
            redd_op_call_id id;
            assert_int_equal(call_wait(f, i, redd_value_null(), &id), REDD_OP_PARKED);
            assert_true(id > last);
            last = id;
        }
        for (unsigned i = round % 3; i < GATE_PLACES; i += 1 + round % 5)
            gate_open(g, i);
        fixture_turn(f);
    }
    fixture_detach(f, REDD_STOP_FORCED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names_and_ids),
        TEST(wrong_calls),
        TEST(ends_at_once),
        TEST(blocking),
        TEST(blocking_cancelled),
        TEST(metrics_off),
        TEST(metrics_on),
        TEST(core_ops),
        TEST(every_future_goes_to_the_workers_executor),
        TEST(many_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
