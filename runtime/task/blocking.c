/* SPDX-License-Identifier: MIT */
#include "runtime/task/blocking.h"

#include <assert.h>
#include <uv.h>

struct redd__blocking {
    const redd_allocator *alloc;
    unsigned max_threads, max_waiting;
    uv_thread_t *threads; /* [max_threads], `started` of them run */

    uv_mutex_t lock; /* guards what follows; a leaf: nothing else is locked inside */
    uv_cond_t work;
    redd__blocking_item *first, *last;
    unsigned queued; /* items in the list */
    unsigned busy;   /* threads that run one */
    unsigned started;
    bool ending;
};

int redd__blocking_new(const redd_allocator *a, unsigned threads, unsigned queue,
                       redd__blocking **out)
{
    assert(threads > 0);
    redd__blocking *b = redd_alloc_zero(a, sizeof(*b));
    uv_thread_t *slots = redd_alloc(a, threads * sizeof(*slots));
    int rc = b && slots ? uv_mutex_init(&b->lock) : UV_ENOMEM;
    if (rc < 0)
        goto no_lock;
    rc = uv_cond_init(&b->work);
    if (rc < 0)
        goto no_cond;
    b->alloc = a;
    b->max_threads = threads;
    b->max_waiting = queue;
    b->threads = slots;
    *out = b;
    return 0;

no_cond:
    uv_mutex_destroy(&b->lock);
no_lock:
    redd_free(a, slots, threads * sizeof(*slots));
    redd_free(a, b, sizeof(*b));
    return rc;
}

void redd__blocking_free(redd__blocking *b)
{
    if (!b)
        return;
    uv_mutex_lock(&b->lock);
    assert(b->queued == 0);
    b->ending = true;
    uv_cond_broadcast(&b->work);
    uv_mutex_unlock(&b->lock);
    for (unsigned i = 0; i < b->started; i++)
        (void)uv_thread_join(&b->threads[i]);
    uv_cond_destroy(&b->work);
    uv_mutex_destroy(&b->lock);
    redd_free(b->alloc, b->threads, b->max_threads * sizeof(*b->threads));
    redd_free(b->alloc, b, sizeof(*b));
}

static void append(redd__blocking *b, redd__blocking_item *item)
{
    item->next = NULL;
    item->prev = b->last;
    if (b->last)
        b->last->next = item;
    else
        b->first = item;
    b->last = item;
    item->queued = 1;
    b->queued++;
}

static void unlink_item(redd__blocking *b, redd__blocking_item *item)
{
    if (item->prev)
        item->prev->next = item->next;
    else
        b->first = item->next;
    if (item->next)
        item->next->prev = item->prev;
    else
        b->last = item->prev;
    item->queued = 0;
    b->queued--;
}

static void thread_main(void *arg)
{
    redd__blocking *b = arg;
    uv_mutex_lock(&b->lock);
    for (;;) {
        redd__blocking_item *item = b->first;
        if (item) {
            unlink_item(b, item);
            b->busy++;
            uv_mutex_unlock(&b->lock);
            item->run(item);
            uv_mutex_lock(&b->lock);
            b->busy--; /* before anybody learns of the end and submits again */
            uv_mutex_unlock(&b->lock);
            item->done(item);
            uv_mutex_lock(&b->lock);
        } else if (b->ending) {
            break;
        } else {
            uv_cond_wait(&b->work, &b->lock);
        }
    }
    uv_mutex_unlock(&b->lock);
}

/** One more thread when the jobs in the pool outnumber the threads. */
static int want_thread(redd__blocking *b)
{
    if (b->started == b->max_threads || b->queued + b->busy < b->started + 1)
        return 0;
    int rc = uv_thread_create(&b->threads[b->started], thread_main, b);
    if (rc == 0)
        b->started++;
    return b->started > 0 ? 0 : rc;
}

int redd__blocking_submit(redd__blocking *b, redd__blocking_item *item)
{
    uv_mutex_lock(&b->lock);
    /* Counts what is in the pool, not what no thread has taken yet: whether the queue is full does
     * not depend on how fast a thread wakes up. */
    int rc = b->queued + b->busy < b->max_threads + b->max_waiting ? 0 : UV_EBUSY;
    if (rc == 0) {
        append(b, item);
        rc = want_thread(b);
        if (rc < 0)
            unlink_item(b, item);
        else
            uv_cond_signal(&b->work);
    }
    uv_mutex_unlock(&b->lock);
    return rc;
}

bool redd__blocking_withdraw(redd__blocking *b, redd__blocking_item *item)
{
    uv_mutex_lock(&b->lock);
    bool waits = item->queued != 0;
    if (waits)
        unlink_item(b, item);
    uv_mutex_unlock(&b->lock);
    return waits;
}
