/* SPDX-License-Identifier: MIT */
/** Listeners on loopback. */
#ifndef REDD_TESTS_LISTENER_FIXTURE_H
#define REDD_TESTS_LISTENER_FIXTURE_H

#include "tests/unit/net_fixture.h"

#include "ext/net/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

static inline int bind_at(fixture *f, redd_balance balance, const char *host, uint16_t port,
                          redd_listener **out)
{
    redd_listen_options o = REDD_LISTEN_OPTIONS_INIT;
    o.host = host;
    o.port = port;
    o.balance = balance;
    return redd_listener_bind(f->rt, &o, out);
}

static inline redd_listener *listen_on(fixture *f, redd_balance balance)
{
    redd_listener *l = NULL;
    assert_int_equal(bind_at(f, balance, "127.0.0.1", 0, &l), 0);
    return l;
}

/** At an abstract name, which leaves nothing in any folder. */
static inline redd_listener *listen_on_unix(redd_runtime *rt)
{
    redd_listen_options o = REDD_LISTEN_OPTIONS_INIT;
    redd_listener *l = NULL;
    char name[32];
    (void)snprintf(name, sizeof(name), "@redd-test-%d", (int)getpid());
    o.path = name;
    assert_int_equal(redd_listener_bind(rt, &o, &l), 0);
    return l;
}

static inline uint16_t port_of(const redd_listener *l)
{
    redd_address a;
    redd_listener_address(l, &a);
    assert_true(a.port != 0);
    return a.port;
}

/** A client of the listener, whatever kind of socket that is. */
static inline int dial(const redd_listener *l)
{
    struct sockaddr_storage name;
    socklen_t len = sizeof(name);
    assert_int_equal(getsockname(l->fds[0], (struct sockaddr *)&name, &len), 0);
    int fd = socket(name.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&name, len), 0);
    return fd;
}

static inline uint16_t socket_port(int fd)
{
    struct sockaddr_in name;
    socklen_t len = sizeof(name);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &len), 0);
    return ntohs(name.sin_port);
}

static inline int option_of(int fd, int level, int option)
{
    int value = -1;
    socklen_t len = sizeof(value);
    assert_int_equal(getsockopt(fd, level, option, &value, &len), 0);
    return value;
}

#endif
