/* SPDX-License-Identifier: MIT */
/** For tests of whole runtimes: extensions that keep a journal, a log, and tasks that never end. */
#ifndef REDD_TESTS_HOUSE_H
#define REDD_TESTS_HOUSE_H

#include <redd/worker.h>

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

static inline void note(const char *what, const char *who, int worker)
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
static inline int place(const char *line)
{
    int found = -1;
    (void)pthread_mutex_lock(&book.lock);
    for (size_t i = 0; found < 0 && i < book.n; i++)
        if (strcmp(book.lines[i], line) == 0)
            found = (int)i;
    (void)pthread_mutex_unlock(&book.lock);
    return found;
}

static inline void assert_before(const char *first, const char *second)
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

static inline redd_runtime *house(unsigned workers)
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

static inline int note_main(redd_worker *w, void *user)
{
    (void)user;
    note("main", "", (int)redd_worker_index(w));
    return 0;
}

static inline void note_ready(redd_worker *w, void *user)
{
    (void)user;
    assert_int_equal(redd_worker_index(w), 0);
    note("ready", "", 0);
}

/* --- a log --- */

static char logged[8][128];
static atomic_uint n_logged;

static inline void keep_log(redd_log_level level, redd_slice line, void *user)
{
    (void)level;
    (void)user;
    unsigned i = atomic_fetch_add(&n_logged, 1);
    assert_true(i < 8);
    (void)snprintf(logged[i], sizeof(logged[i]), "%.*s", (int)line.len, line.data);
}

static inline redd_runtime *logged_runtime(unsigned workers)
{
    redd_runtime_options o = REDD_RUNTIME_OPTIONS_INIT;
    redd_runtime *rt;
    o.workers = workers;
    o.logger.write = keep_log;
    o.logger.level = REDD_LOG_WARN;
    atomic_store(&n_logged, 0);
    book.n = 0;
    assert_int_equal(redd_runtime_new(&o, &rt), 0);
    return rt;
}

/* --- tasks and stops --- */

/** A future that never ends. */
typedef struct forever {
    redd_future base;
    redd_waker *waker;
    atomic_uint *drops;
} forever;

static inline redd_poll forever_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    (void)out;
    redd_waker_keep(&((forever *)f)->waker, waker);
    return REDD_PENDING;
}

static inline void forever_drop(redd_future *f)
{
    forever *e = (forever *)f;
    redd_waker_keep(&e->waker, NULL);
    atomic_fetch_add(e->drops, 1);
    redd_free(redd_allocator_default(), e, sizeof(*e));
}

static inline int spawn_forever(redd_worker *w, void *user)
{
    static const redd_future_vt vt = {"forever", forever_poll, forever_drop};
    forever *e = redd_alloc_zero(redd_allocator_default(), sizeof(*e));
    assert_non_null(e);
    e->base.vt = &vt;
    e->drops = user;
    int rc = redd_spawn(redd_worker_executor(w), &e->base, NULL);
    if (rc < 0)
        redd_free(redd_allocator_default(), e, sizeof(*e));
    return rc;
}

static inline void stop_runtime(redd_worker *w, void *user)
{
    (void)user;
    redd_runtime_stop(redd_worker_runtime(w), REDD_STOP_GRACEFUL);
}

static inline int stop_in_main(redd_worker *w, void *user)
{
    if (redd_worker_index(w) == 1)
        redd_runtime_stop(redd_worker_runtime(w), REDD_STOP_FORCED);
    return spawn_forever(w, user);
}

#endif
