/* SPDX-License-Identifier: MIT */
#include <redd/cancel.h>

#include <assert.h>
#include <uv.h>

struct redd_cancel {
    const redd_allocator *alloc;
    redd_cancel_wait *first, *last; /* a wait is in the list exactly while it has a waker */
    uint32_t refs;
    bool fired;
};

int redd_cancel_new(const redd_allocator *a, redd_cancel **out)
{
    redd_cancel *c = redd_alloc_zero(a, sizeof(*c));
    if (!c)
        return UV_ENOMEM;
    c->alloc = a;
    c->refs = 1;
    *out = c;
    return 0;
}

redd_cancel *redd_cancel_ref(redd_cancel *c)
{
    c->refs++;
    return c;
}

void redd_cancel_unref(redd_cancel *c)
{
    if (!c || --c->refs > 0)
        return;
    assert(!c->first);
    redd_free(c->alloc, c, sizeof(*c));
}

static void append(redd_cancel *c, redd_cancel_wait *wait)
{
    wait->next = NULL;
    wait->prev = c->last;
    if (c->last)
        c->last->next = wait;
    else
        c->first = wait;
    c->last = wait;
}

static void unlink_wait(redd_cancel *c, redd_cancel_wait *wait)
{
    if (wait->prev)
        wait->prev->next = wait->next;
    else
        c->first = wait->next;
    if (wait->next)
        wait->next->prev = wait->prev;
    else
        c->last = wait->prev;
}

void redd_cancel_fire(redd_cancel *c)
{
    if (c->fired)
        return;
    c->fired = true;
    while (c->first) {
        redd_cancel_wait *wait = c->first;
        unlink_wait(c, wait);
        redd_waker_fire(&wait->waker);
    }
}

bool redd_cancel_fired(const redd_cancel *c)
{
    return c->fired;
}

redd_poll redd_cancel_poll(redd_cancel *c, redd_cancel_wait *wait, redd_waker *waker)
{
    if (c->fired)
        return REDD_READY;
    if (!wait->waker)
        append(c, wait);
    redd_waker_keep(&wait->waker, waker);
    return REDD_PENDING;
}

void redd_cancel_leave(redd_cancel *c, redd_cancel_wait *wait)
{
    if (wait->waker)
        unlink_wait(c, wait);
    redd_waker_keep(&wait->waker, NULL);
}
