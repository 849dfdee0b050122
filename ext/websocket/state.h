/* SPDX-License-Identifier: MIT */
/** What the extension keeps per worker. */
#ifndef REDD_WEBSOCKET_STATE_H
#define REDD_WEBSOCKET_STATE_H

#include "ext/websocket/spare.h"
#include "runtime/base/list.h"

#include <redd/metrics.h>
#include <redd/websocket.h>

typedef struct redd__ws_lane redd__ws_lane;

/** A worker's cells, laid out as the extension's metrics are. */
typedef struct redd__ws_meters {
    redd_metric_cell connections;
    redd_metric_cell open; /* length of the state's `open` */
} redd__ws_meters;

typedef struct redd__ws_state {
    redd_worker *worker;
    redd_executor *executor;
    redd_timers *timers;
    const redd_allocator *alloc;
    char *read_buffer; /* the worker's */
    size_t read_size;
    redd_ws_options options; /* the worker's defaults */
    redd_pool sockets;
    redd_pool pongs;
    redd__list open; /* sockets whose close event has not come */
    redd__ws_meters *meters;
    redd__ws_spare spare; /* memory of messages */
    redd__ws_lane *spare_lanes;
    size_t n_spare_lanes;
} redd__ws_state;

/** The worker's state; NULL when the extension is not loaded. */
redd__ws_state *redd__ws_state_of(const redd_worker *w);

extern const redd_op redd__ws_ops[];
#define REDD__WS_N_OPS 10

#endif
