/* SPDX-License-Identifier: MIT */
#include "ext/net/listener.h"
#include "ext/net/address.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>
#include <uv.h>

enum { DEFAULT_BACKLOG = 511 };

/** REUSEPORT spreads connections over the sockets only where the system says so. */
#ifdef __linux__
static const bool reuseport_spreads = true;
#else
static const bool reuseport_spreads = false;
#endif

static int set_option(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof(value)) == 0 ? 0 : -errno;
}

int redd__listener_tcp_options(int fd)
{
    int rc = set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    return rc ? rc : set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

static int set_options(int fd, int family, const redd_listen_options *o)
{
    /* Lets a server start again while connections of the former one are in TIME_WAIT; it does not
     * let two sockets listen on one port. */
    int rc = set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (rc == 0 && family == AF_INET6)
        rc = set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, o->ipv6_only);
    return rc ? rc : redd__listener_tcp_options(fd);
}

/** Binds `fd` and listens. `shared_port` joins a port on which a socket of ours listens already. */
static int bind_and_listen(int fd, const struct sockaddr *name, socklen_t len, int backlog,
                           bool shared_port)
{
    int rc = shared_port ? set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1) : 0;
    if (rc)
        return rc;
    if (bind(fd, name, len) != 0 || listen(fd, backlog ? backlog : DEFAULT_BACKLOG) != 0)
        return -errno;
    return 0;
}

static int open_socket(const struct sockaddr *name, socklen_t len, const redd_listen_options *o,
                       bool shared_port, int *out)
{
    int fd = socket(name->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int rc = set_options(fd, name->sa_family, o);
    if (rc == 0)
        rc = bind_and_listen(fd, name, len, o->backlog, shared_port);
    if (rc) {
        (void)close(fd);
        return rc;
    }
    *out = fd;
    return 0;
}

static void close_sockets(redd_listener *l)
{
    for (unsigned i = 0; i < l->n; i++)
        (void)close(l->fds[i]);
    l->n = 0;
}

/**
 * The first socket listens alone, without SO_REUSEPORT: so the system refuses it when anybody else
 * listens on the port, be it with SO_REUSEPORT. Only then is the port opened for our other sockets,
 * which bind to the address that the first one got.
 */
static int open_all(redd_listener *l, const struct addrinfo *at, const redd_listen_options *o)
{
    int rc = open_socket(at->ai_addr, at->ai_addrlen, o, false, &l->fds[0]);
    if (rc)
        return rc;
    l->n = 1;
    struct sockaddr_storage name = {0};
    socklen_t len = sizeof(name);
    if (getsockname(l->fds[0], (struct sockaddr *)&name, &len) != 0)
        rc = -errno;
    if (rc == 0 && l->slots > 1)
        rc = set_option(l->fds[0], SOL_SOCKET, SO_REUSEPORT, 1);
    while (rc == 0 && l->n < l->slots) {
        rc = open_socket((struct sockaddr *)&name, len, o, true, &l->fds[l->n]);
        if (rc == 0)
            l->n++;
    }
    if (rc) {
        close_sockets(l);
        return rc;
    }
    redd__address_from(&name, &l->address);
    return 0;
}

/** Of the addresses of a name, the first that can be bound; else the first one's error. */
static int open_first(redd_listener *l, const redd_listen_options *o)
{
    struct addrinfo *list;
    int rc = redd__address_resolve(o->host ? o->host : "0.0.0.0", o->port, &list);
    if (rc)
        return rc;
    rc = open_all(l, list, o);
    for (struct addrinfo *at = list->ai_next; rc && at; at = at->ai_next)
        if (open_all(l, at, o) == 0)
            rc = 0;
    freeaddrinfo(list);
    return rc;
}

static size_t listener_size(unsigned slots)
{
    return sizeof(redd_listener) + slots * sizeof(int);
}

static int choose_balance(redd_balance asked, redd_balance *out)
{
    if (asked == REDD_BALANCE_REUSEPORT && !reuseport_spreads)
        return UV_ENOTSUP;
    if (asked == REDD_BALANCE_AUTO)
        asked = reuseport_spreads ? REDD_BALANCE_REUSEPORT : REDD_BALANCE_SHARED;
    *out = asked;
    return 0;
}

redd_listener *redd__listener_new(redd_runtime *rt, redd_balance balance)
{
    const redd_allocator *alloc = redd_runtime_allocator(rt);
    unsigned slots = balance == REDD_BALANCE_REUSEPORT ? redd_runtime_workers(rt) : 1;
    redd_listener *l = redd_alloc_zero(alloc, listener_size(slots));
    if (l) {
        l->alloc = alloc;
        l->balance = balance;
        l->slots = slots;
    }
    return l;
}

static int open_unix(redd_listener *l, const redd_listen_options *o)
{
    int rc = redd__unix_listen(o->path, o->mode, o->backlog ? o->backlog : DEFAULT_BACKLOG,
                               &l->file, &l->fds[0]);
    if (rc == 0) {
        l->n = 1;
        l->address.local = true;
    }
    return rc;
}

int redd_listener_bind(redd_runtime *rt, const redd_listen_options *options, redd_listener **out)
{
    redd_balance balance = REDD_BALANCE_SHARED;
    int rc = options->path ? 0 : choose_balance(options->balance, &balance);
    if (rc)
        return rc;
    redd_listener *l = redd__listener_new(rt, balance);
    if (!l)
        return UV_ENOMEM;
    rc = options->path ? open_unix(l, options) : open_first(l, options);
    if (rc) {
        redd_listener_free(l);
        return rc;
    }
    *out = l;
    return 0;
}

void redd_listener_free(redd_listener *l)
{
    if (!l)
        return;
    redd__unix_remove(&l->file);
    close_sockets(l);
    redd_free(l->alloc, l, listener_size(l->slots));
}

void redd_listener_address(const redd_listener *l, redd_address *out)
{
    *out = l->address;
}

const char *redd_listener_path(const redd_listener *l)
{
    return l->file.path;
}

redd_balance redd_listener_balance(const redd_listener *l)
{
    return l->balance;
}
