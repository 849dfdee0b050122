/* SPDX-License-Identifier: MIT */
/* A socket file outlives its process, so one that is found may be left over or alive: asking it is
 * the only way to know. Between the answer and its use another server could take the path, so
 * servers of ours take turns by a lock on the folder, which leaves no file behind.
 *
 * Why not bind to a name beside the path and rename() it over, which needs no lock: rename replaces
 * whatever is there by then, a server that came first too; and the system goes on to call the
 * socket by the name that it was bound to, in getsockname, in ss and at every peer. */
#include "ext/net/unix.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

/* Servers hold the lock for a few system calls. Whoever holds it for longer is none, and must not
 * keep us from saying so. */
enum { LOCK_TRIES = 100, LOCK_PAUSE_MS = 10 };

static int make_name(const char *path, struct sockaddr_un *name, socklen_t *len)
{
    size_t n = strlen(path);
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (n == 0)
        return UV_EINVAL;
    if (n >= sizeof(name->sun_path))
        return UV_ENAMETOOLONG;
    memcpy(name->sun_path, path, n);
    *len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
    if (path[0] == '@') {
        name->sun_path[0] = '\0'; /* abstract (unix(7)): its length says where it ends */
        --*len;
    }
    return 0;
}

static int open_socket(int *fd)
{
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return *fd < 0 ? -errno : 0;
}

/* 0 when nobody listens there any more. */
static int probe(const struct sockaddr_un *name, socklen_t len)
{
    int fd;
    int rc = open_socket(&fd);
    if (rc)
        return rc;
    /* Also one whose backlog is full, or that is no stream socket, is alive. */
    if (connect(fd, (const struct sockaddr *)name, len) == 0 || errno == EAGAIN ||
        errno == EPROTOTYPE)
        rc = UV_EADDRINUSE;
    else if (errno != ECONNREFUSED && errno != ENOENT)
        rc = -errno;
    (void)close(fd);
    return rc;
}

/* Makes way for a new socket at the path. */
static int clear_path(const char *path, const struct sockaddr_un *name, socklen_t len)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISSOCK(st.st_mode))
        return UV_EEXIST;
    int rc = probe(name, len);
    if (rc == 0 && unlink(path) != 0 && errno != ENOENT)
        rc = -errno;
    return rc;
}

static int take_lock(int folder)
{
    for (int tries = 1; flock(folder, LOCK_EX | LOCK_NB) != 0; tries++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return -errno;
        if (tries == LOCK_TRIES)
            return UV_EBUSY;
        (void)poll(NULL, 0, LOCK_PAUSE_MS);
    }
    return 0;
}

/* The lock lasts as long as the descriptor. */
static int lock_folder(const char *path, int *fd)
{
    char folder[sizeof(((struct sockaddr_un *)0)->sun_path)] = ".";
    const char *slash = strrchr(path, '/');
    if (slash) {
        size_t n = slash == path ? 1 : (size_t)(slash - path);
        memcpy(folder, path, n);
        folder[n] = '\0';
    }
    *fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return -errno;
    int rc = take_lock(*fd);
    if (rc)
        (void)close(*fd);
    return rc;
}

/* Nobody can connect before it listens, and so not before it has its mode. */
static int bind_file(int fd, const struct sockaddr_un *name, socklen_t len, unsigned mode,
                     redd__unix_file *file)
{
    struct stat st;
    int rc = clear_path(file->path, name, len);
    if (rc)
        return rc;
    if (bind(fd, (const struct sockaddr *)name, len) != 0)
        return -errno;
    /* Not through a link, should somebody have put one there. */
    if (lstat(file->path, &st) != 0 ||
        fchmodat(AT_FDCWD, file->path, (mode_t)mode, AT_SYMLINK_NOFOLLOW) != 0) {
        rc = -errno;
        (void)unlink(file->path);
        return rc;
    }
    file->device = st.st_dev;
    file->inode = st.st_ino;
    file->made = true;
    return 0;
}

static int bind_socket(int fd, const struct sockaddr_un *name, socklen_t len, unsigned mode,
                       int backlog, redd__unix_file *file)
{
    int folder = -1;
    bool abstract = file->path[0] == '@';
    int rc = abstract ? 0 : lock_folder(file->path, &folder);
    if (rc)
        return rc;
    if (abstract)
        rc = bind(fd, (const struct sockaddr *)name, len) == 0 ? 0 : -errno;
    else
        rc = bind_file(fd, name, len, mode, file);
    if (rc == 0 && listen(fd, backlog) != 0) {
        rc = -errno;
        redd__unix_remove(file);
    }
    if (folder >= 0)
        (void)close(folder);
    return rc;
}

int redd__unix_listen(const char *path, unsigned mode, int backlog, redd__unix_file *file, int *out)
{
    struct sockaddr_un name;
    socklen_t len;
    int fd;
    int rc = make_name(path, &name, &len);
    if (rc)
        return rc;
    *file = (redd__unix_file){.path = ""};
    memcpy(file->path, path, strlen(path));
    rc = open_socket(&fd);
    if (rc)
        return rc;
    rc = bind_socket(fd, &name, len, mode ? mode : 0660, backlog, file);
    if (rc)
        (void)close(fd);
    else
        *out = fd;
    return rc;
}

void redd__unix_remove(redd__unix_file *file)
{
    struct stat st;
    if (file->made && lstat(file->path, &st) == 0 && st.st_dev == file->device &&
        st.st_ino == file->inode)
        (void)unlink(file->path);
    file->made = false; /* the number of the inode may be another file's from now on */
}
