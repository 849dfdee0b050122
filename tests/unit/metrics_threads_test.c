/* SPDX-License-Identifier: MIT */
/** Metrics of many workers: counted on their threads, read by another from before the first worker
 *  until after the last. */
#include "tests/unit/house.h"
#include "tests/unit/openmetrics.h"

#include <redd/metrics.h>

#include <sched.h>

enum { WORKERS = 4, POLLS = 200, COUNTS = 500 };

static const uint64_t bounds[] = {10, 100};
static const redd_metric metrics[] = {
    {.name = "t_counted", .help = "Count.", .by_worker = true},
    {.name = "t_level", .help = "Level.", .kind = REDD_METRIC_GAUGE},
    {.name = "t_sizes",
     .help = "Sizes.",
     .kind = REDD_METRIC_HISTOGRAM,
     .bounds = bounds,
     .n_bounds = 2},
};
static const redd_extension extension = {REDD_EXTENSION_HEAD, .name = "t", .version = "1",
                                         .metrics = metrics, .n_metrics = 3};

/* --- who counts --- */

typedef struct counter {
    redd_future base;
    redd_metric_cell *count, *level, *sizes;
    unsigned polls;
} counter;

static redd_poll counter_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    counter *c = (counter *)f;
    (void)out;
    for (unsigned i = 0; i < COUNTS; i++) {
        redd_metric_add(c->level, 1);
        redd_metric_add(c->count, 1);
        redd_metric_observe(c->sizes, &metrics[2], i);
        redd_metric_add(c->level, -1);
    }
    if (++c->polls == POLLS)
        return REDD_READY;
    redd_waker_wake(waker);
    return REDD_PENDING;
}

static void counter_drop(redd_future *f)
{
    redd_free(redd_allocator_default(), f, sizeof(counter));
}

static int spawn_counter(redd_worker *w, void *user)
{
    static const redd_future_vt vt = {"counter", counter_poll, counter_drop};
    (void)user;
    counter *c = redd_alloc_zero(redd_allocator_default(), sizeof(*c));
    assert_non_null(c);
    c->base.vt = &vt;
    c->count = redd_worker_metric(w, "t_counted");
    c->level = redd_worker_metric(w, "t_level");
    c->sizes = redd_worker_metric(w, "t_sizes");
    return redd_spawn(redd_worker_executor(w), &c->base, NULL);
}

/* --- who looks --- */

typedef struct watcher {
    redd_runtime *rt;
    atomic_bool stop;
    unsigned looks, faults;
    uint64_t count;
} watcher;

static void look(watcher *s)
{
    redd_buffer page;
    uint64_t count = redd_metric_sum(s->rt, "t_counted", 0);
    int64_t level = (int64_t)redd_metric_sum(s->rt, "t_level", 0);
    redd_buffer_init(&page, redd_allocator_default(), 1 << 20);
    if (redd_metrics_write(s->rt, &page) || count < s->count || count > WORKERS * POLLS * COUNTS ||
        level < 0 || level > WORKERS)
        s->faults++;
    redd_buffer_release(&page);
    s->count = count;
    s->looks++;
}

static void *watch(void *user)
{
    watcher *s = user;
    while (!atomic_load(&s->stop))
        look(s);
    return NULL;
}

static void sums(void **unused)
{
    (void)unused;
    redd_runtime *rt = logged_runtime(WORKERS);
    pthread_t thread[2];
    watcher s[2];
    assert_int_equal(redd_runtime_add(rt, &extension), 0);
    assert_int_equal(redd_runtime_seal(rt), 0);
    for (int i = 0; i < 2; i++) {
        s[i] = (watcher){.rt = rt};
        assert_int_equal(pthread_create(&thread[i], NULL, watch, &s[i]), 0);
    }
    assert_int_equal(redd_runtime_run(rt, spawn_counter, NULL, NULL), 0);
    for (int i = 0; i < 2; i++) {
        atomic_store(&s[i].stop, true);
        (void)pthread_join(thread[i], NULL);
        look(&s[i]);
        assert_int_equal(s[i].faults, 0);
        assert_int_equal(s[i].count, WORKERS * POLLS * COUNTS);
    }
    redd_buffer out;
    redd_buffer_init(&out, redd_allocator_default(), 1 << 20);
    assert_int_equal(redd_metrics_write(rt, &out), 0);
    redd_slice page = redd_buffer_slice(&out);
    om_check(page);
    for (int i = 0; i < WORKERS; i++) {
        char series[64];
        (void)snprintf(series, sizeof(series), "t_counted_total{worker=\"%d\"}", i);
        assert_int_equal((uint64_t)om_value(page, series), POLLS * COUNTS);
    }
    assert_true(om_value(page, "t_level") == 0);
    assert_true(om_value(page, "t_sizes_bucket{le=\"10.0\"}") == WORKERS * POLLS * 11);
    assert_true(om_value(page, "t_sizes_bucket{le=\"100.0\"}") == WORKERS * POLLS * 101);
    assert_true(om_value(page, "t_sizes_count") == WORKERS * POLLS * COUNTS);
    assert_true(om_value(page, "t_sizes_sum") ==
                (double)WORKERS * POLLS * COUNTS * (COUNTS - 1) / 2);
    assert_true(om_value(page, "redd_workers") == 0);
    redd_buffer_release(&out);
    redd_runtime_free(rt);
}

/* --- tasks and workers while they run --- */

static void *await_tasks(void *user)
{
    redd_runtime *rt = user;
    redd_buffer out;
    redd_buffer_init(&out, redd_allocator_default(), 1 << 20);
    bool all = false;
    while (!all) {
        out.len = 0;
        all = redd_metrics_write(rt, &out) == 0;
        (void)redd_buffer_append(&out, "", 1);
        all = all && strstr(out.data, "\nredd_workers 4\n") &&
              strstr(out.data, "\nredd_tasks{worker=\"0\"} 1\nredd_tasks{worker=\"1\"} 1\n"
                               "redd_tasks{worker=\"2\"} 1\nredd_tasks{worker=\"3\"} 1\n");
        (void)sched_yield();
    }
    redd_buffer_release(&out);
    redd_runtime_stop(rt, REDD_STOP_FORCED);
    return NULL;
}

static void tasks_of_each_worker(void **unused)
{
    (void)unused;
    redd_runtime *rt = logged_runtime(WORKERS);
    atomic_uint drops = 0;
    pthread_t thread;
    assert_int_equal(redd_runtime_seal(rt), 0);
    assert_int_equal(pthread_create(&thread, NULL, await_tasks, rt), 0);
    assert_int_equal(redd_runtime_run(rt, spawn_forever, NULL, &drops), 0);
    (void)pthread_join(thread, NULL);
    assert_int_equal(drops, WORKERS);
    redd_runtime_free(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums),
                                       cmocka_unit_test(tasks_of_each_worker)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
