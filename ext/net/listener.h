/* SPDX-License-Identifier: MIT */
/** A listener's sockets, for its acceptors and for those who make it. */
#ifndef REDD_NET_LISTENER_H
#define REDD_NET_LISTENER_H

#include "ext/net/unix.h"

#include <redd/listener.h>

#include <stdatomic.h>

struct redd_listener {
    const redd_allocator *alloc;
    redd_address address;
    redd__unix_file file; /* of a unix socket */
    redd_balance balance;
    /* Failures to accept, over all workers, and when they were last logged: any thread. */
    atomic_uint_least64_t failures;
    atomic_uint_least64_t logged_at; /* milliseconds + 1; 0: never */
    unsigned slots;                  /* one per worker under REUSEPORT, else 1 */
    unsigned n;                      /* sockets that are open: `slots`, once bound */
    int fds[];
};

/** One without sockets, for redd_listener_free. NULL: out of memory. */
redd_listener *redd__listener_new(redd_runtime *rt, redd_balance balance);

/** What the sockets that `fd` accepts shall inherit: so there is no call for each of them. */
int redd__listener_tcp_options(int fd);

#endif
