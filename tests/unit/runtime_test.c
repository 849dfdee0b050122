/* SPDX-License-Identifier: MIT */
/** The runtime over several workers: order of life, main and ready, errors, stops, posts. */
#include <redd/redd.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include <cmocka.h>

/* --- a journal that every extension of these tests writes to --- */

typedef struct journal {
    pthread_mutex_t lock;
    char lines[128][32];
    size_t n;
} journal;

static journal book = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void note(const char *what, const char *who, int worker)
{
    (void)pthread_mutex_lock(&book.lock);
    assert_true(book.n < 128);
    if (worker < 0)
        (void)snprintf(book.lines[book.n++], sizeof(book.lines[0]), "%s %s", what, who);
    else
        (void)snprintf(book.lines[book.n++], sizeof(book.lines[0]), "%s %s@%d", what, who, worker);
    (void)pthread_mutex_unlock(&book.lock);
}

/** Place of a line in the journal; -1 when it is not there. */
static int place(const char *line)
{
    for (size_t i = 0; i < book.n; i++)
        if (strcmp(book.lines[i], line) == 0)
            return (int)i;
    return -1;
}

static void assert_before(const char *first, const char *second)
{
    int a = place(first);
    int b = place(second);
    if (a < 0 || b < 0 || a >= b)
        fail_msg("\"%s\" (%d) should stand before \"%s\" (%d)", first, a, second, b);
}

#define EXTENSION(id, ...)                                                                 \
    static int id##_init(redd_runtime *rt, void **shared)                                  \
    {                                                                                      \
        (void)rt;                                                                          \
        *shared = (void *)(uintptr_t) #id;                                                 \
        note("init", #id, -1);                                                             \
        return 0;                                                                          \
    }                                                                                      \
    static int id##_worker_init(redd_worker *w, void *shared, void **state)                \
    {                                                                                      \
        assert_string_equal(shared, #id);                                                  \
        *state = w;                                                                        \
        note("worker_init", #id, (int)redd_worker_index(w));                               \
        return 0;                                                                          \
    }                                                                                      \
    static void id##_worker_stop(redd_worker *w, void *state, redd_stop_mode mode)         \
    {                                                                                      \
        assert_ptr_equal(state, w);                                                        \
        assert_int_equal(mode, redd_worker_stopping(w));                                   \
        note(mode == REDD_STOP_FORCED ? "force" : "stop", #id, (int)redd_worker_index(w)); \
    }                                                                                      \
    static void id##_worker_fini(redd_worker *w, void *state)                              \
    {                                                                                      \
        assert_ptr_equal(state, w);                                                        \
        note("worker_fini", #id, (int)redd_worker_index(w));                               \
    }                                                                                      \
    static void id##_fini(redd_runtime *rt, void *shared)                                  \
    {                                                                                      \
        (void)rt;                                                                          \
        assert_string_equal(shared, #id);                                                  \
        note("fini", #id, -1);                                                             \
    }                                                                                      \
    static const redd_extension id = {REDD_EXTENSION_HEAD,                                 \
                                      .name = #id,                                         \
                                      .version = "1.0.0",                                  \
                                      .init = id##_init,                                   \
                                      .worker_init = id##_worker_init,                     \
                                      .worker_stop = id##_worker_stop,                     \
                                      .worker_fini = id##_worker_fini,                     \
                                      .fini = id##_fini,                                   \
                                      __VA_ARGS__};

EXTENSION(ground, .n_deps = 0)
static const redd_dependency on_ground[] = {{"ground", "1.0"}};
EXTENSION(walls, .deps = on_ground, .n_deps = 1)
static const redd_dependency on_walls[] = {{"walls", NULL}, {"ground", NULL}};
EXTENSION(roof, .deps = on_walls, .n_deps = 2)

static redd_runtime *house(unsigned workers)
{
    redd_runtime_options o = REDD_RUNTIME_OPTIONS_INIT;
    redd_runtime *rt;
    o.workers = workers;
    book.n = 0;
    assert_int_equal(redd_runtime_new(&o, &rt), 0);
    assert_int_equal(redd_runtime_add(rt, &roof), 0);
    assert_int_equal(redd_runtime_add(rt, &walls), 0);
    assert_int_equal(redd_runtime_add(rt, &ground), 0);
    return rt;
}

static int note_main(redd_worker *w, void *user)
{
    (void)user;
    note("main", "", (int)redd_worker_index(w));
    return 0;
}

static void note_ready(redd_worker *w, void *user)
{
    (void)user;
    assert_int_equal(redd_worker_index(w), 0);
    note("ready", "", 0);
}

static void order_of_life(void **unused)
{
    (void)unused;
    redd_runtime *rt = house(3);
    assert_int_equal(redd_runtime_run(rt, note_main, note_ready, NULL), 0);
    redd_runtime_free(rt);
    assert_int_equal(place("init ground"), 0);
    assert_int_equal(place("init walls"), 1);
    assert_int_equal(place("init roof"), 2);
    for (int i = 0; i < 3; i++) {
        static const char *const order[] = {"worker_init ground@%d", "worker_init walls@%d",
                                            "worker_init roof@%d",   "main @%d",
                                            "stop roof@%d",          "stop walls@%d",
                                            "stop ground@%d",        "worker_fini roof@%d",
                                            "worker_fini walls@%d",  "worker_fini ground@%d"};
        for (int k = 0; k < 9; k++) {
            char a[32], b[32];
            (void)snprintf(a, sizeof(a), order[k], i);
            (void)snprintf(b, sizeof(b), order[k + 1], i);
            assert_before(a, b);
        }
    }
    for (int i = 0; i < 9; i++) { /* the first barrier, then the second */
        char init[32], main[32];
        (void)snprintf(init, sizeof(init), "worker_init roof@%d", i / 3);
        (void)snprintf(main, sizeof(main), "main @%d", i % 3);
        assert_before(init, main);
        assert_before(main, "ready @0");
    }
    size_t n = book.n;
    assert_string_equal(book.lines[n - 3], "fini roof");
    assert_string_equal(book.lines[n - 2], "fini walls");
    assert_string_equal(book.lines[n - 1], "fini ground");
    assert_int_equal(n, 3 + 9 + 3 + 1 + 9 + 9 + 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_life),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
