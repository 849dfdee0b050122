/* SPDX-License-Identifier: MIT */
/** Metrics: declared by extensions, counted per worker without locks, written as OpenMetrics. */
#ifndef REDD_METRICS_H
#define REDD_METRICS_H

#include <redd/buffer.h>
#include <redd/worker.h>

REDD_BEGIN_DECLS

typedef enum redd_metric_kind {
    REDD_METRIC_COUNTER = 0, /* written with the suffix _total */
    REDD_METRIC_GAUGE,
    REDD_METRIC_HISTOGRAM /* cells: one per bound, one for the rest, then the sum */
} redd_metric_kind;

/** A constant of the extension. */
struct redd_metric {
    const char *name; /* "redd_http_requests": letters, digits, _ */
    const char *help; /* one sentence */
    redd_metric_kind kind;
    const char *unit;  /* "seconds", "bytes", the end of the name; NULL: none */
    const char *label; /* NULL: one series */
    const char *const
        *values; /* of the label: a closed list; a cell (a histogram: its cells) each */
    size_t n_values;
    const uint64_t *bounds; /* of a histogram, ascending, in the unit divided by `scale` */
    size_t n_bounds;
    uint64_t scale; /* cells hold values times scale: 1,000 for seconds counted in ms; 0: 1 */
};

/** One number of one worker: written by its thread, read by any. The field is private. */
typedef struct redd_metric_cell {
    uint64_t value;
} redd_metric_cell;

/** The worker's cells of a metric; valid as long as the worker. An undeclared name is a programming
 *  error. Looks the name up: keep the pointer. */
REDD_API redd_metric_cell *redd_worker_metric(redd_worker *w, const char *name);
/** Any thread. */
static inline uint64_t redd_metric_value(const redd_metric_cell *cell)
{
    return __atomic_load_n(&cell->value, __ATOMIC_RELAXED);
}
/** Adds to a cell. On the worker's thread: nobody else writes, so it needs neither lock nor fence.
 */
static inline void redd_metric_add(redd_metric_cell *cell, int64_t n)
{
    __atomic_store_n(&cell->value, redd_metric_value(cell) + (uint64_t)n, __ATOMIC_RELAXED);
}
/** Counts `value` (times scale) in the cells of one series of a histogram. */
static inline void redd_metric_observe(redd_metric_cell *cells, const redd_metric *m,
                                       uint64_t value)
{
    size_t i = 0;
    while (i < m->n_bounds && value > m->bounds[i])
        i++;
    redd_metric_add(&cells[i], 1);
    redd_metric_add(&cells[m->n_bounds + 1], (int64_t)value);
}
/** The sum over all workers of one cell. Any thread. */
REDD_API uint64_t redd_metric_sum(const redd_runtime *rt, const char *name, size_t i);

/** Appends the OpenMetrics text of every extension's metrics, summed over the workers, and of the
 *  runtime's own, up to "# EOF". Any thread. UV_ENOMEM, REDD_ELIMIT. */
REDD_API int redd_metrics_write(const redd_runtime *rt, redd_buffer *out);

REDD_END_DECLS

#endif
