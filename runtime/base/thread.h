/* SPDX-License-Identifier: MIT */
/** How redd starts threads. */
#ifndef REDD_BASE_THREAD_H
#define REDD_BASE_THREAD_H

#include <pthread.h>

/** Starts a thread that leaves the process's signals to the threads of its embedder. A negative
 *  error of the system when there can be none. */
int redd__thread_start(pthread_t *out, void *(*main)(void *user), void *user);

#endif
