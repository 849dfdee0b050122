/* SPDX-License-Identifier: MIT */
/** What an acceptor sees of its listener. */
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

#endif
