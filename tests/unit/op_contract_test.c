/* SPDX-License-Identifier: MIT */
/** Ops that break their contract, and calls at the wrong time. */
#include "runtime/op/host.h"
#include "tests/unit/gate.h"

/* --- ops that break their contract --- */

static redd_bytes *broken_value(redd_worker *w)
{
    redd_bytes *b;
    assert_int_equal(redd_bytes_copy(redd_worker_allocator(w), redd_slice_str("x"), &b), 0);
    return b;
}

static int op_fails_with_a_value(redd_worker *w, void *s, const redd_value *argv, redd_value *out,
                                 redd_future **pending)
{
    (void)s;
    (void)argv;
    (void)pending;
    *out = redd_value_bytes(broken_value(w));
    return UV_EIO;
}

static int op_positive(redd_worker *w, void *s, const redd_value *argv, redd_value *out,
                       redd_future **pending)
{
    (void)s;
    (void)argv;
    if (pending)
        assert_int_equal(redd_sleep_new(redd_worker_timers(w), 1, pending), 0);
    else if (w)
        *out = redd_value_bytes(broken_value(w));
    return 1;
}

static const redd_op broken_ops[] = {
    {sizeof(redd_op), REDD_OP_SYNC, 0, "op_fails_with_a_value", op_fails_with_a_value, {{0}}},
    {sizeof(redd_op), REDD_OP_SYNC, 0, "op_positive", op_positive, {{0}}},
    {sizeof(redd_op), REDD_OP_ASYNC, 0, "op_positive_async", op_positive, {{0}}},
};
static const redd_extension broken_extension = {
    REDD_EXTENSION_HEAD, .name = "broken", .version = "1", .ops = broken_ops, .n_ops = 3,
};

static void broken_contracts(void **state)
{
    fixture *f = *state;
    fixture_attach(f, &broken_extension);
    redd_value out;
    redd_op_call_id id = 77;
    static const struct {
        const char *op;
        int rc;
    } cases[] = {{"op_fails_with_a_value", UV_EIO},
                 {"op_positive", UV_EINVAL},
                 {"op_positive_async", UV_EINVAL}};
    for (size_t i = 0; i < 3; i++) {
        redd_op_id op = redd_op_find(f->rt, cases[i].op);
        assert_int_equal(redd_op_call(f->w, op, NULL, 0, &out, &id), cases[i].rc);
        assert_int_equal(out.kind, REDD_UNDEFINED);
    }
    assert_int_equal(id, 77);
    assert_int_equal(redd_worker_executor(f->w)->vt->live(redd_worker_executor(f->w)), 0);
    fixture_detach(f, REDD_STOP_GRACEFUL); /* the teardown finds what leaked */
}

/* --- when ops can be called --- */

static int call_add(redd_worker *w)
{
    redd_value argv[] = {redd_value_i32(2), redd_value_i32(40)};
    redd_value out;
    redd_op_id add = redd_op_find(redd_worker_runtime(w), "op_gate_add");
    return redd_op_call(w, add, argv, 2, &out, NULL);
}

static int early_and_late[4];

static int before_gate(redd_worker *w, void *shared, void **s)
{
    (void)shared;
    (void)s;
    early_and_late[0] = call_add(w);
    return 0;
}

static void after_gate(redd_worker *w, void *s)
{
    (void)s;
    early_and_late[3] = call_add(w);
    assert_null(redd_worker_state(w, "gate"));
}

static int behind_gate(redd_worker *w, void *shared, void **s)
{
    (void)shared;
    (void)s;
    early_and_late[1] = call_add(w);
    return 0;
}

static void still_behind_gate(redd_worker *w, void *s)
{
    (void)s;
    early_and_late[2] = call_add(w);
}

static const redd_extension below_gate = {
    REDD_EXTENSION_HEAD,        .name = "first",           .version = "1",
    .worker_init = before_gate, .worker_fini = after_gate,
};
static const redd_extension above_gate = {
    REDD_EXTENSION_HEAD,
    .name = "last",
    .version = "1",
    .worker_init = behind_gate,
    .worker_fini = still_behind_gate,
};

static void only_while_their_extension_is_there(void **state)
{
    fixture *f = *state;
    assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
    assert_int_equal(redd_runtime_add(f->rt, &below_gate), 0);
    assert_int_equal(redd_runtime_add(f->rt, &gate_extension), 0);
    assert_int_equal(redd_runtime_add(f->rt, &above_gate), 0);
    assert_int_equal(redd_runtime_attach(f->rt, &f->loop, &f->w), 0);
    fixture_detach(f, REDD_STOP_GRACEFUL);
    assert_int_equal(early_and_late[0], REDD_ESTATE);
    assert_int_equal(early_and_late[1], 0);
    assert_int_equal(early_and_late[2], 0);
    assert_int_equal(early_and_late[3], REDD_ESTATE);
}

static int refuse_init(redd_runtime *rt, void **shared)
{
    (void)rt;
    (void)shared;
    return UV_EIO;
}

static const redd_extension refusing = {
    REDD_EXTENSION_HEAD,
    .name = "refusing",
    .version = "1",
    .init = refuse_init,
};

static void none_after_a_failed_seal(void **state)
{
    fixture *f = *state;
    assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
    assert_int_equal(redd_runtime_add(f->rt, &refusing), 0);
    assert_int_equal(redd_runtime_seal(f->rt), UV_EIO);
    assert_int_equal(redd_op_find(f->rt, "op_close"), 0);
    assert_int_equal(redd_op_count(f->rt), 0);
    assert_null(redd_op_info(f->rt, 1, NULL));
    redd_runtime_free(f->rt);
}

/** At the limit an op that might go on is not even asked. */
static void too_many_parked(void **state)
{
    fixture *f = *state;
    gate *g = attach_gate(f);
    size_t *count = &redd__op_host_of(f->w)->ops.parked.count;
    *count += REDD__OPS_MAX_PARKED;
    assert_int_equal(call_wait(f, 0, redd_value_null(), NULL), REDD_ELIMIT);
    assert_null(g->waiting[0]);
    assert_int_equal(g->drops, 0);
    assert_int_equal(call_add(f->w), 0);
    *count -= 1;
    assert_int_equal(call_wait(f, 0, redd_value_null(), NULL), REDD_OP_PARKED);
    *count -= REDD__OPS_MAX_PARKED - 1;
    fixture_detach(f, REDD_STOP_FORCED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(broken_contracts),
        TEST(only_while_their_extension_is_there),
        TEST(none_after_a_failed_seal),
        TEST(too_many_parked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
