/* SPDX-License-Identifier: MIT */
/** What the runtime tells of itself and of its process: nothing counts it, a look finds it out. */
#include "runtime/worker/process.h"
#include "runtime/worker/worker.h"

enum { BUILD, WORKERS, TASKS, CPU, MEMORY, OPEN_FDS, MAX_FDS, STARTED };

static const char *const versions[] = {REDD_VERSION};

const redd_metric redd__own_metrics[REDD__OWN_N_METRICS] = {
    [BUILD] = {.name = "redd_build",
               .help = "The version of redd.",
               .kind = REDD_METRIC_INFO,
               .label = "version",
               .values = versions,
               .n_values = 1},
    [WORKERS] = {.name = "redd_workers", .help = "Workers that run.", .kind = REDD_METRIC_GAUGE},
    [TASKS] = {.name = "redd_tasks",
               .help = "Tasks that have not ended.",
               .kind = REDD_METRIC_GAUGE,
               .by_worker = true},
    [CPU] = {.name = "process_cpu_seconds",
             .help = "Time on the CPUs, of all threads.",
             .unit = "seconds",
             .scale = 1000000},
    [MEMORY] = {.name = "process_resident_memory_bytes",
                .help = "Memory in use.",
                .kind = REDD_METRIC_GAUGE,
                .unit = "bytes"},
    [OPEN_FDS] = {.name = "process_open_fds",
                  .help = "Open file descriptors.",
                  .kind = REDD_METRIC_GAUGE},
    [MAX_FDS] = {.name = "process_max_fds",
                 .help = "Most file descriptors that may be open.",
                 .kind = REDD_METRIC_GAUGE},
    [STARTED] = {.name = "process_start_time_seconds",
                 .help = "Start of the process, since 1970.",
                 .kind = REDD_METRIC_GAUGE,
                 .unit = "seconds",
                 .scale = 1000},
};

static redd_metric_cell *cell(const redd_runtime *rt, size_t metric, unsigned worker)
{
    /* "core" is the first extension: its slots are the first ones. */
    return redd__metrics_cells(&rt->metrics, &rt->metrics.slots[metric], worker);
}

static unsigned refresh_workers(redd_runtime *rt)
{
    int64_t running = 0;
    (void)pthread_mutex_lock(&rt->lock);
    unsigned n = rt->n_workers;
    for (unsigned i = 0; i < n; i++) {
        const redd_worker *w = rt->workers ? rt->workers[i] : NULL;
        bool runs = w && w->control; /* else its executor may be gone */
        running += runs;
        redd_metric_set(cell(rt, TASKS, i), runs ? (int64_t)redd__executor_live(w->inner) : 0);
    }
    (void)pthread_mutex_unlock(&rt->lock);
    redd_metric_set(cell(rt, WORKERS, 0), running);
    return n;
}

/** A counter, which others may be raising as well. */
static void raise_to(redd_metric_cell *c, uint64_t value)
{
    uint64_t old = redd_metric_value(c);
    while (old < value && !__atomic_compare_exchange_n(&c->value, &old, value, true,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static void refresh_gauge(redd_metric_cell *c, uint64_t value)
{
    if (value > 0)
        redd_metric_set(c, (int64_t)value);
}

unsigned redd__own_metrics_refresh(const redd_runtime *rt)
{
    redd__process process = redd__process_read();
    raise_to(cell(rt, CPU, 0), process.cpu_us);
    refresh_gauge(cell(rt, MEMORY, 0), process.resident_bytes);
    refresh_gauge(cell(rt, OPEN_FDS, 0), process.open_fds);
    refresh_gauge(cell(rt, MAX_FDS, 0), process.max_fds);
    if (redd_metric_value(cell(rt, STARTED, 0)) == 0) /* it would not be twice the same */
        refresh_gauge(cell(rt, STARTED, 0), process.started_ms);
    return refresh_workers((redd_runtime *)(uintptr_t)rt); /* whose lock is for all */
}
