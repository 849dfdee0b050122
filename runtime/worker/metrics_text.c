/* SPDX-License-Identifier: MIT */
/* Metrics as OpenMetrics 1.0 text. */
#include "runtime/worker/process.h"
#include "runtime/worker/runtime.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Where the text goes, and the first error in it. */
typedef struct page {
    redd_buffer *out;
    int rc;
} page;

static REDD_PRINTF(2, 3) void print(page *p, const char *format, ...)
{
    char line[512];
    va_list args;
    if (p->rc)
        return;
    va_start(args, format);
    int n = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    p->rc = n < 0 || (size_t)n >= sizeof(line) ? REDD_ELIMIT
                                               : redd_buffer_append(p->out, line, (size_t)n);
}

static void print_family(page *p, const char *name, const char *type, const char *unit,
                         const char *help)
{
    print(p, "# TYPE %s %s\n", name, type);
    if (unit)
        print(p, "# UNIT %s %s\n", name, unit);
    print(p, "# HELP %s ", name);
    print(p, "%s\n", help);
}

/* Integers as such: no digit is lost. */
static void print_value(page *p, const redd_metric *m, uint64_t value)
{
    if (m->scale > 1)
        print(p, " %.15g\n", (double)value / (double)m->scale);
    else if (m->kind == REDD_METRIC_GAUGE)
        print(p, " %" PRId64 "\n", (int64_t)value);
    else
        print(p, " %" PRIu64 "\n", value);
}

/* {label="value",le="bound"} of what there is. */
static void print_labels(page *p, const redd_metric *m, size_t series, const char *le)
{
    if (!m->label && !le)
        return;
    print(p, "{");
    if (m->label)
        print(p, "%s=\"%s\"%s", m->label, m->values[series], le ? "," : "");
    if (le)
        print(p, "le=\"%s\"", le);
    print(p, "}");
}

static void print_bound(page *p, const redd_metric *m, size_t series, size_t i, uint64_t count)
{
    char le[32] = "+Inf";
    if (i < m->n_bounds)
        (void)snprintf(le, sizeof(le), "%.15g",
                       (double)m->bounds[i] / (double)(m->scale ? m->scale : 1));
    print(p, "%s_bucket", m->name);
    print_labels(p, m, series, le);
    print(p, " %" PRIu64 "\n", count);
}

static void print_histogram(page *p, const redd__metrics *s, const redd_metric *m, size_t series,
                            size_t first)
{
    uint64_t count = 0;
    for (size_t i = 0; i <= m->n_bounds; i++) {
        count += redd__metrics_sum(s, first + i);
        print_bound(p, m, series, i, count);
    }
    print(p, "%s_count", m->name);
    print_labels(p, m, series, NULL);
    print(p, " %" PRIu64 "\n", count);
    print(p, "%s_sum", m->name);
    print_labels(p, m, series, NULL);
    print_value(p, m, redd__metrics_sum(s, first + m->n_bounds + 1));
}

static void print_metric(page *p, const redd__metrics *s, const redd__metric_slot *slot)
{
    static const char *const types[] = {"counter", "gauge", "histogram"};
    const redd_metric *m = slot->metric;
    size_t series = m->label ? m->n_values : 1, cells = slot->n / series;
    print_family(p, m->name, types[m->kind], m->unit, m->help);
    for (size_t i = 0; i < series; i++) {
        size_t first = slot->first + i * cells;
        if (m->kind == REDD_METRIC_HISTOGRAM) {
            print_histogram(p, s, m, i, first);
            continue;
        }
        print(p, "%s%s", m->name, m->kind == REDD_METRIC_COUNTER ? "_total" : "");
        print_labels(p, m, i, NULL);
        print_value(p, m, redd__metrics_sum(s, first));
    }
}

static void print_own(page *p, const redd_runtime *rt)
{
    redd__process process;
    print_family(p, "redd_build", "info", NULL, "The version of redd.");
    print(p, "redd_build_info{version=\"%s\"} 1\n", REDD_VERSION);
    print_family(p, "redd_workers", "gauge", NULL, "Workers of the runtime.");
    print(p, "redd_workers %u\n", redd_runtime_workers(rt));
    if (!redd__process_read(&process))
        return;
    print_family(p, "process_cpu_seconds", "counter", "seconds", "Time on the CPUs, all threads.");
    print(p, "process_cpu_seconds_total %.6f\n", process.cpu_seconds);
    print_family(p, "process_resident_memory_bytes", "gauge", "bytes", "Memory in use.");
    print(p, "process_resident_memory_bytes %" PRIu64 "\n", process.resident_bytes);
    print_family(p, "process_open_fds", "gauge", NULL, "Open file descriptors.");
    print(p, "process_open_fds %" PRIu64 "\n", process.open_fds);
    print_family(p, "process_start_time_seconds", "gauge", "seconds", "Start, since 1970.");
    print(p, "process_start_time_seconds %.3f\n", process.start_time_seconds);
}

int redd_metrics_write(const redd_runtime *rt, redd_buffer *out)
{
    page p = {out, 0};
    size_t before = out->len;
    for (size_t i = 0; i < rt->metrics.n; i++)
        print_metric(&p, &rt->metrics, &rt->metrics.slots[i]);
    print_own(&p, rt);
    print(&p, "# EOF\n");
    if (p.rc)
        out->len = before;
    return p.rc;
}
