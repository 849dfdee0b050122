/* SPDX-License-Identifier: MIT */
/** What the tests of runtime/task share: a loop with an executor whose memory is counted, and a
 *  future that does what a test tells it and counts what is done to it. */
#ifndef REDD_TESTS_TASK_FIXTURE_H
#define REDD_TESTS_TASK_FIXTURE_H

#include "runtime/task/executor.h"

#include <redd/error.h>

#include <string.h>
#include <uv.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* --- the loop --- */

typedef struct fixture {
    uv_loop_t loop;
    redd_counting_allocator *counting;
    const redd_allocator *alloc;
    redd__blocking *blocking;
    redd_executor *ex;
    int closed;     /* done callbacks so far */
    int idle_calls; /* on_idle */
    int batches;    /* after_run */
} fixture;

static inline redd_allocator_stats fixture_stats(const fixture *f)
{
    redd_allocator_stats s;
    redd_counting_allocator_stats(f->counting, &s);
    return s;
}

static inline void fixture_on_idle(void *user)
{
    ((fixture *)user)->idle_calls++;
}

static inline void fixture_after_run(void *user)
{
    ((fixture *)user)->batches++;
}

static inline void fixture_on_closed(void *user)
{
    ((fixture *)user)->closed++;
}

static inline int fixture_executor(fixture *f, unsigned budget)
{
    redd__executor_options options = {
        .loop = &f->loop,
        .alloc = f->alloc,
        .blocking = f->blocking,
        .run_budget = budget,
        .after_run = fixture_after_run,
        .on_idle = fixture_on_idle,
        .user = f,
    };
    return redd__executor_new(&options, &f->ex);
}

static inline void fixture_close_executor(fixture *f)
{
    redd__executor_close(f->ex, fixture_on_closed, f);
    f->ex = NULL;
}

/** A loop and counted memory only. */
static inline void fixture_init(fixture *f)
{
    memset(f, 0, sizeof(*f));
    assert_int_equal(uv_loop_init(&f->loop), 0);
    assert_int_equal(redd_counting_allocator_new(NULL, &f->counting), 0);
    f->alloc = redd_counting_allocator_hook(f->counting);
}

/** Closes what is open; no handle and no byte may be left. */
static inline void fixture_fini(fixture *f)
{
    if (f->ex)
        fixture_close_executor(f);
    assert_int_equal(uv_run(&f->loop, UV_RUN_DEFAULT), 0);
    redd__blocking_free(f->blocking);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    assert_int_equal(fixture_stats(f).bytes, 0);
    assert_int_equal(fixture_stats(f).blocks, 0);
    redd_counting_allocator_free(f->counting);
}

static inline void fixture_run(fixture *f)
{
    assert_int_equal(uv_run(&f->loop, UV_RUN_DEFAULT), 0);
}

static inline void fixture_turn(fixture *f)
{
    (void)uv_run(&f->loop, UV_RUN_NOWAIT);
}

/* --- a future under a test's control --- */

typedef struct probe probe;
struct probe {
    redd_future base;
    /** NULL: READY with `result`. */
    redd_poll (*body)(probe *p, redd_waker *waker, redd_value *out);
    void (*on_drop)(probe *p);
    void *user;
    int polls, drops;
    int number;
    redd_waker *waker; /* dropped with the future */
    redd_value result;
};

static inline redd_poll probe_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    probe *p = (probe *)f;
    assert_int_equal(p->drops, 0);
    assert_int_equal(out->kind, REDD_UNDEFINED);
    p->polls++;
    if (p->body)
        return p->body(p, waker, out);
    *out = p->result;
    p->result = redd_value_undefined();
    return REDD_READY;
}

static inline void probe_drop(redd_future *f)
{
    probe *p = (probe *)f;
    p->drops++;
    assert_int_equal(p->drops, 1);
    redd_waker_keep(&p->waker, NULL);
    if (p->on_drop)
        p->on_drop(p);
}

static const redd_future_vt probe_vt = {"probe", probe_poll, probe_drop};

/** Bodies. */
static inline redd_poll body_pending(probe *p, redd_waker *waker, redd_value *out)
{
    (void)out;
    redd_waker_keep(&p->waker, waker);
    return REDD_PENDING;
}

/** Pending once, then READY with `number`. */
static inline redd_poll body_second_time(probe *p, redd_waker *waker, redd_value *out)
{
    if (p->polls == 1)
        return body_pending(p, waker, out);
    *out = redd_value_i32(p->number);
    return REDD_READY;
}

static inline void probe_init(probe *p, redd_poll (*body)(probe *, redd_waker *, redd_value *))
{
    memset(p, 0, sizeof(*p));
    p->base.vt = &probe_vt;
    p->body = body;
}

/* --- a waker that is no task --- */

typedef struct bell {
    redd_waker base;
    int rings;
    int refs;
} bell;

static inline void bell_wake(redd_waker *w)
{
    ((bell *)w)->rings++;
}
static inline void bell_ref(redd_waker *w)
{
    ((bell *)w)->refs++;
}
static inline void bell_unref(redd_waker *w)
{
    ((bell *)w)->refs--;
}
static inline int bell_remote(redd_waker *w, redd_remote_waker **out)
{
    (void)w;
    (void)out;
    return UV_ENOTSUP;
}
static const redd_waker_vt bell_vt = {bell_wake, bell_ref, bell_unref, bell_remote};

static inline void bell_init(bell *b)
{
    b->base.vt = &bell_vt;
    b->rings = 0;
    b->refs = 0;
}

#endif
