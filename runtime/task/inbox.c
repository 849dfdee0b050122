/* SPDX-License-Identifier: MIT */
#include "runtime/task/inbox.h"

#include <redd/error.h>

#include <stdatomic.h>

typedef struct inbox_handle {
    uv_async_t async; /* first: the handle's address is the block's */
    redd__inbox *inbox;
    void (*done)(void *user);
    void *user;
} inbox_handle;

struct redd__inbox {
    atomic_uint refs;
    const redd_allocator *alloc;
    inbox_handle *handle; /* loop's thread, and senders that hold the lock and saw `closed` false */
    redd__note *taken;    /* loop's thread: taken out, not yet delivered */

    uv_mutex_t lock; /* guards what follows; a leaf: nothing else is locked inside */
    redd__note *head, *tail;
    bool closed;
};

static void on_async(uv_async_t *async);

int redd__inbox_new(uv_loop_t *loop, const redd_allocator *a, redd__inbox **out)
{
    redd__inbox *in = redd_alloc_zero(a, sizeof(*in));
    inbox_handle *handle = redd_alloc_zero(a, sizeof(*handle));
    int rc = in && handle ? uv_mutex_init(&in->lock) : UV_ENOMEM;
    if (rc < 0)
        goto no_lock;
    rc = uv_async_init(loop, &handle->async, on_async);
    if (rc < 0)
        goto no_async;
    uv_unref((uv_handle_t *)&handle->async);
    handle->inbox = in;
    in->handle = handle;
    in->alloc = a;
    atomic_init(&in->refs, 1);
    *out = in;
    return 0;

no_async:
    uv_mutex_destroy(&in->lock);
no_lock:
    redd_free(a, handle, sizeof(*handle));
    redd_free(a, in, sizeof(*in));
    return rc;
}

redd__inbox *redd__inbox_ref(redd__inbox *in)
{
    atomic_fetch_add_explicit(&in->refs, 1, memory_order_relaxed);
    return in;
}

void redd__inbox_unref(redd__inbox *in)
{
    if (!in || atomic_fetch_sub_explicit(&in->refs, 1, memory_order_acq_rel) != 1)
        return;
    uv_mutex_destroy(&in->lock);
    redd_free(in->alloc, in, sizeof(*in));
}

int redd__inbox_post(redd__inbox *in, redd__note *n)
{
    n->next = NULL;
    uv_mutex_lock(&in->lock);
    if (in->closed) {
        uv_mutex_unlock(&in->lock);
        return REDD_ECLOSED;
    }
    bool was_empty = in->head == NULL;
    if (was_empty)
        in->head = n;
    else
        in->tail->next = n;
    in->tail = n;
    /* Under the lock, so that the handle is never told after it began to close. */
    if (was_empty)
        (void)uv_async_send(&in->handle->async);
    uv_mutex_unlock(&in->lock);
    return 0;
}

/** Refills `taken`; false when nothing was there. `close_if_empty`: refuse notes from then on. */
static bool take(redd__inbox *in, bool close_if_empty)
{
    uv_mutex_lock(&in->lock);
    in->taken = in->head;
    in->head = NULL;
    in->tail = NULL;
    if (close_if_empty && !in->taken)
        in->closed = true;
    uv_mutex_unlock(&in->lock);
    return in->taken != NULL;
}

/** `taken` belongs to the inbox and not to this call: a note that closes the inbox has the others
 *  delivered before it returns. */
static void deliver_taken(redd__inbox *in)
{
    while (in->taken) {
        redd__note *n = in->taken;
        in->taken = n->next;
        n->deliver(n);
    }
}

bool redd__inbox_deliver(redd__inbox *in)
{
    bool any = in->taken || take(in, false);
    deliver_taken(in);
    return any;
}

static void on_async(uv_async_t *async)
{
    /* One batch a turn: notes that beget notes must not keep the loop here. */
    (void)redd__inbox_deliver(((inbox_handle *)async)->inbox);
}

static void on_closed(uv_handle_t *handle)
{
    inbox_handle *h = (inbox_handle *)handle;
    redd__inbox *in = h->inbox;
    void (*done)(void *user) = h->done;
    void *user = h->user;
    redd_free(in->alloc, h, sizeof(*h));
    redd__inbox_unref(in);
    if (done)
        done(user);
}

void redd__inbox_close(redd__inbox *in, void (*done)(void *user), void *user)
{
    do
        deliver_taken(in);
    while (take(in, true));
    (void)redd__inbox_ref(in); /* the closing handle's */
    in->handle->done = done;
    in->handle->user = user;
    uv_close((uv_handle_t *)&in->handle->async, on_closed);
}
