/* SPDX-License-Identifier: MIT */
/** A call of an op that did not end at once. Private to runtime/op. */
#ifndef REDD_OP_CALL_H
#define REDD_OP_CALL_H

#include "runtime/op/ops.h"

typedef enum redd__call_state {
    REDD__CALL_STARTING,  /* in its first poll */
    REDD__CALL_PARKED,    /* in ops->parked */
    REDD__CALL_ENDED,     /* in ops->parked and ops->ended, with its value */
    REDD__CALL_FORGOTTEN, /* nobody waits for it: goes when the executor drops it */
} redd__call_state;

/** The future that the executor holds, around the one that the op gave. Goes back to the pool once
 *  the executor has dropped it and nobody waits for its value. */
struct redd__call {
    redd_future future;
    redd__ops *ops;
    redd_future *inner; /* NULL once dropped */
    redd_join *join;
    redd__call *next; /* in its bucket */
    redd__list link;  /* in ops->ended */
    redd_op_call_id id;
    redd_value value;
    uint64_t began; /* nanoseconds, when metrics are on */
    redd_op_id op;
    uint8_t state; /* redd__call_state */
};

/** Takes `inner` in every case: polls it once, on the executor, and parks it if that was not
 *  enough. Returns as redd_op_call. */
int redd__call_start(redd__ops *ops, redd_op_id op, redd_future *inner, uint64_t began,
                     redd_value *out, redd_op_call_id *id);
/** Out of the table; the value was moved away. */
void redd__call_forget(redd__call *c);

/** A future that ends with what the blocking op returns; takes copies of `argv`. UV_ENOMEM,
 *  UV_EBUSY. */
int redd__blocking_op_new(redd__ops *ops, const redd__op_slot *slot, const redd_value *argv,
                          redd_future **out);

/** UV_ENOMEM, only as long as the table has never held a call. */
int redd__call_table_reserve(redd__call_table *t, const redd_allocator *a);
void redd__call_table_add(redd__call_table *t, redd__call *c);
redd__call *redd__call_table_get(const redd__call_table *t, redd_op_call_id id);
void redd__call_table_remove(redd__call_table *t, const redd__call *c);
void redd__call_table_fini(redd__call_table *t, const redd_allocator *a);

/** UV_ENOMEM: the batch stays as it was. */
int redd__batch_resize(redd__batch *b, const redd_allocator *a, size_t cap);
void redd__batch_fini(redd__batch *b, const redd_allocator *a);

/** Of an op's metrics, which must be on. */
static inline redd_metric_cell *redd__op_cell(const redd__ops *ops, redd_op_id id,
                                              redd__op_metric metric)
{
    return &ops->metrics[(size_t)metric * ops->n + id - 1];
}
/** Counts the end of a call there. */
void redd__op_count_end(redd__ops *ops, redd_op_id id, bool failed, uint64_t began);

#endif
