/* SPDX-License-Identifier: MIT */
#include "runtime/task/wheel.h"

#include <time.h>

/* --- slots --- */

static void slot_append(redd_timers *w, unsigned index, redd_timer *t)
{
    redd__slot *s = &w->slots[index];
    t->next = NULL;
    t->prev = s->last;
    if (s->last)
        s->last->next = t;
    else
        s->first = t;
    s->last = t;
    t->slot = index + 1;
    if (index < REDD__SLOT_SOON) {
        unsigned level = index >> REDD__WHEEL_BITS;
        w->occupied[level] |= UINT64_C(1) << (index & (REDD__WHEEL_SLOTS - 1));
        w->levels |= 1U << level;
    }
}

static void mark_empty(redd_timers *w, unsigned index)
{
    if (index >= REDD__SLOT_SOON)
        return;
    unsigned level = index >> REDD__WHEEL_BITS;
    w->occupied[level] &= ~(UINT64_C(1) << (index & (REDD__WHEEL_SLOTS - 1)));
    if (w->occupied[level] == 0)
        w->levels &= ~(1U << level);
}

static void slot_remove(redd_timers *w, redd_timer *t)
{
    unsigned index = t->slot - 1;
    redd__slot *s = &w->slots[index];
    if (t->prev)
        t->prev->next = t->next;
    else
        s->first = t->next;
    if (t->next)
        t->next->prev = t->prev;
    else
        s->last = t->prev;
    t->slot = 0;
    if (!s->first)
        mark_empty(w, index);
}

static unsigned wheel_slot(const redd_timers *w, uint64_t deadline)
{
    uint64_t differs = deadline ^ w->elapsed;
    if (differs == 0)
        return (unsigned)(deadline & (REDD__WHEEL_SLOTS - 1));
    unsigned level = (63U - (unsigned)__builtin_clzll(differs)) / REDD__WHEEL_BITS;
    uint64_t bits = deadline >> (level * REDD__WHEEL_BITS);
    return level * REDD__WHEEL_SLOTS + (unsigned)(bits & (REDD__WHEEL_SLOTS - 1));
}

/** Distributes a slot by the deadlines and the present `elapsed`, or moves it to FIRING. */
static void empty_slot(redd_timers *w, unsigned index, bool fire)
{
    redd_timer *t = w->slots[index].first;
    w->slots[index].first = NULL;
    w->slots[index].last = NULL;
    mark_empty(w, index);
    while (t) {
        redd_timer *next = t->next;
        slot_append(w, fire ? (unsigned)REDD__SLOT_FIRING : wheel_slot(w, t->deadline), t);
        t = next;
    }
}

/* --- passing time --- */

static unsigned next_slot(const redd_timers *w)
{
    unsigned level = (unsigned)__builtin_ctz(w->levels);
    return level * REDD__WHEEL_SLOTS + (unsigned)__builtin_ctzll(w->occupied[level]);
}

/** The first moment of a slot that lies ahead. */
static uint64_t slot_start(const redd_timers *w, unsigned index)
{
    unsigned shift = (index >> REDD__WHEEL_BITS) * REDD__WHEEL_BITS;
    uint64_t own = (uint64_t)(index & (REDD__WHEEL_SLOTS - 1)) << shift;
    unsigned above = shift + REDD__WHEEL_BITS;
    return above < 64 ? (w->elapsed >> above << above) | own : own;
}

uint64_t redd__timers_next(const redd_timers *w)
{
    return w->levels ? slot_start(w, next_slot(w)) : UINT64_MAX;
}

static void fire(redd_timers *w)
{
    redd_timer *t;
    while ((t = w->slots[REDD__SLOT_FIRING].first)) {
        slot_remove(w, t);
        t->fn(t, t->user); /* may free it, start it, or close the wheel */
    }
}

void redd__timers_pass(redd_timers *w, uint64_t now)
{
    if (w->closing || now < w->limit)
        return;
    w->passes++;
    w->limit = now;
    empty_slot(w, REDD__SLOT_SOON, true);
    fire(w);
    while (w->levels) {
        unsigned index = next_slot(w);
        uint64_t start = slot_start(w, index);
        if (start > now)
            break;
        w->elapsed = start;
        empty_slot(w, index, index < REDD__WHEEL_SLOTS);
        fire(w);
    }
    if (w->elapsed < now) /* a callback may have moved a virtual clock further */
        w->elapsed = now;
    w->passes--;
}

/* --- driving --- */

static void on_driver(uv_timer_t *driver);

static void arm(redd_timers *w, uint64_t when)
{
    uint64_t now = uv_now(w->loop);
    w->armed_at = when;
    (void)uv_timer_start(&w->driver, on_driver, when > now ? when - now : 0, 0);
}

/** After a pass, in which starts do not arm. */
static void rearm(redd_timers *w)
{
    uint64_t next = redd__timers_next(w);
    if (!w->clock && !w->closing && next < w->armed_at)
        arm(w, next);
}

static void on_driver(uv_timer_t *driver)
{
    redd_timers *w = (redd_timers *)driver;
    w->armed_at = UINT64_MAX;
    redd__timers_pass(w, uv_now(w->loop));
    rearm(w);
}

static void on_soon(uv_idle_t *idle)
{
    redd_timers *w = idle->data;
    (void)uv_idle_stop(idle);
    /* What is due later waits for the driver, or for its clock to be moved. */
    redd__timers_pass(w, w->limit);
    rearm(w);
}

static void on_closed(uv_handle_t *handle)
{
    redd_timers *w = handle->data;
    if (--w->open > 0)
        return;
    void (*done)(void *user) = w->done;
    void *user = w->user;
    redd_free(w->alloc, w, sizeof(*w));
    if (done)
        done(user);
}

int redd__timers_new(uv_loop_t *loop, const redd_allocator *a, redd_clock *clock, redd_timers **out)
{
    redd_timers *w = redd_alloc_zero(a, sizeof(*w));
    if (!w)
        return UV_ENOMEM;
    (void)uv_timer_init(loop, &w->driver);
    (void)uv_idle_init(loop, &w->soon);
    uv_unref((uv_handle_t *)&w->driver);
    uv_unref((uv_handle_t *)&w->soon);
    w->driver.data = w;
    w->soon.data = w;
    w->open = 2;
    w->loop = loop;
    w->alloc = a;
    w->clock = clock;
    if (clock)
        redd__list_append(&clock->wheels, &w->link);
    w->elapsed = redd_timers_now(w);
    w->limit = w->elapsed;
    w->armed_at = UINT64_MAX;
    *out = w;
    return 0;
}

void redd__timers_close(redd_timers *t, void (*done)(void *user), void *user)
{
    t->closing = true;
    t->done = done;
    t->user = user;
    for (unsigned i = 0; i < REDD__SLOT_COUNT; i++)
        while (t->slots[i].first)
            slot_remove(t, t->slots[i].first);
    if (t->clock)
        redd__list_remove(&t->link);
    uv_close((uv_handle_t *)&t->driver, on_closed);
    uv_close((uv_handle_t *)&t->soon, on_closed);
}

/* --- timers --- */

void redd_timer_init(redd_timer *t, redd_timers *timers, redd_timer_fn fn, void *user)
{
    t->next = NULL;
    t->prev = NULL;
    t->deadline = 0;
    t->fn = fn;
    t->user = user;
    t->timers = timers;
    t->slot = 0;
}

void redd_timer_start(redd_timer *t, uint64_t ms)
{
    redd_timers *w = t->timers;
    if (t->slot)
        slot_remove(w, t);
    if (w->closing)
        return; /* nobody would fire it, and the wheel goes before the timer may */
    uint64_t now = redd_timers_now(w);
    t->deadline = ms < UINT64_MAX - now ? now + ms : UINT64_MAX;
    if (t->deadline <= w->limit) {
        slot_append(w, REDD__SLOT_SOON, t);
        /* Not the driver: libuv would run a timer of 0 again and again without polling for I/O. */
        (void)uv_idle_start(&w->soon, on_soon);
        return;
    }
    slot_append(w, wheel_slot(w, t->deadline), t);
    if (!w->clock && w->passes == 0 && t->deadline < w->armed_at)
        arm(w, t->deadline);
}

void redd_timer_stop(redd_timer *t)
{
    if (t->slot)
        slot_remove(t->timers, t);
}

uint64_t redd_timers_now(const redd_timers *timers)
{
    return timers->clock ? timers->clock->now : uv_now(timers->loop);
}

int64_t redd_timers_unix_time(const redd_timers *timers)
{
    const redd_clock *c = timers->clock;
    if (!c)
        return (int64_t)time(NULL); /* no system call: the kernel keeps it in a shared page */
    return c->unix_base + (int64_t)((c->now - REDD__CLOCK_START) / 1000);
}

int64_t redd_timers_unix_ms(const redd_timers *timers)
{
    const redd_clock *c = timers->clock;
    if (c)
        return c->unix_base * 1000 + (int64_t)(c->now - REDD__CLOCK_START);
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now); /* no system call either */
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
