/* SPDX-License-Identifier: MIT */
#include "runtime/task/executor_internal.h"

#include <stdatomic.h>

/* Shared by any threads; what it points at belongs to the worker's thread. A wake, and the release
 * that follows the last reference, travel as the one note, which is free whenever `noted` is
 * false. A note under way holds a reference, so the release never meets a wake. */
struct redd_remote_waker {
    atomic_uint refs;
    atomic_bool noted; /* the note is under way as a wake */
    const redd_allocator *alloc;
    redd__inbox *inbox; /* counted; NULL: the executor had closed before */
    redd__note note;
    redd__list link;  /* worker's thread: in the executor's remotes while connected */
    redd__task *task; /* worker's thread: counted; NULL once disconnected */
};

static redd_remote_waker *remote_of_note(redd__note *n)
{
    return REDD__LIST_ITEM(n, redd_remote_waker, note);
}

static void disconnect(redd_remote_waker *r)
{
    redd__task *t = r->task;
    if (!t)
        return;
    r->task = NULL;
    redd__list_remove(&r->link);
    redd__task_unref(t);
}

static void destroy(redd_remote_waker *r)
{
    redd__inbox_unref(r->inbox);
    redd_free(r->alloc, r, sizeof(*r));
}

static void deliver_release(redd__note *n)
{
    redd_remote_waker *r = remote_of_note(n);
    disconnect(r);
    destroy(r);
}

static void deliver_wake(redd__note *n)
{
    redd_remote_waker *r = remote_of_note(n);
    /* A read-modify-write on both sides: a wake that finds the note under way is still ordered
     * before the poll that follows. */
    (void)atomic_exchange(&r->noted, false);
    if (r->task)
        redd_waker_wake(&r->task->waker);
    redd_remote_waker_unref(r);
}

int redd__remote_new(redd__task *t, redd_remote_waker **out)
{
    redd__executor *ex = t->ex;
    redd_remote_waker *r = redd_alloc_zero(ex->options.alloc, sizeof(*r));
    if (!r)
        return UV_ENOMEM;
    atomic_init(&r->refs, 1);
    atomic_init(&r->noted, false);
    r->alloc = ex->options.alloc;
    if (!ex->closed) {
        r->inbox = redd__inbox_ref(ex->inbox);
        r->task = t;
        redd__task_ref(t);
        redd__list_append(&ex->remotes, &r->link);
    }
    *out = r;
    return 0;
}

void redd__remotes_disconnect(redd__executor *ex)
{
    redd__list *link;
    while ((link = redd__list_first(&ex->remotes)))
        disconnect(REDD__LIST_ITEM(link, redd_remote_waker, link));
}

void redd_remote_waker_wake(redd_remote_waker *r)
{
    if (!r->inbox || atomic_exchange(&r->noted, true))
        return;
    (void)redd_remote_waker_ref(r);
    r->note.deliver = deliver_wake;
    /* When the worker has ended, `noted` stays set and later wakes end above. */
    if (redd__inbox_post(r->inbox, &r->note) < 0)
        redd_remote_waker_unref(r);
}

redd_remote_waker *redd_remote_waker_ref(redd_remote_waker *r)
{
    atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
    return r;
}

void redd_remote_waker_unref(redd_remote_waker *r)
{
    if (!r || atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) != 1)
        return;
    r->note.deliver = deliver_release;
    /* Once the inbox is closed, the executor has disconnected it. */
    if (!r->inbox || redd__inbox_post(r->inbox, &r->note) < 0)
        destroy(r);
}
