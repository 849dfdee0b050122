/* SPDX-License-Identifier: MIT */
/** Accepting with real workers: who gets how many. */
#include "tests/unit/acceptor_fixture.h"

#include <redd/metrics.h>

enum { CROWD_WORKERS = 4, CROWD_CLIENTS = 400 };

/** Every worker accepts until all clients together were served. */
typedef struct crowd {
    redd_runtime *rt;
    redd_listener *l;
    uv_thread_t clients;
    atomic_uint served;
    atomic_uint per_worker[CROWD_WORKERS];
} crowd;

typedef struct accept_task {
    redd_future base;
    crowd *crowd;
    redd_worker *w;
    redd_acceptor *a;
} accept_task;

static redd_poll accept_task_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    (void)out;
    accept_task *t = (accept_task *)(void *)f;
    redd_stream *stream;
    while (redd_acceptor_poll(t->a, waker, &stream) == REDD_READY) {
        redd_stream_close(stream, false);
        atomic_fetch_add(&t->crowd->per_worker[redd_worker_index(t->w)], 1);
        if (atomic_fetch_add(&t->crowd->served, 1) + 1 == CROWD_CLIENTS)
            redd_runtime_stop(t->crowd->rt, REDD_STOP_FORCED);
    }
    return REDD_PENDING;
}

static void accept_task_drop(redd_future *f)
{
    accept_task *t = (accept_task *)(void *)f;
    redd_acceptor_close(t->a);
    free(t);
}

static int crowd_main(redd_worker *w, void *user)
{
    static const redd_future_vt vt = {"accept", accept_task_poll, accept_task_drop};
    crowd *c = user;
    accept_task *t = calloc(1, sizeof(*t));
    *t = (accept_task){.base = {&vt}, .crowd = c, .w = w};
    int rc = redd_acceptor_open(c->l, w, &t->a);
    return rc ? rc : redd_spawn(redd_worker_executor(w), &t->base, NULL);
}

static void crowd_clients(void *user)
{
    crowd *c = user;
    for (int i = 0; i < CROWD_CLIENTS; i++) {
        char byte;
        int fd = dial(c->l);
        assert_int_equal(read(fd, &byte, 1), 0);
        assert_int_equal(close(fd), 0);
    }
}

static void crowd_ready(redd_worker *w, void *user)
{
    (void)w;
    crowd *c = user;
    assert_int_equal(uv_thread_create(&c->clients, crowd_clients, c), 0);
}

static void serve_crowd(kind k)
{
    crowd c = {0};
    redd_runtime_options o = REDD_RUNTIME_OPTIONS_INIT;
    o.workers = CROWD_WORKERS;
    assert_int_equal(redd_runtime_new(&o, &c.rt), 0);
    assert_int_equal(redd_runtime_add(c.rt, &redd_net_extension), 0);
    c.l = listen_as(c.rt, k);
    assert_int_equal(redd_runtime_run(c.rt, crowd_main, crowd_ready, &c), 0);
    assert_int_equal(uv_thread_join(&c.clients), 0);
    assert_int_equal(atomic_load(&c.served), CROWD_CLIENTS);
    assert_int_equal(redd_metric_sum(c.rt, "redd_net_accepted", 0), CROWD_CLIENTS);
    if (k == REUSEPORT)
        for (int i = 0; i < CROWD_WORKERS; i++)
            assert_true(atomic_load(&c.per_worker[i]) > 0);
    redd_listener_free(c.l);
    redd_runtime_free(c.rt);
}

static void test_workers_share_a_listener(void **state)
{
    (void)state;
    for (kind k = 0; k < N_KINDS; k++)
        serve_crowd(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workers_share_a_listener),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
