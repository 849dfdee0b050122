/* SPDX-License-Identifier: MIT */
#include "runtime/task/blocking.h"

#include "runtime/base/thread.h"

#include <assert.h>
#include <uv.h>

struct redd__blocking {
    const redd_allocator *alloc;
    size_t max_threads, max_waiting;
    pthread_t *threads; /* [max_threads], `started` of them run */

    uv_mutex_t lock; /* guards what follows; a leaf: nothing else is locked inside */
    uv_cond_t work;
    redd__list items; /* that no thread has taken yet */
    size_t queued;    /* its length */
    size_t busy;      /* threads that run one */
    size_t started;
    bool ending;
};

int redd__blocking_new(const redd_allocator *a, unsigned threads, unsigned queue,
                       redd__blocking **out)
{
    assert(threads > 0);
    redd__blocking *b = redd_alloc_zero(a, sizeof(*b));
    pthread_t *slots = redd_alloc(a, threads * sizeof(*slots));
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
    redd__list_init(&b->items);
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
    for (size_t i = 0; i < b->started; i++)
        (void)pthread_join(b->threads[i], NULL);
    uv_cond_destroy(&b->work);
    uv_mutex_destroy(&b->lock);
    redd_free(b->alloc, b->threads, b->max_threads * sizeof(*b->threads));
    redd_free(b->alloc, b, sizeof(*b));
}

static void remove_item(redd__blocking *b, redd__blocking_item *item)
{
    redd__list_remove(&item->link);
    b->queued--;
}

static redd__blocking_item *take_first(redd__blocking *b)
{
    redd__list *link = redd__list_pop(&b->items);
    if (!link)
        return NULL;
    b->queued--;
    return REDD__LIST_ITEM(link, redd__blocking_item, link);
}

static void *thread_main(void *arg)
{
    redd__blocking *b = arg;
    uv_mutex_lock(&b->lock);
    for (;;) {
        redd__blocking_item *item = take_first(b);
        if (item) {
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
    return NULL;
}

/** One more thread when the jobs in the pool outnumber the threads. */
static int want_thread(redd__blocking *b)
{
    if (b->started == b->max_threads || b->queued + b->busy < b->started + 1)
        return 0;
    int rc = redd__thread_start(&b->threads[b->started], thread_main, b);
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
        redd__list_append(&b->items, &item->link);
        b->queued++;
        rc = want_thread(b);
        if (rc < 0)
            remove_item(b, item);
        else
            uv_cond_signal(&b->work);
    }
    uv_mutex_unlock(&b->lock);
    return rc;
}

bool redd__blocking_withdraw(redd__blocking *b, redd__blocking_item *item)
{
    uv_mutex_lock(&b->lock);
    bool waits = !redd__list_empty(&item->link);
    if (waits)
        remove_item(b, item);
    uv_mutex_unlock(&b->lock);
    return waits;
}
