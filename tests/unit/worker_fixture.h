/* SPDX-License-Identifier: MIT */
/** One worker on the test's own loop, with counted memory and a virtual clock. */
#ifndef REDD_TESTS_WORKER_FIXTURE_H
#define REDD_TESTS_WORKER_FIXTURE_H

#include <redd/worker.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <uv.h>

typedef struct fixture {
    uv_loop_t loop;
    uv_async_t hold; /* lets a turn be a turn although nothing keeps the loop alive */
    redd_counting_allocator *counting;
    redd_clock *clock;
    redd_runtime_options options; /* for fixture_attach; a test may change it before */
    redd_runtime *rt;
    redd_worker *w;
    unsigned done; /* calls of detach's done */
    char logged[512];
} fixture;

static inline void fixture_log(redd_log_level level, redd_slice line, void *user)
{
    (void)level;
    fixture *f = user;
    size_t n = line.len < sizeof(f->logged) - 1 ? line.len : sizeof(f->logged) - 1;
    memcpy(f->logged, line.data, n);
    f->logged[n] = '\0';
}

static inline void fixture_init(fixture *f)
{
    memset(f, 0, sizeof(*f));
    assert_int_equal(uv_loop_init(&f->loop), 0);
    assert_int_equal(uv_async_init(&f->loop, &f->hold, NULL), 0);
    uv_unref((uv_handle_t *)&f->hold);
    assert_int_equal(redd_counting_allocator_new(NULL, &f->counting), 0);
    assert_int_equal(redd_virtual_clock_new(1700000000, &f->clock), 0);
    f->options = (redd_runtime_options)REDD_RUNTIME_OPTIONS_INIT;
    f->options.allocator = redd_counting_allocator_hook(f->counting);
    f->options.clock = f->clock;
    f->options.logger = (redd_logger){fixture_log, f, REDD_LOG_WARN};
}

static inline redd_allocator_stats fixture_memory(const fixture *f)
{
    redd_allocator_stats stats;
    redd_counting_allocator_stats(f->counting, &stats);
    return stats;
}

static inline void fixture_fini(fixture *f)
{
    assert_int_equal(fixture_memory(f).blocks, 0);
    assert_int_equal(fixture_memory(f).bytes, 0);
    uv_close((uv_handle_t *)&f->hold, NULL);
    (void)uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    redd_clock_free(f->clock);
    redd_counting_allocator_free(f->counting);
}

static inline void fixture_attach(fixture *f, const redd_extension *extension)
{
    assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
    if (extension)
        assert_int_equal(redd_runtime_add(f->rt, extension), 0);
    assert_int_equal(redd_runtime_attach(f->rt, &f->loop, &f->w), 0);
}

static inline void fixture_turn(fixture *f)
{
    uv_ref((uv_handle_t *)&f->hold);
    (void)uv_run(&f->loop, UV_RUN_NOWAIT);
    uv_unref((uv_handle_t *)&f->hold);
}

static inline void fixture_done(void *user)
{
    ((fixture *)user)->done++;
}

/** Turns until the worker is gone. */
static inline void fixture_await_done(fixture *f)
{
    for (int i = 0; !f->done; i++) {
        assert_true(i < 100);
        fixture_turn(f);
    }
    f->w = NULL;
}

static inline void fixture_detach(fixture *f, redd_stop_mode mode)
{
    f->done = 0;
    redd_worker_detach(f->w, mode, fixture_done, f);
    fixture_await_done(f);
    assert_int_equal(f->done, 1);
    redd_runtime_free(f->rt);
    f->rt = NULL;
}

/** A test's setup: a fixture, without a worker. */
static inline int fixture_setup(void **state)
{
    fixture *f = malloc(sizeof(*f));
    assert_non_null(f);
    fixture_init(f);
    *state = f;
    return 0;
}

/** A test's teardown: no worker may be left, and no memory. */
static inline int fixture_teardown(void **state)
{
    fixture *f = *state;
    assert_null(f->w);
    fixture_fini(f);
    free(f);
    return 0;
}

#endif
