/* SPDX-License-Identifier: MIT */
/** What the extension "net" keeps per worker. */
#ifndef REDD_NET_NET_H
#define REDD_NET_NET_H

#include "ext/net/cork.h"
#include "ext/net/poller.h"

#include <redd/metrics.h>

enum { REDD__READ_BUFFER_SIZE = 128 * 1024 };

/** A worker's cells, laid out as redd__net_metrics has it. */
typedef struct redd__net_meters {
    redd_metric_cell accepted;
    redd_metric_cell accept_failures;
    redd_metric_cell received;
    redd_metric_cell sent;
} redd__net_meters;

typedef struct redd__net {
    const redd_allocator *alloc;
    redd_timers *timers;
    redd__net_meters *meters;
    redd_pool streams; /* of redd__tcp */
    redd__poller poller;
    struct redd_cork cork;
    char read_buffer[REDD__READ_BUFFER_SIZE];
} redd__net;

/** The worker's state; a runtime without the extension is a programming error. */
redd__net *redd__net_of(const redd_worker *w);

#endif
