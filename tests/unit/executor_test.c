/* SPDX-License-Identifier: MIT */
/** The default executor on its loop: order, fairness, and the memory that it takes. */
#include "tests/unit/task_fixture.h"

#include <unistd.h>

static fixture f;

static int setup(void **state)
{
    (void)state;
    fixture_init(&f);
    assert_int_equal(fixture_executor(&f, 0), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fixture_fini(&f);
    return 0;
}

static void spawn(probe *p)
{
    assert_int_equal(redd_spawn(f.ex, &p->base, NULL), 0);
}

/* --- order --- */

static int trace[64];
static int traced;

static redd_poll body_trace(probe *p, redd_waker *waker, redd_value *out)
{
    trace[traced++] = p->number;
    if (p->polls < 3) {
        redd_waker_wake(waker);
        redd_waker_wake(waker);
        return REDD_PENDING;
    }
    *out = redd_value_i32(p->number);
    return REDD_READY;
}

static void tasks_run_in_order_and_never_inline(void **state)
{
    (void)state;
    probe p[3];
    traced = 0;
    for (int i = 0; i < 3; i++) {
        probe_init(&p[i], body_trace);
        p[i].number = i;
        spawn(&p[i]);
        assert_int_equal(p[i].polls, 0);
    }
    assert_int_equal(f.ex->vt->live(f.ex), 3);
    fixture_run(&f);
    /* A wake inside the own poll queues the task behind the others, and two wakes are one. */
    const int expected[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
    assert_int_equal(traced, 9);
    assert_memory_equal(trace, expected, sizeof(expected));
    for (int i = 0; i < 3; i++)
        assert_int_equal(p[i].drops, 1);
    assert_int_equal(f.ex->vt->live(f.ex), 0);
}

static void many_wakes_are_one_poll(void **state)
{
    (void)state;
    probe p;
    probe_init(&p, body_second_time);
    spawn(&p);
    fixture_turn(&f);
    assert_int_equal(p.polls, 1);
    for (int i = 0; i < 100; i++)
        redd_waker_wake(p.waker);
    assert_int_equal(p.polls, 1);
    fixture_run(&f);
    assert_int_equal(p.polls, 2);
    assert_int_equal(p.drops, 1);
}

static redd_poll body_wake_then_ready(probe *p, redd_waker *waker, redd_value *out)
{
    (void)p;
    (void)out;
    redd_waker_wake(waker);
    return REDD_READY;
}

static void wake_and_ready_in_one_poll_ends(void **state)
{
    (void)state;
    probe p;
    probe_init(&p, body_wake_then_ready);
    spawn(&p);
    fixture_run(&f);
    assert_int_equal(p.polls, 1);
    assert_int_equal(p.drops, 1);
}

static redd_waker *leaked;

static redd_poll body_leak_waker(probe *p, redd_waker *waker, redd_value *out)
{
    (void)p;
    (void)out;
    leaked = redd_waker_ref(waker);
    return REDD_READY;
}

static void wakers_outlive_task_and_executor(void **state)
{
    (void)state;
    probe p;
    probe_init(&p, body_leak_waker);
    spawn(&p);
    fixture_run(&f);
    redd_waker_wake(leaked);
    fixture_run(&f);
    assert_int_equal(p.polls, 1);
    fixture_close_executor(&f);
    fixture_run(&f);
    assert_int_equal(f.closed, 1);
    assert_int_not_equal(fixture_stats(&f).blocks, 0);
    redd_waker_wake(leaked);
    redd_waker_unref(leaked);
    assert_int_equal(fixture_stats(&f).blocks, 0);
}

/* --- fairness and turns --- */

typedef struct reader {
    uv_poll_t poll;
    int fd;
    int readable;
} reader;

static void on_readable(uv_poll_t *poll, int status, int events)
{
    reader *r = poll->data;
    char byte;
    assert_int_equal(status, 0);
    assert_true(events & UV_READABLE);
    assert_int_equal(read(r->fd, &byte, 1), 1);
    r->readable++;
}

static redd_poll body_forever(probe *p, redd_waker *waker, redd_value *out)
{
    (void)p;
    (void)out;
    redd_waker_wake(waker);
    return REDD_PENDING;
}

static void busy_task_leaves_room_for_io(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    reader r = {.fd = ends[0]};
    assert_int_equal(uv_poll_init(&f.loop, &r.poll, ends[0]), 0);
    r.poll.data = &r;
    assert_int_equal(uv_poll_start(&r.poll, UV_READABLE, on_readable), 0);

    probe p;
    redd_join *join;
    probe_init(&p, body_forever);
    assert_int_equal(redd_spawn(f.ex, &p.base, &join), 0);
    for (int i = 1; i <= 20; i++) {
        assert_int_equal(write(ends[1], "x", 1), 1);
        fixture_turn(&f);
        assert_int_equal(r.readable, i);
        assert_true(p.polls > 0);
        assert_true(p.polls <= (i + 1) * 1024);
    }
    redd_join_abort(join);
    redd_join_detach(join);
    uv_close((uv_handle_t *)&r.poll, NULL);
    fixture_run(&f);
    assert_int_equal(p.drops, 1);
    close(ends[0]);
    close(ends[1]);
}

static void budget_bounds_the_polls_of_a_turn(void **state)
{
    (void)state;
    fixture_close_executor(&f);
    fixture_run(&f);
    assert_int_equal(fixture_executor(&f, 5), 0);
    probe p[12];
    for (int i = 0; i < 12; i++) {
        probe_init(&p[i], body_pending);
        spawn(&p[i]);
    }
    int before = 0;
    for (int turn = 0; turn < 4; turn++) {
        fixture_turn(&f);
        int polls = 0;
        for (int i = 0; i < 12; i++)
            polls += p[i].polls;
        assert_true(polls - before <= 10); /* the rest of one budget, and one whole */
        assert_true(polls == 12 || polls > before);
        before = polls;
    }
    assert_int_equal(before, 12);
    assert_int_equal(redd__executor_abort_all(f.ex), 12);
}

static void leftovers_do_not_wait_for_io(void **state)
{
    (void)state;
    fixture_close_executor(&f);
    fixture_run(&f);
    assert_int_equal(fixture_executor(&f, 1), 0);
    probe p[50];
    for (int i = 0; i < 50; i++) {
        probe_init(&p[i], NULL);
        spawn(&p[i]);
    }
    fixture_run(&f); /* would sleep for ever in poll */
    for (int i = 0; i < 50; i++)
        assert_int_equal(p[i].drops, 1);
}

static probe *late;

static void on_foreign_prepare(uv_prepare_t *prepare)
{
    if (late->polls == 1 && late->waker)
        redd_waker_wake(late->waker);
    if (late->polls == 2)
        uv_prepare_stop(prepare);
}

/** libuv runs what was started last first, so a prepare handle that is older than the executor
 * wakes a task when the executor has had its look already. */
static void a_wake_after_the_executor_s_prepare_is_seen(void **state)
{
    (void)state;
    fixture_close_executor(&f);
    fixture_run(&f);
    uv_prepare_t foreign;
    uv_prepare_init(&f.loop, &foreign);
    uv_prepare_start(&foreign, on_foreign_prepare);
    assert_int_equal(fixture_executor(&f, 0), 0);
    probe p;
    probe_init(&p, body_second_time);
    late = &p;
    spawn(&p);
    fixture_run(&f); /* would sleep for ever */
    assert_int_equal(p.drops, 1);
    uv_close((uv_handle_t *)&foreign, NULL);
    fixture_run(&f);
}

static redd_poll body_count_batches(probe *p, redd_waker *waker, redd_value *out)
{
    if (p->polls == 1)
        return body_pending(p, waker, out);
    p->number = f.batches;
    return REDD_READY;
}

static void after_run_ends_each_batch(void **state)
{
    (void)state;
    probe p[2];
    fixture_turn(&f);
    assert_int_equal(f.batches, 0); /* nothing ran */
    for (int i = 0; i < 2; i++) {
        probe_init(&p[i], body_count_batches);
        spawn(&p[i]);
    }
    fixture_turn(&f);
    assert_int_equal(f.batches, 1);
    redd_waker_wake(p[0].waker);
    redd_waker_wake(p[1].waker);
    fixture_run(&f);
    assert_int_equal(p[0].number, 1);
    assert_int_equal(p[1].number, 1);
    assert_int_equal(f.batches, 2);
}

/* --- memory --- */

typedef struct chain {
    probe p;
    int left;
} chain;

static redd_poll body_chain(probe *p, redd_waker *waker, redd_value *out)
{
    (void)waker;
    (void)out;
    (void)p;
    return REDD_READY;
}

static void drop_next_of_chain(probe *p)
{
    chain *c = (chain *)p;
    if (--c->left == 0)
        return;
    p->polls = 0;
    p->drops = 0;
    spawn(p);
}

static void a_million_spawns_take_no_memory(void **state)
{
    (void)state;
    chain chains[100];
    for (int i = 0; i < 100; i++) {
        probe_init(&chains[i].p, body_chain);
        chains[i].p.on_drop = drop_next_of_chain;
        chains[i].left = 100;
        spawn(&chains[i].p);
    }
    fixture_run(&f);
    redd_allocator_stats warm = fixture_stats(&f);
    for (int i = 0; i < 100; i++) {
        probe_init(&chains[i].p, body_chain);
        chains[i].p.on_drop = drop_next_of_chain;
        chains[i].left = 10000;
        spawn(&chains[i].p);
    }
    fixture_run(&f);
    assert_int_equal(fixture_stats(&f).allocations, warm.allocations);
    assert_int_equal(fixture_stats(&f).blocks, warm.blocks);
    assert_int_equal(fixture_stats(&f).peak_bytes, warm.peak_bytes);
}

static void a_parked_task_costs_one_small_block(void **state)
{
    (void)state;
    probe p;
    uint64_t before = fixture_stats(&f).bytes;
    probe_init(&p, body_pending);
    spawn(&p);
    fixture_turn(&f);
    assert_true(fixture_stats(&f).bytes - before <= 96);
    (void)redd__executor_abort_all(f.ex);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(tasks_run_in_order_and_never_inline),
        TEST(many_wakes_are_one_poll),
        TEST(wake_and_ready_in_one_poll_ends),
        TEST(wakers_outlive_task_and_executor),
        TEST(busy_task_leaves_room_for_io),
        TEST(budget_bounds_the_polls_of_a_turn),
        TEST(leftovers_do_not_wait_for_io),
        TEST(a_wake_after_the_executor_s_prepare_is_seen),
        TEST(after_run_ends_each_batch),
        TEST(a_million_spawns_take_no_memory),
        TEST(a_parked_task_costs_one_small_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
