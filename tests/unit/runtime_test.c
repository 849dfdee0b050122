/* SPDX-License-Identifier: MIT */
/** The runtime over several workers: order of life, errors, threads. */
#include "runtime/worker/barrier.h"
#include "tests/unit/house.h"

#include <signal.h>

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

/* --- errors --- */

static int init_fails_on_2(redd_worker *w, void *shared, void **state)
{
    (void)shared;
    (void)state;
    return redd_worker_index(w) == 2 ? UV_EMFILE : 0;
}

static const redd_dependency on_roof[] = {{"roof", NULL}};
static const redd_extension faulty = {
    REDD_EXTENSION_HEAD, .name = "faulty", .version = "1.0.0",
    .deps = on_roof,     .n_deps = 1,      .worker_init = init_fails_on_2,
};

static void worker_init_fails(void **unused)
{
    (void)unused;
    redd_runtime *rt = logged_runtime(3);
    const redd_extension *const set[] = {&faulty, &roof, &walls, &ground};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(redd_runtime_add(rt, set[i]), 0);
    assert_int_equal(redd_runtime_run(rt, note_main, note_ready, NULL), UV_EMFILE);
    static const char sentence[] =
        "worker 2: extension \"faulty\" could not start: too many open files (EMFILE)";
    assert_string_equal(redd_runtime_message(rt), sentence);
    assert_int_equal(n_logged, 1);
    assert_string_equal(logged[0], sentence);
    assert_int_equal(place("ready @0"), -1);
    for (int i = 0; i < 3; i++) {
        static const char *const order[] = {"force roof@%d",        "force walls@%d",
                                            "force ground@%d",      "worker_fini roof@%d",
                                            "worker_fini walls@%d", "worker_fini ground@%d"};
        for (int k = 0; k < 5; k++) {
            char a[32], b[32];
            (void)snprintf(a, sizeof(a), order[k], i);
            (void)snprintf(b, sizeof(b), order[k + 1], i);
            assert_before(a, b);
        }
        char main[32];
        (void)snprintf(main, sizeof(main), "main @%d", i);
        assert_int_equal(place(main), -1);
    }
    redd_runtime_free(rt);
    assert_string_equal(book.lines[book.n - 1], "fini ground");
}

static int main_fails_on_1(redd_worker *w, void *user)
{
    (void)note_main(w, user);
    return redd_worker_index(w) == 1 ? UV_EADDRNOTAVAIL : 0;
}

static void main_fails(void **unused)
{
    (void)unused;
    redd_runtime *rt = logged_runtime(3);
    assert_int_equal(redd_runtime_add(rt, &ground), 0);
    assert_int_equal(redd_runtime_run(rt, main_fails_on_1, note_ready, NULL), UV_EADDRNOTAVAIL);
    static const char sentence[] =
        "worker 1 could not begin its work: address not available (EADDRNOTAVAIL)";
    assert_string_equal(redd_runtime_message(rt), sentence);
    assert_string_equal(logged[0], sentence);
    assert_int_equal(n_logged, 1);
    assert_int_equal(place("ready @0"), -1);
    for (int i = 0; i < 3; i++) {
        char a[32], b[32];
        (void)snprintf(a, sizeof(a), "main @%d", i);
        (void)snprintf(b, sizeof(b), "force ground@%d", i);
        assert_before(a, b);
        (void)snprintf(a, sizeof(a), "worker_fini ground@%d", i);
        assert_before(b, a);
    }
    redd_runtime_free(rt);
}

static void refused_set(void **unused)
{
    (void)unused;
    redd_runtime *rt = logged_runtime(4);
    assert_int_equal(redd_runtime_add(rt, &faulty), 0); /* without roof: fails at the seal */
    assert_int_equal(redd_runtime_run(rt, note_main, NULL, NULL), REDD_EDEPENDENCY);
    assert_int_equal(book.n, 0);
    assert_int_equal(redd_runtime_run(rt, note_main, NULL, NULL), REDD_ESTATE);
    redd_runtime_free(rt);
}

static void barrier_given_up(void **unused)
{
    (void)unused;
    redd__barrier b;
    redd__barrier_init(&b, 3); /* of three threads two could not be started */
    redd__barrier_give_up(&b, 2);
    assert_false(redd__barrier_arrive(&b, true));
    redd__barrier_fini(&b);
}

/* --- threads --- */

static int check_thread(redd_worker *w, void *user)
{
    char name[16];
    sigset_t mask;
    (void)user;
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
    assert_int_equal(sigismember(&mask, SIGSEGV), 0);
    assert_int_equal(sigismember(&mask, SIGTERM), redd_worker_index(w) > 0);
    assert_int_equal(pthread_getname_np(pthread_self(), name, sizeof(name)), 0);
    if (redd_worker_index(w) == 1)
        assert_string_equal(name, "redd-1");
    else
        assert_string_not_equal(name, "redd-0"); /* the caller's thread keeps its name */
    return 0;
}

static void threads_of_workers(void **unused)
{
    (void)unused;
    redd_runtime *rt = logged_runtime(2);
    assert_int_equal(redd_runtime_run(rt, check_thread, NULL, NULL), 0);
    redd_runtime_free(rt);
}

/** What a thread of the pool blocks of the process's signals. */
static redd_value mask_of_pool(redd_job *j)
{
    (void)j;
    sigset_t mask;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    bool right = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGUSR1) == 1 &&
                 sigismember(&mask, SIGSEGV) == 0;
    return redd_value_bool(right);
}

static void keep_job(redd_job *j)
{
    (void)j;
}

typedef struct mask_question {
    redd_future base;
    redd_join *join;
    bool right;
} mask_question;

static redd_poll mask_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    mask_question *q = (mask_question *)f;
    if (redd_join_poll(q->join, waker, out) == REDD_PENDING)
        return REDD_PENDING;
    q->right = out->kind == REDD_BOOL && out->as.boolean;
    return REDD_READY;
}

static void mask_drop(redd_future *f)
{
    redd_join_detach(((mask_question *)f)->join);
}

/** On the caller's thread, whose mask is open: a thread that it starts inherits another one. */
static int ask_for_mask(redd_worker *w, void *user)
{
    static const redd_job_vt job_vt = {"mask", mask_of_pool, keep_job};
    static redd_job job = {&job_vt};
    mask_question *q = user;
    int rc = redd_spawn_blocking(redd_worker_executor(w), &job, &q->join);
    return rc < 0 ? rc : redd_spawn(redd_worker_executor(w), &q->base, NULL);
}

static void signals_are_not_for_the_pool(void **unused)
{
    (void)unused;
    static const redd_future_vt vt = {"mask", mask_poll, mask_drop};
    mask_question q = {.base.vt = &vt};
    redd_runtime *rt = logged_runtime(1);
    assert_int_equal(redd_runtime_run(rt, ask_for_mask, NULL, &q), 0);
    assert_true(q.right);
    redd_runtime_free(rt);
}

static void *run_house(void *user)
{
    (void)user;
    atomic_uint drops = 0;
    redd_runtime_options o = REDD_RUNTIME_OPTIONS_INIT;
    redd_runtime *rt;
    o.workers = 2;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(redd_runtime_new(&o, &rt), 0);
        assert_int_equal(redd_runtime_run(rt, stop_in_main, NULL, &drops), 0);
        assert_int_equal(redd_runtime_forced(rt), 2);
        redd_runtime_free(rt);
    }
    assert_int_equal(drops, 40);
    return NULL;
}

static void two_runtimes_never_meet(void **unused)
{
    (void)unused;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, run_house, NULL), 0);
    (void)run_house(NULL);
    (void)pthread_join(other, NULL);
}

/* --- what extensions forget --- */

static uv_timer_t forgotten[2];

static int forget_a_handle(redd_worker *w, void *user)
{
    (void)user;
    uv_timer_t *t = &forgotten[redd_worker_index(w)];
    (void)uv_timer_init(redd_worker_loop(w), t);
    (void)uv_timer_start(t, NULL, 1000000, 0);
    return 0;
}

static void handles_left_open(void **unused)
{
    (void)unused;
    redd_runtime *rt = logged_runtime(2);
    assert_int_equal(redd_runtime_run(rt, forget_a_handle, stop_runtime, NULL), 0);
    assert_int_equal(n_logged, 2);
    assert_non_null(strstr(logged[0], ": 1 libuv handles were left open"));
    redd_runtime_free(rt);
}

static void own_clock_is_for_one_worker(void **unused)
{
    (void)unused;
    redd_runtime_options o = REDD_RUNTIME_OPTIONS_INIT;
    redd_runtime *rt;
    assert_int_equal(redd_virtual_clock_new(0, &o.clock), 0);
    o.workers = 2;
    assert_int_equal(redd_runtime_new(&o, &rt), 0);
    assert_int_equal(redd_runtime_run(rt, NULL, NULL, NULL), UV_EINVAL);
    assert_string_equal(redd_runtime_message(rt), "a clock of one's own allows one worker, not 2");
    redd_runtime_free(rt);
    o.workers = 1;
    assert_int_equal(redd_runtime_new(&o, &rt), 0);
    assert_int_equal(redd_runtime_run(rt, NULL, NULL, NULL), 0);
    redd_runtime_free(rt);
    redd_clock_free(o.clock);
}

static void options_of_another_size(void **unused)
{
    (void)unused;
    redd_runtime_options o = REDD_RUNTIME_OPTIONS_INIT;
    redd_runtime *rt;
    o.struct_size = 0;
    assert_int_equal(redd_runtime_new(&o, &rt), UV_EINVAL);
    o.struct_size = sizeof(o) + 1;
    assert_int_equal(redd_runtime_new(&o, &rt), UV_EINVAL);
    o.struct_size = offsetof(redd_runtime_options, blocking_threads); /* an older caller's */
    o.workers = 3;
    o.blocking_threads = UINT32_MAX;
    assert_int_equal(redd_runtime_new(&o, &rt), 0);
    assert_int_equal(redd_runtime_workers(rt), 3);
    redd_runtime_free(rt);
    redd_runtime_free(NULL);
}

static void options_beyond_their_limits(void **unused)
{
    (void)unused;
    redd_runtime *rt;
    const redd_runtime_options wrong[] = {
        {.struct_size = sizeof(wrong[0]), .workers = 1025},
        {.struct_size = sizeof(wrong[0]), .blocking_threads = 4097},
        {.struct_size = sizeof(wrong[0]), .blocking_queue = (1U << 24) + 1},
        {.struct_size = sizeof(wrong[0]), .blocking_queue = UINT32_MAX},
        {.struct_size = sizeof(wrong[0]), .max_posts = (1U << 30) + 1},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(redd_runtime_new(&wrong[i], &rt), UV_EINVAL);
    redd_runtime_options most = REDD_RUNTIME_OPTIONS_INIT;
    most.workers = 1;
    most.blocking_threads = 4096;
    most.blocking_queue = 1U << 24;
    most.max_posts = 1U << 30;
    assert_int_equal(redd_runtime_new(&most, &rt), 0);
    assert_int_equal(redd_runtime_seal(rt), 0);
    redd_runtime_free(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_life),
        cmocka_unit_test(worker_init_fails),
        cmocka_unit_test(main_fails),
        cmocka_unit_test(refused_set),
        cmocka_unit_test(barrier_given_up),
        cmocka_unit_test(threads_of_workers),
        cmocka_unit_test(signals_are_not_for_the_pool),
        cmocka_unit_test(two_runtimes_never_meet),
        cmocka_unit_test(handles_left_open),
        cmocka_unit_test(own_clock_is_for_one_worker),
        cmocka_unit_test(options_of_another_size),
        cmocka_unit_test(options_beyond_their_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
