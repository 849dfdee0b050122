/* SPDX-License-Identifier: MIT */
/* Sockets that the process was given. */
#include "ext/net/address.h"
#include "ext/net/listener.h"

#include <fcntl.h>
#include <string.h>
#include <uv.h>

/* A stream socket that listens; tells its name. */
static int examine(int fd, struct sockaddr_storage *name, socklen_t *len)
{
    int listens = 0, type = 0;
    socklen_t size = sizeof(int);
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 ||
        getsockname(fd, (struct sockaddr *)name, len) != 0)
        return -errno;
    return type == SOCK_STREAM && listens ? 0 : UV_EINVAL;
}

/* What a socket of our own is born with. */
static int prepare(int fd, sa_family_t family)
{
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0)
        return -errno;
    bool tcp = family == AF_INET || family == AF_INET6;
    return tcp ? redd__listener_tcp_options(fd) : 0;
}

/* The path is told, but the file stays its maker's: it is not removed. */
static void tell_name(redd_listener *l, const struct sockaddr_storage *name, socklen_t len)
{
    redd__address_from(name, &l->address);
    if (!l->address.local)
        return;
    const struct sockaddr_un *un = (const struct sockaddr_un *)name;
    size_t n = len - offsetof(struct sockaddr_un, sun_path);
    if (n > 0 && n < sizeof(l->file.path))
        memcpy(l->file.path, un->sun_path, n);
    if (n > 0 && un->sun_path[0] == '\0')
        l->file.path[0] = '@';
}

int redd_listener_adopt(redd_runtime *rt, int fd, redd_listener **out)
{
    struct sockaddr_storage name = {0};
    socklen_t len = sizeof(name);
    int rc = examine(fd, &name, &len);
    if (rc)
        return rc;
    redd_listener *l = redd__listener_new(rt, REDD_BALANCE_SHARED);
    if (!l)
        return UV_ENOMEM;
    rc = prepare(fd, name.ss_family);
    if (rc) {
        redd_listener_free(l);
        return rc;
    }
    tell_name(l, &name, len);
    l->fds[0] = fd;
    l->n = 1;
    *out = l;
    return 0;
}
