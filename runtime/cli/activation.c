/* SPDX-License-Identifier: MIT */
#include "runtime/cli/activation.h"

#include <stdlib.h>
#include <unistd.h>

enum { FDS_MAX = 64 };

/* -1: not digits alone, or beyond `max`. */
static long number_of(const char *text, long max)
{
    char *end;
    if (!text || *text < '0' || *text > '9')
        return -1;
    long n = strtol(text, &end, 10);
    return *end || n > max ? -1 : n;
}

int redd__activation_take(void)
{
    const char *fds = getenv("LISTEN_FDS"), *pid = getenv("LISTEN_PID");
    int n = 0;
    if (fds && number_of(pid, 0x7fffffff) == (long)getpid())
        n = (int)number_of(fds, FDS_MAX);
    (void)unsetenv("LISTEN_FDS");
    (void)unsetenv("LISTEN_PID");
    (void)unsetenv("LISTEN_FDNAMES");
    return n;
}
