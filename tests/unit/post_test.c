/* SPDX-License-Identifier: MIT */
/** Posts to a worker on the caller's loop, from its own thread and from others. */
#include "tests/unit/gate.h"

#include <pthread.h>

typedef struct posted {
    fixture *f;
    char order[64];
    unsigned n;
} posted;

static void on_a(redd_worker *w, void *user)
{
    posted *p = user;
    assert_ptr_equal(w, p->f->w);
    p->order[p->n++] = 'a';
}

static void on_b(redd_worker *w, void *user)
{
    posted *p = user;
    p->order[p->n++] = 'b';
    if (p->n < 6) /* from within one */
        assert_int_equal(redd_worker_post(w, on_a, user), 0);
}

static void posts_in_order(void **state)
{
    fixture *f = *state;
    posted p = {.f = f};
    fixture_attach(f, NULL);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(redd_worker_post(f->w, on_a, &p), 0);
        assert_int_equal(redd_worker_post(f->w, on_b, &p), 0);
    }
    assert_int_equal(p.n, 0); /* never within the call */
    for (int i = 0; i < 5; i++)
        fixture_turn(f);
    p.order[p.n] = '\0';
    assert_string_equal(p.order, "ababaa");
    redd_counting_allocator_fail_at(f->counting, 1, false);
    assert_int_equal(redd_worker_post(f->w, on_a, &p), UV_ENOMEM);
    fixture_detach(f, REDD_STOP_GRACEFUL);
    assert_int_equal(p.n, 6);
}

/** What was posted before the end is done, even by a forced stop. */
static void posts_before_the_end_are_done(void **state)
{
    fixture *f = *state;
    posted p = {.f = f};
    fixture_attach(f, NULL);
    for (int i = 0; i < 10; i++)
        assert_int_equal(redd_worker_post(f->w, on_a, &p), 0);
    redd_worker_detach(f->w, REDD_STOP_FORCED, fixture_done, f);
    for (int i = 0; i < 10; i++)
        assert_int_equal(redd_worker_post(f->w, on_a, &p), 0);
    fixture_await_done(f);
    assert_int_equal(p.n, 20);
    redd_runtime_free(f->rt);
}

static void detach_from_post(redd_worker *w, void *user)
{
    fixture *f = user;
    redd_worker_detach(w, REDD_STOP_GRACEFUL, fixture_done, f);
    assert_int_equal(call_wait(f, 0, redd_value_null(), NULL),
                     REDD_OP_PARKED); /* the worker is still whole */
    gate_open(redd_worker_state(w, "gate"), 0);
}

static void detached_by_a_post(void **state)
{
    fixture *f = *state;
    (void)attach_gate(f);
    assert_int_equal(redd_worker_post(f->w, detach_from_post, f), 0);
    fixture_await_done(f);
    redd_runtime_free(f->rt);
}

static void too_many_posts(void **state)
{
    fixture *f = *state;
    posted p = {.f = f};
    f->options.max_posts = 3;
    fixture_attach(f, NULL);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(redd_runtime_post(f->rt, 0, on_a, &p), 0);
        assert_int_equal(redd_worker_post(f->w, on_a, &p), 0);
        assert_int_equal(redd_runtime_post(f->rt, 0, on_a, &p), 0);
        redd_allocator_stats before = fixture_memory(f);
        assert_int_equal(redd_worker_post(f->w, on_a, &p), UV_EBUSY);
        assert_int_equal(redd_runtime_post(f->rt, 0, on_a, &p), UV_EBUSY);
        assert_int_equal(fixture_memory(f).blocks, before.blocks);
        fixture_turn(f);
        assert_int_equal(p.n, 3 * (i + 1));
    }
    assert_int_equal(redd_runtime_post(f->rt, 1, on_a, &p), REDD_ECLOSED);
    redd_worker_detach(f->w, REDD_STOP_GRACEFUL, fixture_done, f);
    fixture_await_done(f);
    assert_int_equal(redd_runtime_post(f->rt, 0, on_a, &p), REDD_ECLOSED);
    redd_runtime_free(f->rt);
}

static redd_executor *wrap_and_post(redd_worker *w, redd_executor *inner, void *user)
{
    (void)inner;
    *(int *)user = redd_worker_post(w, on_a, NULL);
    return NULL;
}

static void no_posts_before_the_worker_is_open(void **state)
{
    fixture *f = *state;
    int rc = 0;
    f->options.wrap_executor = wrap_and_post;
    f->options.wrap_user = &rc;
    fixture_attach(f, NULL);
    assert_int_equal(rc, REDD_ECLOSED);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

enum { SENDERS = 4, POSTS = 2000 };

typedef struct sender {
    redd_worker *worker;
    pthread_t thread;
    unsigned sent, got;
} sender;

static void on_sent(redd_worker *w, void *user)
{
    (void)w;
    ((sender *)user)->got++;
}

static void *send_posts(void *user)
{
    sender *s = user;
    for (int i = 0; i < POSTS; i++)
        if (redd_worker_post(s->worker, on_sent, s) == 0)
            s->sent++;
    return NULL;
}

static void posts_from_four_threads(void **state)
{
    fixture *f = *state;
    sender senders[SENDERS] = {0};
    fixture_attach(f, NULL);
    for (int i = 0; i < SENDERS; i++) {
        senders[i].worker = f->w;
        assert_int_equal(pthread_create(&senders[i].thread, NULL, send_posts, &senders[i]), 0);
    }
    while (senders[0].got + senders[1].got + senders[2].got + senders[3].got < SENDERS * POSTS)
        fixture_turn(f);
    for (int i = 0; i < SENDERS; i++) {
        (void)pthread_join(senders[i].thread, NULL);
        assert_int_equal(senders[i].sent, POSTS);
        assert_int_equal(senders[i].got, POSTS);
    }
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(posts_in_order),
        TEST(posts_before_the_end_are_done),
        TEST(detached_by_a_post),
        TEST(too_many_posts),
        TEST(no_posts_before_the_worker_is_open),
        TEST(posts_from_four_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
