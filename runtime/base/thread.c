/* SPDX-License-Identifier: MIT */
#include "runtime/base/thread.h"

#include <signal.h>
#include <stddef.h>

int redd__thread_start(pthread_t *out, void *(*main)(void *user), void *user)
{
    /* Those that concern the very thread that they hit. */
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF};
    sigset_t block;
    sigset_t before;
    (void)sigfillset(&block);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        (void)sigdelset(&block, own[i]);
    (void)pthread_sigmask(SIG_SETMASK, &block, &before); /* a thread inherits it */
    int rc = pthread_create(out, NULL, main, user);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -rc;
}
