/* SPDX-License-Identifier: MIT */
/** A listener of each kind, and its acceptor on one worker. */
#ifndef REDD_TESTS_ACCEPTOR_FIXTURE_H
#define REDD_TESTS_ACCEPTOR_FIXTURE_H

#include "tests/unit/listener_fixture.h"

typedef struct server {
    fixture f;
    redd_listener *l;
    redd_acceptor *a;
    counter c;
} server;

typedef enum kind { REUSEPORT, SHARED, UNIX, ADOPTED, N_KINDS } kind;

/** A socket that the test has made and the listener gets. */
static inline redd_listener *adopted(redd_runtime *rt)
{
    struct sockaddr_in name = loopback(0);
    redd_listener *l = NULL;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    assert_int_equal(listen(fd, 511), 0);
    assert_int_equal(redd_listener_adopt(rt, fd, &l), 0);
    return l;
}

static inline redd_listener *listen_as(redd_runtime *rt, kind k)
{
    redd_listen_options o = REDD_LISTEN_OPTIONS_INIT;
    redd_listener *l = NULL;
    if (k == UNIX)
        return listen_on_unix(rt);
    if (k == ADOPTED)
        return adopted(rt);
    o.host = "127.0.0.1";
    o.balance = k == REUSEPORT ? REDD_BALANCE_REUSEPORT : REDD_BALANCE_SHARED;
    assert_int_equal(redd_listener_bind(rt, &o, &l), 0);
    return l;
}

static inline void server_begin(server *s, kind k)
{
    *s = (server){.c = COUNTER_INIT};
    fixture_begin(&s->f, 1, true);
    s->l = listen_as(s->f.rt, k);
    assert_int_equal(redd_acceptor_open(s->l, s->f.w, &s->a), 0);
}

static inline void server_end(server *s)
{
    redd_acceptor_close(s->a);
    assert_int_equal(s->c.refs, 0);
    turn(&s->f);
    redd_listener_free(s->l);
    fixture_end(&s->f);
}

static inline redd_poll poll_accept(server *s, redd_stream **out)
{
    return redd_acceptor_poll(s->a, &s->c.base, out);
}

static inline redd_stream *accept_one(server *s)
{
    redd_stream *stream = NULL;
    while (poll_accept(s, &stream) == REDD_PENDING) {
        unsigned wakes = s->c.wakes;
        UNTIL(&s->f, s->c.wakes > wakes);
    }
    assert_non_null(stream);
    return stream;
}

#endif
