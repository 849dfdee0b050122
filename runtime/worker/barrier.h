/* SPDX-License-Identifier: MIT */
/** Where threads wait for each other, and learn whether all of them got there well. */
#ifndef REDD_WORKER_BARRIER_H
#define REDD_WORKER_BARRIER_H

#include <pthread.h>
#include <stdbool.h>

/** Used once. Caller's memory; the fields are private. */
typedef struct redd__barrier {
    pthread_mutex_t lock;
    pthread_cond_t complete;
    unsigned missing;
    bool failed;
} redd__barrier;

void redd__barrier_init(redd__barrier *b, unsigned threads);
void redd__barrier_fini(redd__barrier *b);
/** Waits until all threads have arrived; true when each of them came with `ok`. */
bool redd__barrier_arrive(redd__barrier *b, bool ok);
/** `n` threads will never come: counts as their arrival without `ok`. */
void redd__barrier_give_up(redd__barrier *b, unsigned n);

#endif
