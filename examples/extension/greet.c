/* SPDX-License-Identifier: MIT */
/* An extension of one's own: two ops, an option, and state on each worker. Look at it with
 *
 *     redd ops --ext examples/extension/greet.c
 *
 * redd compiles it as it compiles apps; CMakeLists.txt beside it builds the same file as a module,
 * which loads where there is no compiler.
 */
#include <redd/redd.h>

/* One per worker: ops of a worker never meet on it. */
typedef struct greeter {
    redd_timers *timers;
    uint64_t delay_ms;
} greeter;

static int greeter_new(redd_worker *w, void *shared, void **state)
{
    (void)shared;
    greeter *g = redd_alloc(redd_worker_allocator(w), sizeof(*g));
    if (!g)
        return -ENOMEM;
    g->timers = redd_worker_timers(w);
    g->delay_ms = redd_runtime_option(redd_worker_runtime(w), "greet.delay");
    *state = g;
    return 0;
}

static void greeter_free(redd_worker *w, void *state)
{
    redd_free(redd_worker_allocator(w), state, sizeof(greeter));
}

/* "Hello, NAME!" as a string value. */
static int greeting(const redd_allocator *a, const redd_value *name, redd_value *out)
{
    static const redd_slice before = REDD_SLICE("Hello, "), after = REDD_SLICE("!");
    redd_slice who = redd_bytes_slice(name->as.bytes);
    redd_bytes *text;
    int err = redd_bytes_new(a, before.len + who.len + after.len, &text);
    if (err)
        return err;
    char *to = redd_bytes_data(text);
    memcpy(to, before.data, before.len);
    memcpy(to + before.len, who.data, who.len);
    memcpy(to + before.len + who.len, after.data, after.len);
    *out = redd_value_string(text);
    return 0;
}

/* --- op_greet: ends inside the call --- */

static int op_greet(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                    redd_future **pending)
{
    (void)state, (void)pending;
    return greeting(redd_worker_allocator(w), &argv[0], out);
}

/* --- op_greet_later: gives a future --- */

typedef struct later {
    redd_future future; /* first, so that the future is the struct */
    const redd_allocator *alloc;
    redd_future *sleep;
    redd_value name;
} later;

static redd_poll later_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    later *l = (later *)f;
    if (redd_future_poll(l->sleep, waker, out) == REDD_PENDING)
        return REDD_PENDING;
    int err = greeting(l->alloc, &l->name, out);
    if (err)
        *out = redd_value_error(err);
    return REDD_READY;
}

static void later_drop(redd_future *f)
{
    later *l = (later *)f;
    redd_future_drop(l->sleep);
    redd_value_drop(&l->name);
    redd_free(l->alloc, l, sizeof(*l));
}

static int op_greet_later(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                          redd_future **pending)
{
    static const redd_future_vt vt = {"greet later", later_poll, later_drop};
    (void)out;
    const greeter *g = state;
    const redd_allocator *a = redd_worker_allocator(w);
    later *l = redd_alloc(a, sizeof(*l));
    if (!l)
        return -ENOMEM;
    int err = redd_sleep_new(g->timers, g->delay_ms, &l->sleep);
    if (err) {
        redd_free(a, l, sizeof(*l));
        return err;
    }
    l->future.vt = &vt;
    l->alloc = a;
    l->name = redd_value_ref(argv[0]); /* argv is borrowed for the call only */
    *pending = &l->future;
    return 0;
}

/* --- the description --- */

#define NAME_ARGUMENT                        \
    {                                        \
        {                                    \
            "name", REDD_ACCEPT(REDD_STRING) \
        }                                    \
    }

static const redd_op ops[] = {
    {sizeof(redd_op), REDD_OP_SYNC, 1, "op_greet", op_greet, NAME_ARGUMENT},
    {sizeof(redd_op), REDD_OP_ASYNC, 1, "op_greet_later", op_greet_later, NAME_ARGUMENT},
};

static const redd_option options[] = {
    {"greet.delay", "how long op_greet_later takes", REDD_UNIT_MILLIS, 100, 0, 60000},
};

static const redd_extension greet = {
    REDD_EXTENSION_HEAD,
    .name = "greet",
    .version = "1.0.0",
    .ops = ops,
    .n_ops = sizeof(ops) / sizeof(ops[0]),
    .options = options,
    .n_options = 1,
    .worker_init = greeter_new,
    .worker_fini = greeter_free,
};

REDD_EXTENSION_ENTRY(greet)
