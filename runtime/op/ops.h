/* SPDX-License-Identifier: MIT */
/** The ops of one worker: what a call needs of each, the calls that are parked, and those that have
 *  ended and wait for the next batch. */
#ifndef REDD_OP_OPS_H
#define REDD_OP_OPS_H

#include "runtime/base/list.h"
#include "runtime/op/registry.h"

#include <redd/metrics.h>

/** Most calls that may be parked on one worker. */
#define REDD__OPS_MAX_PARKED (1U << 20)

typedef struct redd__call redd__call;

/** What is counted of each op. */
typedef enum redd__op_metric {
    REDD__OP_DISPATCHED = 0,
    REDD__OP_COMPLETED,
    REDD__OP_FAILED,
    REDD__OP_IN_FLIGHT,
    REDD__OP_NANOSECONDS,
    REDD__OP_N_METRICS
} redd__op_metric;

typedef struct redd__op_slot {
    const redd_op *op; /* NULL while its extension is not there: before worker_init has succeeded,
                          and after worker_fini */
    void *state;       /* the op's second argument */
} redd__op_slot;

/** Parked calls by id: chains, at most one call per bucket on average unless memory is short. */
typedef struct redd__call_table {
    redd__call **buckets; /* [mask + 1]; NULL until the first call */
    size_t mask;
    size_t count;
} redd__call_table;

/** Arrays in one block. There is one from the start, so that a lack of memory can split a batch but
 *  not lose it. */
typedef struct redd__batch {
    redd_value *values;   /* [cap] */
    redd_op_call_id *ids; /* [cap] */
    size_t cap;
} redd__batch;

typedef struct redd__ops {
    size_t n;                  /* ops */
    redd__op_slot *slots;      /* [n], by id - 1 */
    redd_metric_cell *metrics; /* of each op, those of its fellows behind it; NULL: off */
    redd_executor *executor;
    const redd_allocator *alloc;

    redd_pool calls;
    redd__call_table parked; /* ended calls too, until they are delivered */
    redd_op_call_id last_id;

    redd__list ended; /* of redd__call, in the order of their ends */
    size_t n_ended;   /* its length */
    bool delivering;  /* a batch function is on the stack */
    redd__batch batch;
    redd_op_completion_fn on_completion;
    void *user;
} redd__ops;

/** `registry` has at least one op. `metrics`: REDD__OP_N_METRICS times as many cells as ops, in the
 *  order of redd__op_metric; NULL: calls are not counted. UV_ENOMEM. */
int redd__ops_init(redd__ops *ops, const redd_allocator *a, const redd__registry *registry,
                   redd_executor *executor, redd_metric_cell *metrics);
/** Drops what was not delivered. Every call's future must have been dropped by the executor. */
void redd__ops_fini(redd__ops *ops);
/** Puts the ops of `extension` to use and tells them their state: `state` of this worker; `shared`
 * for blocking ones. */
void redd__ops_bind(redd__ops *ops, const redd__registry *registry, const redd_extension *extension,
                    void *state, void *shared);
/** Takes the ops of `extension` out of use. */
void redd__ops_unbind(redd__ops *ops, const redd__registry *registry,
                      const redd_extension *extension);

/** Hands all calls that have ended to the completion function, as one batch. */
void redd__ops_deliver(redd_worker *w);

#endif
