/* SPDX-License-Identifier: MIT */
/** Workers that are stopped, and posts between them up to the very end. */
#include "tests/unit/house.h"

#include <sched.h>

static void ignore_log(redd_log_level level, redd_slice line, void *user)
{
    (void)level;
    (void)line;
    (void)user;
}

/* --- stops --- */

static pthread_t stopper;

static void *stop_gracefully_then_by_force(void *user)
{
    redd_runtime *rt = user;
    redd_runtime_stop(rt, REDD_STOP_GRACEFUL);
    while (place("stop ground@0") < 0 || place("stop ground@1") < 0 || place("stop ground@2") < 0)
        (void)sched_yield();
    redd_runtime_stop(rt, REDD_STOP_FORCED);
    redd_runtime_stop(rt, REDD_STOP_GRACEFUL); /* changes nothing any more */
    return NULL;
}

static void stop_from_another_thread(redd_worker *w, void *user)
{
    (void)user;
    assert_int_equal(
        pthread_create(&stopper, NULL, stop_gracefully_then_by_force, redd_worker_runtime(w)), 0);
}

static void graceful_then_forced(void **unused)
{
    (void)unused;
    atomic_uint drops = 0;
    redd_runtime *rt = logged_runtime(3);
    assert_int_equal(redd_runtime_add(rt, &ground), 0);
    assert_int_equal(redd_runtime_run(rt, spawn_forever, stop_from_another_thread, &drops), 0);
    (void)pthread_join(stopper, NULL);
    assert_int_equal(drops, 3);
    assert_int_equal(redd_runtime_forced(rt), 3);
    for (int i = 0; i < 3; i++) {
        char a[32], b[32];
        (void)snprintf(a, sizeof(a), "stop ground@%d", i);
        (void)snprintf(b, sizeof(b), "force ground@%d", i);
        assert_before(a, b);
    }
    redd_runtime_stop(rt, REDD_STOP_FORCED); /* after the run */
    assert_int_equal(redd_runtime_run(rt, spawn_forever, NULL, &drops), REDD_ESTATE);
    redd_runtime_free(rt);
}

static void drain_timeout(void **unused)
{
    (void)unused;
    atomic_uint drops = 0;
    redd_runtime_options o = REDD_RUNTIME_OPTIONS_INIT;
    redd_runtime *rt;
    o.workers = 2;
    o.drain_timeout_ms = 1;
    o.logger.write = keep_log;
    o.logger.level = REDD_LOG_WARN;
    atomic_store(&n_logged, 0);
    assert_int_equal(redd_runtime_new(&o, &rt), 0);
    assert_int_equal(redd_runtime_run(rt, spawn_forever, stop_runtime, &drops), 0);
    assert_int_equal(redd_runtime_forced(rt), 2);
    assert_int_equal(n_logged, 2);
    redd_runtime_free(rt);
}

static void stop_before_run(void **unused)
{
    (void)unused;
    redd_runtime *rt = house(3);
    redd_runtime_stop(rt, REDD_STOP_GRACEFUL);
    assert_int_equal(redd_runtime_run(rt, note_main, note_ready, NULL), 0);
    assert_int_equal(place("main @0"), -1);
    redd_runtime_free(rt);
}

static void stop_from_main(void **unused)
{
    (void)unused;
    atomic_uint drops = 0;
    redd_runtime *rt = logged_runtime(3);
    assert_int_equal(redd_runtime_run(rt, stop_in_main, NULL, &drops), 0);
    assert_int_equal(drops, 3);
    redd_runtime_free(rt);
}

/** Whatever allocation fails, of whichever worker: no worker waits for one that cannot come. */
static void memory_fails_anywhere(void **unused)
{
    (void)unused;
    redd_counting_allocator *counting;
    redd_runtime_options o = REDD_RUNTIME_OPTIONS_INIT;
    redd_allocator_stats stats;
    assert_int_equal(redd_counting_allocator_new(NULL, &counting), 0);
    o.allocator = redd_counting_allocator_hook(counting);
    o.workers = 3;
    o.logger.write = ignore_log;
    unsigned failed = 0, succeeded = 0;
    for (uint64_t n = 1; succeeded < 3; n++) {
        redd_runtime *rt;
        atomic_uint drops = 0;
        redd_counting_allocator_fail_at(counting, n, n % 2 == 0);
        int rc = redd_runtime_new(&o, &rt);
        if (rc == 0) {
            rc = redd_runtime_run(rt, stop_in_main, NULL, &drops);
            assert_true(rc == 0 || strlen(redd_runtime_message(rt)) > 0);
            redd_runtime_free(rt);
        }
        assert_true(rc == 0 || rc == UV_ENOMEM);
        *(rc == 0 ? &succeeded : &failed) += 1;
        redd_counting_allocator_fail_at(counting, 0, false);
        redd_counting_allocator_stats(counting, &stats);
        assert_int_equal(stats.blocks, 0);
    }
    assert_true(failed > 10);
    redd_counting_allocator_free(counting);
}

/* --- posts between workers --- */

typedef struct ball {
    unsigned throws;
    unsigned thrown;
} ball;

static void catch_ball(redd_worker *w, void *user)
{
    ball *b = user;
    b->thrown++;
    if (b->throws-- == 0)
        return;
    unsigned next = (redd_worker_index(w) + 1) % redd_runtime_workers(redd_worker_runtime(w));
    redd_worker *to = redd_runtime_worker(redd_worker_runtime(w), next);
    assert_int_equal(redd_worker_post(to, catch_ball, b), 0);
}

static int serve_ball(redd_worker *w, void *user)
{
    if (redd_worker_index(w) == 2)
        assert_int_equal(redd_worker_post(w, catch_ball, user), 0);
    return 0;
}

/** No worker has a task; the posts alone keep all of them, and none is lost. */
static void posts_keep_the_run_going(void **unused)
{
    (void)unused;
    ball b = {3000, 0};
    redd_runtime *rt = logged_runtime(3);
    assert_null(redd_runtime_worker(rt, 0));
    assert_int_equal(redd_runtime_run(rt, serve_ball, NULL, &b), 0);
    assert_int_equal(b.thrown, 3001);
    assert_null(redd_runtime_worker(rt, 0));
    redd_runtime_free(rt);
}

enum { SENDERS = 4, POSTS = 3000 };

typedef struct sender {
    redd_runtime *rt;
    pthread_t thread;
    unsigned accepted, refused;
    atomic_uint *arrived;
    atomic_bool *go; /* all senders are there */
} sender;

static void arrive(redd_worker *w, void *user)
{
    (void)w;
    atomic_fetch_add((atomic_uint *)user, 1);
}

static void *send_posts(void *user)
{
    sender *s = user;
    while (!atomic_load(s->go))
        (void)sched_yield();
    for (unsigned i = 0; i < POSTS; i++) {
        int rc = redd_worker_post(redd_runtime_worker(s->rt, i % 3), arrive, s->arrived);
        assert_true(rc == 0 || rc == REDD_ECLOSED);
        *(rc == 0 ? &s->accepted : &s->refused) += 1;
        if (i == POSTS / 2)
            redd_runtime_stop(s->rt, REDD_STOP_GRACEFUL);
    }
    return NULL;
}

typedef struct storm {
    sender senders[SENDERS];
    atomic_uint arrived;
    atomic_bool go;
} storm;

/** Worker 2 holds the run until all senders are through; the others end when they can. */
static void join_senders(redd_worker *w, void *state, redd_stop_mode mode)
{
    (void)mode;
    storm *s = state;
    if (redd_worker_index(w) == 2)
        for (int i = 0; i < SENDERS; i++)
            (void)pthread_join(s->senders[i].thread, NULL);
}

static storm *the_storm;

static int storm_init(redd_worker *w, void *shared, void **state)
{
    (void)w;
    (void)shared;
    *state = the_storm;
    return 0;
}

static const redd_extension storming = {
    REDD_EXTENSION_HEAD,         .name = "storm", .version = "1", .worker_init = storm_init,
    .worker_stop = join_senders,
};

static void start_senders(redd_worker *w, void *user)
{
    storm *s = user;
    for (int i = 0; i < SENDERS; i++) {
        s->senders[i].rt = redd_worker_runtime(w);
        s->senders[i].arrived = &s->arrived;
        s->senders[i].go = &s->go;
        assert_int_equal(pthread_create(&s->senders[i].thread, NULL, send_posts, &s->senders[i]),
                         0);
    }
    atomic_store(&s->go, true);
}

/** What was accepted arrives, what was refused does not, also while the workers end. */
static void posts_from_four_threads_into_the_end(void **unused)
{
    (void)unused;
    storm s = {0};
    the_storm = &s;
    redd_runtime *rt = logged_runtime(3);
    assert_int_equal(redd_runtime_add(rt, &storming), 0);
    assert_int_equal(redd_runtime_run(rt, NULL, start_senders, &s), 0);
    unsigned accepted = 0;
    for (int i = 0; i < SENDERS; i++) {
        accepted += s.senders[i].accepted;
        assert_int_equal(s.senders[i].accepted + s.senders[i].refused, POSTS);
    }
    assert_int_equal(s.arrived, accepted);
    redd_runtime_free(rt);
}

/* --- posts from threads that know nothing of the workers' lives --- */

typedef struct stranger {
    redd_runtime *rt;
    pthread_t thread;
    atomic_bool *quit; /* the run is over */
    atomic_uint *arrived;
    unsigned accepted;
} stranger;

static void *post_all_the_time(void *user)
{
    stranger *s = user;
    bool quit;
    do {
        quit = atomic_load(s->quit); /* once more after the end */
        for (unsigned i = 0; i < 3; i++) {
            int rc = redd_runtime_post(s->rt, i, arrive, s->arrived);
            assert_true(rc == 0 || rc == REDD_ECLOSED || rc == UV_EBUSY);
            assert_true(rc == REDD_ECLOSED || (i < 2 && !quit));
            s->accepted += rc == 0;
        }
    } while (!quit);
    return NULL;
}

static void force_in_ready(redd_worker *w, void *user)
{
    (void)user;
    redd_runtime_stop(redd_worker_runtime(w), REDD_STOP_FORCED);
}

static void posts_before_during_and_after_a_run(void **unused)
{
    (void)unused;
    for (int round = 0; round < 50; round++) {
        atomic_bool quit = false;
        atomic_uint arrived = 0;
        stranger strangers[2] = {{0}};
        redd_runtime *rt = logged_runtime(2);
        assert_int_equal(redd_runtime_post(rt, 0, arrive, &arrived), REDD_ECLOSED);
        for (int i = 0; i < 2; i++) {
            strangers[i] = (stranger){.rt = rt, .quit = &quit, .arrived = &arrived};
            assert_int_equal(
                pthread_create(&strangers[i].thread, NULL, post_all_the_time, &strangers[i]), 0);
        }
        assert_int_equal(redd_runtime_run(rt, NULL, force_in_ready, NULL), 0);
        atomic_store(&quit, true);
        for (int i = 0; i < 2; i++)
            (void)pthread_join(strangers[i].thread, NULL);
        assert_int_equal(arrived, strangers[0].accepted + strangers[1].accepted);
        redd_runtime_free(rt);
    }
}

/* --- posts to a worker whose start fails --- */

static struct {
    redd_worker *worker;
    pthread_t thread;
    atomic_uint accepted, arrived;
} early;

static void *post_until_refused(void *user)
{
    (void)user;
    while (redd_worker_post(early.worker, arrive, &early.arrived) == 0) {
        atomic_fetch_add(&early.accepted, 1);
        (void)sched_yield();
    }
    return NULL;
}

static int early_init(redd_worker *w, void *shared, void **state)
{
    (void)shared;
    (void)state;
    early.worker = w;
    assert_int_equal(pthread_create(&early.thread, NULL, post_until_refused, NULL), 0);
    return 0;
}

static void early_fini(redd_worker *w, void *state)
{
    (void)w;
    (void)state;
    (void)pthread_join(early.thread, NULL);
    assert_int_equal(early.arrived, early.accepted);
}

static int wait_and_fail(redd_worker *w, void *shared, void **state)
{
    (void)w;
    (void)shared;
    (void)state;
    while (atomic_load(&early.accepted) < 5)
        (void)sched_yield();
    return UV_EACCES;
}

static const redd_extension early_posts = {
    REDD_EXTENSION_HEAD,       .name = "early",           .version = "1",
    .worker_init = early_init, .worker_fini = early_fini,
};
static const redd_extension failing_late = {
    REDD_EXTENSION_HEAD,
    .name = "failing",
    .version = "1",
    .worker_init = wait_and_fail,
};

static void posts_into_a_start_that_fails(void **unused)
{
    (void)unused;
    for (int round = 0; round < 20; round++) {
        atomic_store(&early.accepted, 0);
        atomic_store(&early.arrived, 0);
        redd_runtime *rt = logged_runtime(1);
        assert_int_equal(redd_runtime_add(rt, &early_posts), 0);
        assert_int_equal(redd_runtime_add(rt, &failing_late), 0);
        assert_int_equal(redd_runtime_run(rt, NULL, NULL, NULL), UV_EACCES);
        assert_true(early.accepted >= 5);
        assert_int_equal(early.arrived, early.accepted);
        redd_runtime_free(rt);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graceful_then_forced),
        cmocka_unit_test(drain_timeout),
        cmocka_unit_test(stop_before_run),
        cmocka_unit_test(stop_from_main),
        cmocka_unit_test(memory_fails_anywhere),
        cmocka_unit_test(posts_keep_the_run_going),
        cmocka_unit_test(posts_from_four_threads_into_the_end),
        cmocka_unit_test(posts_before_during_and_after_a_run),
        cmocka_unit_test(posts_into_a_start_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
