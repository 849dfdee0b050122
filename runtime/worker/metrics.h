/* SPDX-License-Identifier: MIT */
/** The metrics of a runtime's extensions and the cells in which its workers count. */
#ifndef REDD_WORKER_METRICS_H
#define REDD_WORKER_METRICS_H

#include "runtime/worker/extensions.h"

#include <redd/metrics.h>

typedef struct redd__metric_slot {
    const redd_metric *metric;
    size_t first, n; /* cells of each worker */
} redd__metric_slot;

/** Caller's memory; zeroed, it is empty. The cells live as long as the runtime: what a worker has
 *  counted stays counted after its end. */
typedef struct redd__metrics {
    const redd_allocator *alloc;
    redd__metric_slot *slots;
    size_t n;
    redd_metric_cell *cells; /* [n_workers * stride], on cache lines of their own per worker */
    size_t stride;
    unsigned n_workers;
    void *memory; /* that the cells lie in */
    size_t memory_size;
} redd__metrics;

/** Whether the extension's metrics are well formed, and their names free. UV_EINVAL,
 *  REDD_EDUPLICATE. */
int redd__metrics_check(const redd__extensions *e, const redd_extension *x, redd__message *m);
/** Makes the cells of `n` workers. UV_ENOMEM. */
int redd__metrics_build(redd__metrics *metrics, const redd_allocator *a, const redd__extensions *e,
                        unsigned n);
void redd__metrics_fini(redd__metrics *metrics);
/** NULL when there is none of that name. */
const redd__metric_slot *redd__metrics_find(const redd__metrics *metrics, const char *name);
/** The sum over all workers. Any thread. */
uint64_t redd__metrics_sum(const redd__metrics *metrics, size_t cell);

#endif
