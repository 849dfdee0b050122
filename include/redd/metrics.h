/* SPDX-License-Identifier: MIT */
/** Metrics: declared by extensions, counted per worker without locks, written as OpenMetrics. */
#ifndef REDD_METRICS_H
#define REDD_METRICS_H

#include <redd/buffer.h>
#include <redd/worker.h>

REDD_BEGIN_DECLS

typedef enum redd_metric_kind {
    REDD_METRIC_COUNTER = 0, /* only ever grows; written with the suffix _total */
    REDD_METRIC_GAUGE,       /* goes up and down, below zero too */
    REDD_METRIC_HISTOGRAM,   /* cells: one per bound, one for the rest, then the sum */
    REDD_METRIC_INFO /* what its label says; written with the suffix _info and the value 1 */
} redd_metric_kind;

/** A constant of the extension. Each value of the label is a series: one cell, of a histogram all
 *  of its cells. redd_runtime_add refuses what is not as it is told here. */
struct redd_metric {
    /* "redd_http_requests": a to z, 0 to 9 and _, no digit first; of no other metric; without the
     * suffixes that OpenMetrics gives a meaning: _total, _created, _count, _sum, _bucket, _info. */
    const char *name;
    const char *help; /* one sentence */
    redd_metric_kind kind;
    const char *unit;          /* "seconds", "bytes": the end of the name; NULL: none */
    const char *label;         /* as a name; not "le" or "worker"; NULL: one series */
    const char *const *values; /* of the label: a closed list, each different */
    size_t n_values;
    const uint64_t *bounds; /* of a histogram, ascending, times `scale` */
    size_t n_bounds;
    uint64_t scale; /* cells hold values times this power of ten: 1,000 for ms; 0: 1 */
    bool by_worker; /* written once for each worker, with the label "worker", not as their sum */
};

/** One number of one worker: written by its thread, read by any. The field is private. */
typedef struct redd_metric_cell {
    uint64_t value;
} redd_metric_cell;

/** The worker's cells of a metric, those of its extension's next metric behind them; zero at first,
 *  valid as long as the runtime: what a worker has counted stays when it has ended. An undeclared
 *  name is a programming error. Looks the name up: keep the pointer. */
REDD_API redd_metric_cell *redd_worker_metric(redd_worker *w, const char *name);

/** Any thread. */
static inline uint64_t redd_metric_value(const redd_metric_cell *cell)
{
    return __atomic_load_n(&cell->value, __ATOMIC_RELAXED);
}
/** On the worker's thread, as all that follows. For a gauge. */
static inline void redd_metric_set(redd_metric_cell *cell, int64_t n)
{
    __atomic_store_n(&cell->value, (uint64_t)n, __ATOMIC_RELAXED);
}
/** Adds to a cell. Nobody else writes there, so it needs neither lock nor fence. */
static inline void redd_metric_add(redd_metric_cell *cell, int64_t n)
{
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
    /* What clang makes of the line below; gcc makes three instructions of it. */
    __asm__("addq %1, %0" : "+m"(cell->value) : "er"(n) : "cc");
#else
    redd_metric_set(cell, (int64_t)(redd_metric_value(cell) + (uint64_t)n));
#endif
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

/** The sum over all workers of the metric's cell `i`; of a gauge an int64_t. An undeclared name is
 *  a programming error. Any thread once the runtime is sealed. */
REDD_API uint64_t redd_metric_sum(const redd_runtime *rt, const char *name, size_t i);

/** Appends the OpenMetrics 1.0 text of all metrics, up to "# EOF": of the extensions, of the
 *  runtime (redd_workers, redd_tasks, of each op where redd_runtime_options.op_metrics is set) and
 *  of the process (process_*). Nothing that counts waits for it. Any thread once the runtime is
 *  sealed. UV_ENOMEM, REDD_ELIMIT: `out` is as it was. */
REDD_API int redd_metrics_write(const redd_runtime *rt, redd_buffer *out);

REDD_END_DECLS

#endif
