/* SPDX-License-Identifier: MIT */
/** What the extension "net" keeps per worker. */
#ifndef REDD_NET_NET_H
#define REDD_NET_NET_H

#include "ext/net/cork.h"

#include <redd/stream.h>

#include <uv.h>

enum { REDD__READ_BUFFER_SIZE = 128 * 1024 };

/** Counted, since libuv gives handles back a turn after the worker has let go of the state: one
 *  reference is the worker's, one each open or closing handle's. */
typedef struct redd__net {
    const redd_allocator *alloc;
    uv_loop_t *loop;
    redd_timers *timers;
    size_t refs;
    redd_pool streams; /* of redd__tcp */
    struct redd_cork cork;
    char read_buffer[REDD__READ_BUFFER_SIZE];
} redd__net;

/** The worker's state; a runtime without the extension is a programming error. */
redd__net *redd__net_of(const redd_worker *w);

redd__net *redd__net_ref(redd__net *net);
void redd__net_unref(redd__net *net);

#endif
