/* SPDX-License-Identifier: MIT */
/** The metrics of a runtime and the cells in which its workers count. */
#ifndef REDD_WORKER_METRICS_H
#define REDD_WORKER_METRICS_H

#include "runtime/op/ops.h"
#include "runtime/worker/extensions.h"

#include <redd/metrics.h>

typedef struct redd__metric_slot {
    const redd_metric *metric;
    size_t first, n; /* cells of each worker */
} redd__metric_slot;

/** What the runtime tells of each op: in the order of redd__op_metric, without its label. */
extern const redd_metric redd__op_metrics[REDD__OP_N_METRICS];

/** Caller's memory; zeroed, it is empty. Constant once built, but for the cells. */
typedef struct redd__metrics {
    const redd_allocator *alloc;
    redd__metric_slot *slots; /* [n], in the order of the extensions, those of ops at the end */
    size_t n, max_slots;
    redd_metric_cell *cells; /* [n_workers * stride], on cache lines of their own per worker */
    size_t stride;
    unsigned n_workers;
    void *memory; /* that the cells lie in */
    size_t memory_size;
    /* With metrics of ops: they are labelled with the ops' names. */
    redd_metric of_ops[REDD__OP_N_METRICS];
    const char **op_names; /* [n_ops] */
    size_t n_ops;
} redd__metrics;

/* --- metrics_check.c --- */

/** Whether the extension's metrics are well formed, and their names free. UV_EINVAL,
 *  REDD_EDUPLICATE. */
int redd__metrics_check(const redd__extensions *e, const redd_extension *x, redd__message *m);

/* --- metrics.c --- */

/** Makes the cells of `n` workers; `ops` NULL: none for ops. UV_ENOMEM: fini is due all the same.
 */
int redd__metrics_build(redd__metrics *s, const redd_allocator *a, const redd__extensions *e,
                        const redd__registry *ops, unsigned n);
void redd__metrics_fini(redd__metrics *s);
/** NULL when there is none of that name. */
const redd__metric_slot *redd__metrics_find(const redd__metrics *s, const char *name);
/** The cells of a slot on a worker. */
static inline redd_metric_cell *redd__metrics_cells(const redd__metrics *s,
                                                    const redd__metric_slot *slot, unsigned worker)
{
    return &s->cells[worker * s->stride + slot->first];
}
/** The sum over all workers of the slot's cell `i`. */
uint64_t redd__metrics_sum(const redd__metrics *s, const redd__metric_slot *slot, size_t i);
/** The cells of ops on a worker, as redd__ops_init takes them. */
redd_metric_cell *redd__metrics_of_ops(const redd__metrics *s, unsigned worker);

/* --- metrics_own.c --- */

/** The metrics of the extension "core": what is not counted but looked at when somebody asks. */
#define REDD__OWN_N_METRICS 8
extern const redd_metric redd__own_metrics[REDD__OWN_N_METRICS];
/** Looks, and fills their cells; what the system does not tell stays as it was. Returns how many
 *  workers the runtime has or will have. Any thread. */
unsigned redd__own_metrics_refresh(const redd_runtime *rt);

#endif
