/* SPDX-License-Identifier: MIT */
/** One worker on the caller's loop: attach, detach, stops, starts that fail. */
#include "tests/unit/gate.h"

#include <redd/http.h>

/* --- attach and detach --- */

static void count_handle(uv_handle_t *handle, void *count)
{
    (void)handle;
    (*(unsigned *)count)++;
}

static void thousand_times(void **state)
{
    fixture *f = *state;
    for (int i = 0; i < 1000; i++) {
        fixture_attach(f, &gate_extension);
        if (i % 3 == 0)
            assert_int_equal(call_wait(f, 0, redd_value_null(), NULL), REDD_OP_PARKED);
        if (i % 2 == 0)
            fixture_turn(f);
        f->done = 0;
        redd_worker_detach(f->w, i % 3 ? REDD_STOP_GRACEFUL : REDD_STOP_FORCED, fixture_done, f);
        (void)uv_run(&f->loop, UV_RUN_DEFAULT); /* ends by itself */
        assert_int_equal(f->done, 1);
        f->w = NULL;
        unsigned handles = 0;
        uv_walk(&f->loop, count_handle, &handles);
        assert_int_equal(handles, 1); /* the fixture's own */
        assert_int_equal(uv_loop_alive(&f->loop), 0);
        redd_runtime_free(f->rt);
        assert_int_equal(fixture_memory(f).blocks, 0);
    }
}

static void real_time(void **state)
{
    fixture *f = *state;
    f->options.clock = NULL;
    fixture_attach(f, NULL);
    redd_value ms = redd_value_u32(1);
    redd_value out;
    assert_int_equal(redd_op_call(f->w, redd_op_find(f->rt, "op_sleep"), &ms, 1, &out, NULL),
                     REDD_OP_PARKED);
    redd_worker_detach(f->w, REDD_STOP_GRACEFUL, fixture_done, f);
    (void)uv_run(&f->loop, UV_RUN_DEFAULT); /* waits for the sleep */
    assert_int_equal(f->done, 1);
    assert_int_equal(redd_runtime_forced(f->rt), 0);
    redd_runtime_free(f->rt);
    f->w = NULL;
}

/** The loop lives as long as there are tasks, no longer. */
static void keeps_the_loop_alive_while_it_has_tasks(void **state)
{
    fixture *f = *state;
    fixture_attach(f, &gate_extension);
    gate *g = redd_worker_state(f->w, "gate");
    assert_int_equal(uv_run(&f->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(call_wait(f, 0, redd_value_null(), NULL), REDD_OP_PARKED);
    assert_true(uv_loop_alive(&f->loop));
    gate_open(g, 0);
    (void)uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(g->drops, 1);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

static void attaches_once(void **state)
{
    fixture *f = *state;
    redd_worker *second = NULL;
    fixture_attach(f, NULL);
    assert_int_equal(redd_runtime_workers(f->rt), 1);
    assert_ptr_equal(redd_runtime_worker(f->rt, 0), f->w);
    assert_null(redd_runtime_worker(f->rt, 1));
    assert_int_equal(redd_runtime_attach(f->rt, &f->loop, &second), REDD_ESTATE);
    assert_string_equal(redd_runtime_message(f->rt), "a runtime runs once");
    assert_int_equal(redd_runtime_run(f->rt, NULL, NULL, NULL), REDD_ESTATE);
    assert_null(second);
    redd_worker_detach(f->w, REDD_STOP_GRACEFUL, fixture_done, f);
    fixture_await_done(f);
    assert_null(redd_runtime_worker(f->rt, 0));
    assert_int_equal(redd_runtime_attach(f->rt, &f->loop, &second), REDD_ESTATE);
    redd_runtime_free(f->rt);
}

static void accessors(void **state)
{
    fixture *f = *state;
    fixture_attach(f, &gate_extension);
    assert_int_equal(redd_worker_index(f->w), 0);
    assert_ptr_equal(redd_worker_runtime(f->w), f->rt);
    assert_ptr_equal(redd_worker_allocator(f->w), f->options.allocator);
    assert_ptr_equal(redd_worker_logger(f->w), redd_runtime_logger(f->rt));
    assert_ptr_equal(redd_worker_loop(f->w), &f->loop);
    assert_non_null(redd_worker_state(f->w, "gate"));
    assert_null(redd_worker_state(f->w, "core")); /* has none */
    assert_null(redd_worker_state(f->w, "absent"));
    assert_int_equal(redd_worker_stopping(f->w), 0);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

/* --- stops --- */

/** Its worker_stop and worker_fini write to this. */
static char journal[32];

static void note(char what)
{
    size_t n = strlen(journal);
    assert_true(n + 1 < sizeof(journal));
    journal[n] = what;
    journal[n + 1] = '\0';
}

static void stop_noted(redd_worker *w, void *state, redd_stop_mode mode)
{
    (void)state;
    assert_int_equal(redd_worker_stopping(w), mode);
    note(mode == REDD_STOP_GRACEFUL ? 'g' : 'f');
}

static void fini_noted(redd_worker *w, void *state)
{
    (void)w;
    (void)state;
    note('.');
}

static const redd_extension noting = {
    REDD_EXTENSION_HEAD,       .name = "noting",          .version = "1",
    .worker_stop = stop_noted, .worker_fini = fini_noted,
};

static void attach_noting(fixture *f)
{
    journal[0] = '\0';
    assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
    assert_int_equal(redd_runtime_add(f->rt, &gate_extension), 0);
    assert_int_equal(redd_runtime_add(f->rt, &noting), 0);
    assert_int_equal(redd_runtime_attach(f->rt, &f->loop, &f->w), 0);
}

static void graceful_waits_for_tasks(void **state)
{
    fixture *f = *state;
    attach_noting(f);
    assert_int_equal(call_wait(f, 0, redd_value_null(), NULL), REDD_OP_PARKED);
    redd_worker_detach(f->w, REDD_STOP_GRACEFUL, fixture_done, f);
    for (int i = 0; i < 10; i++)
        fixture_turn(f);
    assert_string_equal(journal, "g");
    assert_int_equal(f->done, 0);
    assert_int_equal(redd_worker_stopping(f->w), REDD_STOP_GRACEFUL);
    gate_open(redd_worker_state(f->w, "gate"), 0);
    fixture_await_done(f);
    assert_string_equal(journal, "g.");
    assert_int_equal(redd_runtime_forced(f->rt), 0);
    redd_runtime_free(f->rt);
}

static void unused_done(void *user)
{
    (void)user;
    fail_msg("only the first detach's done counts");
}

static void graceful_then_forced(void **state)
{
    fixture *f = *state;
    attach_noting(f);
    assert_int_equal(call_wait(f, 0, redd_value_null(), NULL), REDD_OP_PARKED);
    assert_int_equal(call_wait(f, 1, redd_value_null(), NULL), REDD_OP_PARKED);
    redd_worker_detach(f->w, REDD_STOP_GRACEFUL, fixture_done, f);
    fixture_turn(f);
    redd_worker_detach(f->w, REDD_STOP_GRACEFUL, unused_done, NULL);
    fixture_turn(f);
    assert_string_equal(journal, "g");
    redd_worker_detach(f->w, REDD_STOP_FORCED, unused_done, NULL);
    fixture_await_done(f);
    assert_string_equal(journal, "gf.");
    assert_int_equal(redd_runtime_forced(f->rt), 2);
    redd_runtime_free(f->rt);
}

static void never_back_to_graceful(void **state)
{
    fixture *f = *state;
    attach_noting(f);
    assert_int_equal(call_wait(f, 0, redd_value_null(), NULL), REDD_OP_PARKED);
    redd_worker_detach(f->w, REDD_STOP_FORCED, fixture_done, f);
    redd_worker_detach(f->w, REDD_STOP_GRACEFUL, unused_done, NULL);
    fixture_await_done(f);
    assert_string_equal(journal, "f.");
    redd_runtime_free(f->rt);
}

static void drain_timeout(void **state)
{
    fixture *f = *state;
    f->options.drain_timeout_ms = 500;
    attach_noting(f);
    assert_int_equal(call_wait(f, 0, redd_value_null(), NULL), REDD_OP_PARKED);
    redd_worker_detach(f->w, REDD_STOP_GRACEFUL, fixture_done, f);
    fixture_turn(f);
    redd_clock_advance(f->clock, 499);
    for (int i = 0; i < 10; i++)
        fixture_turn(f);
    assert_string_equal(journal, "g");
    assert_string_equal(f->logged, "");
    redd_clock_advance(f->clock, 1);
    fixture_await_done(f);
    assert_string_equal(journal, "gf.");
    assert_string_equal(f->logged, "worker 0: 1 tasks were not done in time and are dropped");
    assert_int_equal(redd_runtime_forced(f->rt), 1);
    redd_runtime_free(f->rt);
}

/** redd_runtime_stop drains an attached worker too, but only detach lets it go. */
static void stopped_before_detached(void **state)
{
    fixture *f = *state;
    attach_noting(f);
    redd_runtime_stop(f->rt, REDD_STOP_GRACEFUL);
    for (int i = 0; i < 10; i++)
        fixture_turn(f);
    assert_string_equal(journal, "g");
    assert_int_equal(redd_worker_stopping(f->w), REDD_STOP_GRACEFUL);
    redd_worker_detach(f->w, REDD_STOP_GRACEFUL, fixture_done, f);
    fixture_await_done(f);
    assert_string_equal(journal, "g.");
    redd_runtime_free(f->rt);
}

static void stopped_before_attached(void **state)
{
    fixture *f = *state;
    journal[0] = '\0';
    assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
    assert_int_equal(redd_runtime_add(f->rt, &noting), 0);
    redd_runtime_stop(f->rt, REDD_STOP_FORCED);
    assert_int_equal(redd_runtime_attach(f->rt, &f->loop, &f->w), 0);
    redd_worker_detach(f->w, REDD_STOP_GRACEFUL, fixture_done, f);
    fixture_await_done(f);
    assert_string_equal(journal, "f.");
    redd_runtime_free(f->rt);
}

static void free_in_done(void *user)
{
    fixture *f = user;
    redd_runtime_free(f->rt);
    f->done++;
}

static void runtime_freed_by_done(void **state)
{
    fixture *f = *state;
    attach_noting(f);
    redd_worker_detach(f->w, REDD_STOP_GRACEFUL, free_in_done, f);
    fixture_await_done(f);
}

/* --- a worker_init that fails --- */

static int init_failing(redd_worker *w, void *shared, void **state)
{
    (void)w;
    (void)shared;
    (void)state;
    return UV_EACCES;
}

static const redd_dependency on_noting[] = {{"noting", NULL}};
static const redd_extension failing = {
    REDD_EXTENSION_HEAD,
    .name = "failing",
    .version = "1",
    .deps = on_noting,
    .n_deps = 1,
    .worker_init = init_failing,
    .worker_stop = stop_noted,
    .worker_fini = fini_noted,
};

static void worker_init_fails(void **state)
{
    fixture *f = *state;
    journal[0] = '\0';
    assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
    assert_int_equal(redd_runtime_add(f->rt, &failing), 0);
    assert_int_equal(redd_runtime_add(f->rt, &noting), 0);
    assert_int_equal(redd_runtime_attach(f->rt, &f->loop, &f->w), UV_EACCES);
    static const char sentence[] =
        "worker 0: extension \"failing\" could not start: permission denied (EACCES)";
    assert_string_equal(redd_runtime_message(f->rt), sentence);
    assert_string_equal(f->logged, sentence);
    assert_string_equal(journal, "f."); /* of "noting" alone, before attach returned */
    assert_null(f->w);
    redd_runtime_free(f->rt);
    (void)uv_run(&f->loop, UV_RUN_DEFAULT); /* the handles close */
}

/** What is left of a failed attach is libuv's alone: one turn frees it, also without the runtime.
 */
static void failed_attach_leaves_one_turn(void **state)
{
    fixture *f = *state;
    for (unsigned how = 0; how < 2; how++) {
        uv_loop_t loop;
        assert_int_equal(uv_loop_init(&loop), 0);
        journal[0] = '\0';
        assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
        assert_int_equal(redd_runtime_add(f->rt, &noting), 0);
        assert_int_equal(redd_runtime_add(f->rt, &redd_net_extension), 0);
        assert_int_equal(redd_runtime_add(f->rt, &redd_http_extension), 0);
        assert_int_equal(redd_runtime_add(f->rt, &failing), 0);
        assert_int_equal(redd_runtime_attach(f->rt, &loop, &f->w), UV_EACCES);
        assert_string_equal(journal, "f.");
        assert_null(redd_runtime_worker(f->rt, 0));
        redd_runtime_free(f->rt);
        (void)uv_run(&loop, how ? UV_RUN_NOWAIT : UV_RUN_DEFAULT);
        unsigned handles = 0;
        uv_walk(&loop, count_handle, &handles);
        assert_int_equal(handles, 0);
        assert_int_equal(fixture_memory(f).blocks, 0);
        assert_int_equal(uv_loop_close(&loop), 0);
    }
}

/** An attach that is refused does not touch the loop. */
static void refused_attach_leaves_the_loop_alone(void **state)
{
    fixture *f = *state;
    assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
    assert_int_equal(redd_runtime_add(f->rt, &failing), 0); /* what it needs is missing */
    assert_int_equal(redd_runtime_attach(f->rt, &f->loop, &f->w), REDD_EDEPENDENCY);
    assert_int_equal(redd_runtime_attach(f->rt, &f->loop, &f->w), REDD_ESTATE);
    unsigned handles = 0;
    uv_walk(&f->loop, count_handle, &handles);
    assert_int_equal(handles, 1); /* the fixture's own */
    redd_runtime_free(f->rt);
}

/** Time that passed before, on a loop that did not turn, is no time of a timer's. */
static void timers_count_from_the_start(void **state)
{
    fixture *f = *state;
    f->options.clock = NULL;
    uv_update_time(&f->loop);
    uint64_t stale = uv_now(&f->loop);
    while (uv_hrtime() / 1000000 < stale + 3)
        ;
    fixture_attach(f, NULL);
    assert_true(redd_timers_now(redd_worker_timers(f->w)) >= stale + 3);
    fixture_detach(f, REDD_STOP_GRACEFUL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(thousand_times),
        TEST(real_time),
        TEST(keeps_the_loop_alive_while_it_has_tasks),
        TEST(attaches_once),
        TEST(accessors),
        TEST(graceful_waits_for_tasks),
        TEST(graceful_then_forced),
        TEST(never_back_to_graceful),
        TEST(drain_timeout),
        TEST(stopped_before_detached),
        TEST(stopped_before_attached),
        TEST(runtime_freed_by_done),
        TEST(worker_init_fails),
        TEST(failed_attach_leaves_one_turn),
        TEST(refused_attach_leaves_the_loop_alone),
        TEST(timers_count_from_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
