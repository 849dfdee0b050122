/* SPDX-License-Identifier: MIT */
/** Ops: found by name, called by id; sync, async, fast and blocking; cancelled, counted, batched.
 */
#include "runtime/op/ops.h"
#include "tests/unit/gate.h"

typedef struct batch_log {
    unsigned batches;
    size_t n;
    redd_op_call_id calls[128];
    redd_value values[128];
    size_t sizes[128]; /* of the batches */
} batch_log;

static void take_batch(redd_worker *w, const redd_op_call_id *calls, redd_value *values, size_t n,
                       void *user)
{
    (void)w;
    batch_log *log = user;
    assert_true(n > 0 && log->n + n <= 128);
    memcpy(&log->calls[log->n], calls, n * sizeof(*calls));
    memcpy(&log->values[log->n], values, n * sizeof(*values));
    log->n += n;
    log->sizes[log->batches++] = n;
}

static void drop_values(batch_log *log)
{
    for (size_t i = 0; i < log->n; i++)
        redd_value_drop(&log->values[i]);
}

static gate *attach_gate(fixture *f)
{
    fixture_attach(f, &gate_extension);
    return redd_worker_state(f->w, "gate");
}

static int call_wait(fixture *f, unsigned number, redd_value result, redd_op_call_id *call)
{
    redd_value argv[] = {redd_value_u32(number), result};
    redd_value out;
    return redd_op_call(f->w, redd_op_find(f->rt, "op_gate_wait"), argv, 2, &out, call);
}

static void names_and_ids(void **state)
{
    fixture *f = *state;
    assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
    assert_int_equal(redd_runtime_add(f->rt, &gate_extension), 0);
    assert_int_equal(redd_op_find(f->rt, "op_close"), 0); /* not before the seal */
    assert_int_equal(redd_runtime_seal(f->rt), 0);
    size_t n = redd_op_count(f->rt);
    assert_int_equal(n, 7);
    for (redd_op_id id = 1; id <= n; id++) {
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

/** Without memory for one large array, the batch comes in pieces, complete. */
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

/** Each completion parks the next call, calls others and cancels what has just ended. */
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

/** A future that, while polled, cancels calls: its own, and one that has ended in this pass. */
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
        TEST(parks_and_ends),
        TEST(one_batch_for_all),
        TEST(batch_without_memory),
        TEST(ops_from_within_a_batch),
        TEST(cancel_parked),
        TEST(cancel_woken),
        TEST(cancel_from_within_a_poll),
        TEST(blocking),
        TEST(blocking_cancelled),
        TEST(forced_stop_tells_the_host),
        TEST(nobody_listens),
        TEST(metrics_off),
        TEST(metrics_on),
        TEST(core_ops),
        TEST(every_future_goes_to_the_workers_executor),
        TEST(many_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
