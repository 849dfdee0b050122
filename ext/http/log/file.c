/* SPDX-License-Identifier: MIT */
#include "ext/http/log/file.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

/* Without O_NONBLOCK a pipe whose reader has stopped would stop the server. */
#define FLAGS (O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* O_NONBLOCK belongs to the open file, which standard output shares with other programs: where that
 * is possible it is opened anew. */
static int open_stdout(const struct stat *info)
{
    if (S_ISFIFO(info->st_mode) || S_ISCHR(info->st_mode)) {
        int fd = open("/proc/self/fd/1", FLAGS);
        if (fd >= 0)
            return fd;
    }
    return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

static int open_file(const char *path, struct stat *info)
{
    int fd;
    if (path)
        fd = open(path, FLAGS | O_CREAT, S_IRUSR | S_IWUSR | S_IRGRP);
    else
        fd = fstat(STDOUT_FILENO, info) == 0 ? open_stdout(info) : -1;
    if (fd < 0)
        return -errno;
    if (fstat(fd, info) == 0)
        return fd;
    int error = -errno;
    (void)close(fd);
    return error;
}

int redd__log_file_open(redd__log_file *f, const redd_allocator *a, const char *path)
{
    struct stat info = {.st_mode = 0};
    *f = (redd__log_file){.alloc = a, .fd = -1};
    if (strcmp(path, "-") != 0 && !(f->path = redd_alloc_string(a, path, strlen(path))))
        return UV_ENOMEM;
    int fd = open_file(f->path, &info);
    if (fd < 0) {
        redd__log_file_close(f);
        return fd;
    }
    f->fd = fd;
    f->socket = S_ISSOCK(info.st_mode);
    atomic_init(&f->is_regular, S_ISREG(info.st_mode));
    return 0;
}

void redd__log_file_close(redd__log_file *f)
{
    if (f->fd >= 0)
        (void)close(f->fd);
    if (f->path)
        redd_free(f->alloc, f->path, strlen(f->path) + 1);
}

int redd__log_file_reopen(redd__log_file *f)
{
    struct stat info = {.st_mode = 0};
    if (!f->path)
        return 0;
    int fd = open_file(f->path, &info);
    if (fd < 0)
        return fd;
    /* Lines may be written to a regular file with the care that a pipe needs, but not the other way
     * round. */
    if (!S_ISREG(info.st_mode))
        atomic_store(&f->is_regular, false);
    int rc = dup3(fd, f->fd, O_CLOEXEC) < 0 ? -errno : 0;
    if (rc == 0)
        atomic_store(&f->is_regular, S_ISREG(info.st_mode));
    (void)close(fd);
    return rc;
}

/* A pipe takes up to PIPE_BUF bytes as one: as many whole lines of it, or one that is longer. */
static size_t whole_lines(const char *lines, size_t len)
{
    if (len <= PIPE_BUF)
        return len;
    const char *end = memrchr(lines, '\n', PIPE_BUF);
    if (!end)
        end = memchr(lines + PIPE_BUF, '\n', len - PIPE_BUF);
    return end ? (size_t)(end - lines) + 1 : len;
}

/* A pipe that nobody reads any more is an error like any other, not the end of the process. */
static ssize_t write_without_signal(int fd, const char *data, size_t len)
{
    static const struct timespec at_once = {0, 0};
    sigset_t broken, before;
    (void)sigemptyset(&broken);
    (void)sigaddset(&broken, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &broken, &before);
    ssize_t n = write(fd, data, len);
    if (n < 0 && errno == EPIPE) {
        (void)sigtimedwait(&broken, NULL, &at_once);
        errno = EPIPE;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return n;
}

static ssize_t write_some(const redd__log_file *f, const char *lines, size_t len)
{
    if (f->socket)
        return send(f->fd, lines, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (atomic_load(&f->is_regular))
        return write(f->fd, lines, len);
    return write_without_signal(f->fd, lines, whole_lines(lines, len));
}

size_t redd__log_file_write(const redd__log_file *f, const char *lines, size_t len, int *error)
{
    size_t done = 0;
    *error = 0;
    while (done < len && *error == 0) {
        ssize_t n = write_some(f, lines + done, len - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            *error = n == 0 ? UV_EIO : -errno;
    }
    return done;
}

bool redd__log_file_wait(const redd__log_file *f, int ms)
{
    struct pollfd p = {.fd = f->fd, .events = POLLOUT};
    return poll(&p, 1, ms) > 0;
}
