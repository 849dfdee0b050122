/* SPDX-License-Identifier: MIT */
/** A worker's whole life while memory, or descriptors, run out at every point of it. */
#include "tests/unit/gate.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct scenario_state {
    fixture *f;
    unsigned parked;
} scenario_state;

static void scenario_batch(redd_worker *w, const redd_op_call_id *calls, redd_value *values,
                           size_t n, void *user)
{
    (void)w;
    (void)calls;
    ((scenario_state *)user)->parked -= (unsigned)n;
    for (size_t i = 0; i < n; i++)
        redd_value_drop(&values[i]);
}

static void scenario_call(scenario_state *s, const char *op, const redd_value *argv, size_t argc)
{
    redd_value out;
    int rc = redd_op_call(s->f->w, redd_op_find(s->f->rt, op), argv, argc, &out, NULL);
    assert_true(rc == 0 || rc == REDD_OP_PARKED || rc == UV_ENOMEM);
    s->parked += rc == REDD_OP_PARKED;
    redd_value_drop(&out);
}

static void scenario_calls(fixture *f)
{
    scenario_state s = {f, 0};
    redd_op_on_completion(f->w, scenario_batch, &s);
    redd_value wait[] = {redd_value_u32(0), redd_value_null()};
    redd_value once = redd_value_u32(1);
    redd_value sum[] = {redd_value_i32(1), redd_value_i32(2)};
    redd_value ms = redd_value_u32(0);
    redd_bytes *b;
    scenario_call(&s, "op_gate_wait", wait, 2);
    scenario_call(&s, "op_gate_at_once", &once, 1);
    scenario_call(&s, "op_gate_add", sum, 2);
    scenario_call(&s, "op_sleep", &ms, 1);
    if (redd_bytes_copy(f->options.allocator, redd_slice_str("abc"), &b) == 0) {
        redd_value bytes = redd_value_bytes(b);
        scenario_call(&s, "op_gate_measure", &bytes, 1);
        redd_value_drop(&bytes);
    }
    gate *g = redd_worker_state(f->w, "gate");
    if (g->waiting[0])
        gate_open(g, 0);
    redd_clock_advance(f->clock, 1);
    while (s.parked > 0)
        (void)uv_run(&f->loop, UV_RUN_ONCE);
    redd_op_on_completion(f->w, NULL, NULL);
}

/** A whole life. False when memory ran out before the worker was there. */
static bool scenario(fixture *f)
{
    f->w = NULL;
    f->done = 0;
    if (redd_runtime_new(&f->options, &f->rt) < 0)
        return false;
    if (redd_runtime_add(f->rt, &gate_extension) < 0 || redd_runtime_seal(f->rt) < 0 ||
        redd_runtime_attach(f->rt, &f->loop, &f->w) < 0) {
        assert_string_not_equal(redd_runtime_message(f->rt), "");
        redd_runtime_free(f->rt);
        (void)uv_run(&f->loop, UV_RUN_DEFAULT);
        return false;
    }
    scenario_calls(f);
    redd_worker_detach(f->w, REDD_STOP_GRACEFUL, fixture_done, f);
    fixture_await_done(f);
    redd_runtime_free(f->rt);
    return true;
}

static void every_allocation_fails(void **state, bool sticky)
{
    fixture *f = *state;
    f->options.logger.level = REDD_LOG_ERROR;
    f->options.op_metrics = true;
    uint64_t before = fixture_memory(f).allocations;
    assert_true(scenario(f));
    uint64_t n = fixture_memory(f).allocations - before;
    assert_true(n > 20);
    bool whole = false;
    for (uint64_t i = 1; i <= n; i++) {
        redd_counting_allocator_fail_at(f->counting, i, sticky);
        whole = scenario(f) || whole;
        redd_counting_allocator_fail_at(f->counting, 0, false);
        assert_int_equal(fixture_memory(f).blocks, 0);
        assert_int_equal(fixture_memory(f).bytes, 0);
        assert_int_equal(uv_loop_alive(&f->loop), 0);
    }
    assert_true(whole); /* failing calls leave the worker usable */
}

static void one_allocation_fails(void **state)
{
    every_allocation_fails(state, false);
}

static void all_further_allocations_fail(void **state)
{
    every_allocation_fails(state, true);
}

/* --- descriptors that run out --- */

static void ignore_log(redd_log_level level, redd_slice line, void *user)
{
    (void)level;
    (void)line;
    (void)user;
}

/** Runs with so many descriptors left, in a process of its own: libuv 1.44 loses some where
 *  uv_loop_init fails half way. */
static int run_with_descriptors(int left)
{
    int lowest = dup(STDERR_FILENO);
    assert_true(lowest >= 0);
    (void)close(lowest);
    pid_t child = fork();
    if (child == 0) {
        rlim_t n = (rlim_t)lowest + (rlim_t)left;
        struct rlimit few = {n, n};
        redd_runtime_options o = REDD_RUNTIME_OPTIONS_INIT;
        redd_runtime *rt;
        o.workers = 3;
        o.logger.write = ignore_log;
        assert_int_equal(redd_runtime_new(&o, &rt), 0);
        int rc = setrlimit(RLIMIT_NOFILE, &few) == 0 ? redd_runtime_run(rt, NULL, NULL, NULL) : 1;
        if (rc == UV_EMFILE && !strstr(redd_runtime_message(rt), " could not start: too many open"))
            rc = 1;
        redd_runtime_free(rt);
        _exit(rc == UV_EMFILE ? 2 : rc);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/** However few descriptors are left, the run begins or says why not. */
static void out_of_descriptors(void **unused)
{
    (void)unused;
    int left = 0;
    while (run_with_descriptors(left) == 2)
        assert_true(++left < 64);
    assert_true(left > 6);
    assert_int_equal(run_with_descriptors(left), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_allocation_fails),
        TEST(all_further_allocations_fail),
        cmocka_unit_test(out_of_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
