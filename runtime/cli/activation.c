/* SPDX-License-Identifier: MIT */
#include "runtime/cli/activation.h"

#include "runtime/cli/values.h"

#include <redd/error.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define SOCKETS_MAX 1024

static int count(unsigned *n, redd__sentence *why)
{
    const char *fds = getenv("LISTEN_FDS"), *pid = getenv("LISTEN_PID");
    unsigned whose;
    *n = 0;
    if (!fds || !pid || !redd__value_number(pid, INT_MAX, &whose) || (pid_t)whose != getpid())
        return 0;
    if (!redd__value_number(fds, SOCKETS_MAX, n))
        return redd__sentence_set(why, REDD_EVALUE,
                                  "LISTEN_FDS=%s: expected a number of sockets from 0 to %u", fds,
                                  SOCKETS_MAX);
    return 0;
}

int redd__activation_take(unsigned *n, redd__sentence *why)
{
    int err = count(n, why);
    (void)unsetenv("LISTEN_FDS");
    (void)unsetenv("LISTEN_PID");
    (void)unsetenv("LISTEN_FDNAMES");
    for (unsigned i = 0; !err && i < *n; i++) {
        int fd = REDD__ACTIVATION_FIRST + (int)i;
        if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
            err =
                redd__sentence_set(why, -errno, "LISTEN_FDS=%u: descriptor %d is not open", *n, fd);
    }
    return err;
}
