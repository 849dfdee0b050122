/* SPDX-License-Identifier: MIT */
#include "runtime/worker/barrier.h"

void redd__barrier_init(redd__barrier *b, unsigned threads)
{
    (void)pthread_mutex_init(&b->lock, NULL);
    (void)pthread_cond_init(&b->complete, NULL);
    b->missing = threads;
    b->failed = false;
}

void redd__barrier_fini(redd__barrier *b)
{
    (void)pthread_cond_destroy(&b->complete);
    (void)pthread_mutex_destroy(&b->lock);
}

static void arrive(redd__barrier *b, unsigned n, bool ok)
{
    b->missing -= n;
    b->failed = b->failed || !ok;
    if (b->missing == 0)
        (void)pthread_cond_broadcast(&b->complete);
}

bool redd__barrier_arrive(redd__barrier *b, bool ok)
{
    (void)pthread_mutex_lock(&b->lock);
    arrive(b, 1, ok);
    while (b->missing > 0)
        (void)pthread_cond_wait(&b->complete, &b->lock);
    bool all_ok = !b->failed;
    (void)pthread_mutex_unlock(&b->lock);
    return all_ok;
}

void redd__barrier_give_up(redd__barrier *b, unsigned n)
{
    (void)pthread_mutex_lock(&b->lock);
    arrive(b, n, false);
    (void)pthread_mutex_unlock(&b->lock);
}
