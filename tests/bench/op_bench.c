/* SPDX-License-Identifier: MIT */
/** What a call of an op costs: at once, through a future that is ready, parked and woken. */
#include <redd/redd.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

enum { ROUNDS = 5, CALLS = 4000000, IN_FLIGHT = 256 };

/* --- the ops --- */

typedef struct later {
    redd_future base;
    redd_waker *waker;
    bool ready;
} later;

typedef struct bench_state {
    redd_pool pool;
    later *parked[IN_FLIGHT];
    size_t n_parked;
} bench_state;

static bench_state state;

static redd_poll later_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    later *l = (later *)f;
    if (!l->ready) {
        redd_waker_keep(&l->waker, waker);
        return REDD_PENDING;
    }
    *out = redd_value_i32(1);
    return REDD_READY;
}

static void later_drop(redd_future *f)
{
    redd_waker_keep(&((later *)f)->waker, NULL);
    redd_pool_put(&state.pool, f);
}

static int later_new(bool ready, redd_future **out)
{
    static const redd_future_vt vt = {"later", later_poll, later_drop};
    later *l = redd_pool_get(&state.pool);
    if (!l)
        return UV_ENOMEM;
    *l = (later){.base.vt = &vt, .ready = ready};
    if (!ready)
        state.parked[state.n_parked++] = l;
    *out = &l->base;
    return 0;
}

static int op_add(redd_worker *w, void *s, const redd_value *argv, redd_value *out,
                  redd_future **pending)
{
    (void)w;
    (void)s;
    (void)pending;
    *out = redd_value_i32(argv[0].as.i32 + argv[1].as.i32);
    return 0;
}

static int op_ready(redd_worker *w, void *s, const redd_value *argv, redd_value *out,
                    redd_future **pending)
{
    (void)w;
    (void)s;
    (void)argv;
    (void)out;
    return later_new(true, pending);
}

static int op_park(redd_worker *w, void *s, const redd_value *argv, redd_value *out,
                   redd_future **pending)
{
    (void)w;
    (void)s;
    (void)argv;
    (void)out;
    return later_new(false, pending);
}

#define TWO                            \
    {                                  \
        {"a", REDD_ACCEPT(REDD_I32)},  \
        {                              \
            "b", REDD_ACCEPT(REDD_I32) \
        }                              \
    }
static const redd_op ops[] = {
    {sizeof(redd_op), REDD_OP_SYNC, 2, "op_sync", op_add, TWO},
    {sizeof(redd_op), REDD_OP_SYNC | REDD_OP_FAST, 2, "op_fast", op_add, TWO},
    {sizeof(redd_op), REDD_OP_ASYNC, 2, "op_at_once", op_add, TWO},
    {sizeof(redd_op), REDD_OP_ASYNC, 2, "op_ready", op_ready, TWO},
    {sizeof(redd_op), REDD_OP_ASYNC, 2, "op_park", op_park, TWO},
};
static const redd_extension extension = {
    REDD_EXTENSION_HEAD, .name = "bench", .version = "1.0.0", .ops = ops, .n_ops = 5,
};

/* --- the measurements --- */

static uint64_t completions;

static void count(redd_worker *w, const redd_op_call_id *calls, redd_value *values, size_t n,
                  void *user)
{
    (void)w;
    (void)calls;
    (void)values;
    (void)user;
    completions += n;
}

static int call(redd_worker *w, redd_op_id id)
{
    redd_value argv[] = {redd_value_i32(1), redd_value_i32(2)};
    redd_value out;
    redd_op_call_id parked;
    return redd_op_call(w, id, argv, 2, &out, &parked);
}

static void call_at_once(redd_worker *w, redd_op_id id)
{
    for (int i = 0; i < CALLS; i++)
        if (call(w, id) != 0)
            abort();
}

static void call_parked(redd_worker *w, redd_op_id id)
{
    completions = 0;
    while (completions < CALLS) {
        for (int i = 0; i < IN_FLIGHT; i++)
            if (call(w, id) != REDD_OP_PARKED)
                abort();
        for (; state.n_parked > 0; state.n_parked--) {
            later *l = state.parked[state.n_parked - 1];
            l->ready = true;
            redd_waker_fire(&l->waker);
        }
        (void)uv_run(redd_worker_loop(w), UV_RUN_NOWAIT);
    }
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

static void measure(redd_worker *w, const char *name, const char *what, const char *metrics,
                    void (*run)(redd_worker *, redd_op_id))
{
    redd_op_id id = redd_op_find(redd_worker_runtime(w), name);
    double ns[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t begin = uv_hrtime();
        run(w, id);
        ns[i] = (double)(uv_hrtime() - begin) / CALLS;
    }
    qsort(ns, ROUNDS, sizeof(ns[0]), by_size);
    printf("%-48s %-4s %8.2f million/s %8.1f ns\n", what, metrics, 1e3 / ns[ROUNDS / 2],
           ns[ROUNDS / 2]);
}

static void gone(void *user)
{
    (void)user;
}

static void check(int rc)
{
    if (rc < 0) {
        (void)fprintf(stderr, "op_bench: %s\n", redd_error_text(rc));
        exit(1);
    }
}

static void bench(bool metrics)
{
    redd_runtime_options options = REDD_RUNTIME_OPTIONS_INIT;
    options.op_metrics = metrics;
    redd_runtime *rt = NULL;
    redd_worker *w = NULL;
    uv_loop_t loop;
    check(uv_loop_init(&loop));
    redd_pool_init(&state.pool, redd_allocator_default(), sizeof(later), 2 * IN_FLIGHT);
    check(redd_runtime_new(&options, &rt));
    check(redd_runtime_add(rt, &extension));
    check(redd_runtime_attach(rt, &loop, &w));
    redd_op_on_completion(w, count, NULL);
    const char *on = metrics ? "on" : "off";
    measure(w, "op_sync", "sync", on, call_at_once);
    measure(w, "op_fast", "fast", on, call_at_once);
    measure(w, "op_at_once", "async, ends at once", on, call_at_once);
    measure(w, "op_ready", "async, its future is ready at once", on, call_at_once);
    measure(w, "op_park", "async, parked and woken, 256 in flight", on, call_parked);
    redd_worker_detach(w, REDD_STOP_GRACEFUL, gone, NULL);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    redd_runtime_free(rt);
    redd_pool_fini(&state.pool);
    check(uv_loop_close(&loop));
}

int main(void)
{
    printf("ops through redd_op_call, median of %d rounds of %d calls; metrics off, then on\n",
           ROUNDS, CALLS);
    bench(false);
    bench(true);
    printf(
        "for comparison: Deno at 98f9507, async ops through its script engine: 1.09 million/s\n");
    return 0;
}
