/* SPDX-License-Identifier: MIT */
/** An extension whose ops do everything that an op can do. Its async op waits at a gate that the
 *  test opens. */
#ifndef REDD_TESTS_GATE_H
#define REDD_TESTS_GATE_H

#include "tests/unit/worker_fixture.h"

typedef struct gate_future {
    redd_future base;
    redd_worker *worker;
    redd_waker *waker;
    redd_value value; /* what it ends with */
    unsigned *polls;
    bool open;
    struct gate_future **place; /* where the gate knows it */
} gate_future;

enum { GATE_PLACES = 64 };

/** State of the extension on its worker. */
typedef struct gate {
    gate_future *waiting[GATE_PLACES]; /* by the number that the call gave */
    unsigned polls;
    unsigned drops;
    int32_t fast_calls;
} gate;

static inline redd_poll gate_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    gate_future *g = (gate_future *)f;
    (*g->polls)++;
    if (!g->open) {
        redd_waker_keep(&g->waker, waker);
        return REDD_PENDING;
    }
    *out = g->value;
    g->value = redd_value_undefined();
    return REDD_READY;
}

static inline void gate_drop(redd_future *f)
{
    gate_future *g = (gate_future *)f;
    gate *state = redd_worker_state(g->worker, "gate");
    state->drops++;
    redd_waker_keep(&g->waker, NULL);
    redd_value_drop(&g->value);
    if (g->place)
        *g->place = NULL;
    redd_free(redd_worker_allocator(g->worker), g, sizeof(*g));
}

static inline int gate_future_new(redd_worker *w, gate *state, bool open, redd_value value,
                                  gate_future **out)
{
    static const redd_future_vt vt = {"gate", gate_poll, gate_drop};
    gate_future *g = redd_alloc_zero(redd_worker_allocator(w), sizeof(*g));
    if (!g)
        return UV_ENOMEM;
    g->base.vt = &vt;
    g->worker = w;
    g->value = value;
    g->polls = &state->polls;
    g->open = open;
    *out = g;
    return 0;
}

/** Lets the future of this number through. */
static inline void gate_open(gate *state, unsigned number)
{
    gate_future *g = state->waiting[number];
    g->open = true;
    redd_waker_fire(&g->waker);
}

static inline int gate_op_wait(redd_worker *w, void *s, const redd_value *argv, redd_value *out,
                               redd_future **pending)
{
    (void)out;
    gate *state = s;
    unsigned number = argv[0].as.u32;
    gate_future *g;
    int rc = gate_future_new(w, state, false, redd_value_ref(argv[1]), &g);
    if (rc < 0) {
        redd_value kept = argv[1]; /* the reference just taken */
        redd_value_drop(&kept);
        return rc;
    }
    g->place = &state->waiting[number];
    *g->place = g;
    *pending = &g->base;
    return 0;
}

/** 0: at once; 1: by a future that is ready; 2: at once with an error; 3: an error value; 4: an
 *  error value from a future. */
static inline int gate_op_at_once(redd_worker *w, void *s, const redd_value *argv, redd_value *out,
                                  redd_future **pending)
{
    gate *state = s;
    gate_future *g;
    switch (argv[0].as.u32) {
    case 0:
        *out = redd_value_i32(7);
        return 0;
    case 2:
        return UV_EPERM;
    case 3:
        *out = redd_value_error(UV_EPIPE);
        return 0;
    default:
        break;
    }
    redd_value value = argv[0].as.u32 == 1 ? redd_value_i32(8) : redd_value_error(UV_EBUSY);
    int rc = gate_future_new(w, state, true, value, &g);
    if (rc == 0)
        *pending = &g->base;
    return rc;
}

static inline int gate_op_add(redd_worker *w, void *s, const redd_value *argv, redd_value *out,
                              redd_future **pending)
{
    (void)w;
    assert_null(pending);
    ((gate *)s)->fast_calls++;
    *out = redd_value_i32(argv[0].as.i32 + argv[1].as.i32);
    return 0;
}

/** On a thread of the pool; it knows only its shared state and its arguments. */
static inline int gate_op_measure(redd_worker *w, void *shared, const redd_value *argv,
                                  redd_value *out, redd_future **pending)
{
    if (w || pending || strcmp(shared, "shared") != 0)
        return UV_EINVAL;
    redd_slice s = redd_bytes_slice(argv[0].as.bytes);
    if (s.len == 0)
        return UV_ENOTTY;
    *out = redd_value_i64((int64_t)s.len);
    return 0;
}

static inline int gate_init(redd_runtime *rt, void **shared)
{
    (void)rt;
    static char text[] = "shared";
    *shared = text;
    return 0;
}

static inline int gate_worker_init(redd_worker *w, void *shared, void **state)
{
    assert_string_equal(shared, "shared");
    *state = redd_alloc_zero(redd_worker_allocator(w), sizeof(gate));
    return *state ? 0 : UV_ENOMEM;
}

static inline void gate_worker_fini(redd_worker *w, void *state)
{
    redd_free(redd_worker_allocator(w), state, sizeof(gate));
}

static const redd_op gate_ops[] = {
    {sizeof(redd_op),
     REDD_OP_ASYNC,
     2,
     "op_gate_wait",
     gate_op_wait,
     {{"number", REDD_ACCEPT(REDD_U32)}, {"result", REDD_ACCEPT_ANY}}},
    {sizeof(redd_op),
     REDD_OP_ASYNC,
     1,
     "op_gate_at_once",
     gate_op_at_once,
     {{"how", REDD_ACCEPT(REDD_U32)}}},
    {sizeof(redd_op),
     REDD_OP_SYNC | REDD_OP_FAST,
     2,
     "op_gate_add",
     gate_op_add,
     {{"a", REDD_ACCEPT(REDD_I32)}, {"b", REDD_ACCEPT(REDD_I32)}}},
    {sizeof(redd_op),
     REDD_OP_BLOCKING,
     1,
     "op_gate_measure",
     gate_op_measure,
     {{"bytes", REDD_ACCEPT(REDD_BYTES) | REDD_ACCEPT(REDD_STRING)}}},
};

static const redd_extension gate_extension = {
    REDD_EXTENSION_HEAD,
    .name = "gate",
    .version = "1.0.0",
    .ops = gate_ops,
    .n_ops = 4,
    .init = gate_init,
    .worker_init = gate_worker_init,
    .worker_fini = gate_worker_fini,
};

/* --- calls and their results --- */

typedef struct batch_log {
    unsigned batches;
    size_t n;
    redd_op_call_id calls[128];
    redd_value values[128];
    size_t sizes[128]; /* of the batches */
} batch_log;

static inline void take_batch(redd_worker *w, const redd_op_call_id *calls, redd_value *values,
                              size_t n, void *user)
{
    (void)w;
    batch_log *log = user;
    assert_true(n > 0 && log->n + n <= 128);
    memcpy(&log->calls[log->n], calls, n * sizeof(*calls));
    memcpy(&log->values[log->n], values, n * sizeof(*values));
    log->n += n;
    log->sizes[log->batches++] = n;
}

static inline void drop_values(batch_log *log)
{
    for (size_t i = 0; i < log->n; i++)
        redd_value_drop(&log->values[i]);
}

static inline gate *attach_gate(fixture *f)
{
    fixture_attach(f, &gate_extension);
    return redd_worker_state(f->w, "gate");
}

static inline int call_wait(fixture *f, unsigned number, redd_value result, redd_op_call_id *call)
{
    redd_value argv[] = {redd_value_u32(number), result};
    redd_value out;
    return redd_op_call(f->w, redd_op_find(f->rt, "op_gate_wait"), argv, 2, &out, call);
}

#endif
