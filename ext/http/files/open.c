/* SPDX-License-Identifier: MIT */
#include "ext/http/files/open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>

/* A FIFO must not hold the thread, a terminal not become the process's own. */
#define HOW (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

#define RACES_MAX 16 /* a rename on the way makes the system give up (openat2(2), EAGAIN) */

static int open_by_system(int root, const char *path)
{
    struct open_how how = {.flags = HOW, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long fd = -1;
    for (int i = 0; i < RACES_MAX; i++) {
        fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
            break;
    }
    return (int)fd;
}

bool redd__open_beneath_works(int root)
{
    int fd = open_by_system(root, ".");
    if (fd < 0)
        return false;
    (void)close(fd);
    return true;
}

/* Segment by segment, no link among them: what is open cannot be exchanged any more. */
static int open_step_by_step(int root, const char *path)
{
    char segment[NAME_MAX + 1];
    int folder = root;
    for (const char *slash; (slash = strchr(path, '/')); path = slash + 1) {
        size_t n = (size_t)(slash - path);
        if (n >= sizeof(segment)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(segment, path, n);
        segment[n] = '\0';
        int next = openat(folder, segment, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int error = errno;
        if (folder != root)
            (void)close(folder);
        errno = error;
        if (next < 0)
            return -1;
        folder = next;
    }
    int fd = openat(folder, path, HOW | O_NOFOLLOW);
    int error = errno;
    if (folder != root)
        (void)close(folder);
    errno = error;
    return fd;
}

int redd__open_beneath(int root, const char *path, bool by_system, int *fd)
{
    if (!*path)
        path = ".";
    *fd = by_system ? open_by_system(root, path) : open_step_by_step(root, path);
    return *fd < 0 ? -errno : 0;
}
