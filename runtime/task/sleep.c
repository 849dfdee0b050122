/* SPDX-License-Identifier: MIT */
#include "runtime/task/wheel.h"

typedef struct sleep_future {
    redd_future base;
    const redd_allocator *alloc;
    redd_timer timer;
    redd_waker *waker;
    bool over;
} sleep_future;

static void on_timer(redd_timer *t, void *user)
{
    (void)t;
    sleep_future *s = user;
    s->over = true;
    redd_waker_fire(&s->waker);
}

static redd_poll sleep_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    (void)out;
    sleep_future *s = (sleep_future *)f;
    if (s->over)
        return REDD_READY;
    redd_waker_keep(&s->waker, waker);
    return REDD_PENDING;
}

static void sleep_drop(redd_future *f)
{
    sleep_future *s = (sleep_future *)f;
    redd_timer_stop(&s->timer);
    redd_waker_unref(s->waker);
    redd_free(s->alloc, s, sizeof(*s));
}

static const redd_future_vt sleep_vt = {"sleep", sleep_poll, sleep_drop};

int redd_sleep_new(redd_timers *timers, uint64_t ms, redd_future **out)
{
    sleep_future *s = redd_alloc(timers->alloc, sizeof(*s));
    if (!s)
        return UV_ENOMEM;
    s->base.vt = &sleep_vt;
    s->alloc = timers->alloc;
    s->waker = NULL;
    s->over = false;
    redd_timer_init(&s->timer, timers, on_timer, s);
    redd_timer_start(&s->timer, ms);
    *out = &s->base;
    return 0;
}
