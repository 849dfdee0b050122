/* SPDX-License-Identifier: MIT */
/** What the extension "net" keeps per worker. */
#ifndef REDD_NET_NET_H
#define REDD_NET_NET_H

#include "ext/net/cork.h"
#include "ext/net/poller.h"

enum { REDD__READ_BUFFER_SIZE = 128 * 1024 };

typedef struct redd__net {
    const redd_allocator *alloc;
    redd_timers *timers;
    redd_pool streams; /* of redd__tcp */
    redd__poller poller;
    struct redd_cork cork;
    char read_buffer[REDD__READ_BUFFER_SIZE];
} redd__net;

/** The worker's state; a runtime without the extension is a programming error. */
redd__net *redd__net_of(const redd_worker *w);

#endif
