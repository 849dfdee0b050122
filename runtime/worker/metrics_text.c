/* SPDX-License-Identifier: MIT */
/** Metrics as OpenMetrics 1.0 text. */
#include "runtime/base/decimal.h"
#include "runtime/worker/runtime.h"

#include <stdio.h>
#include <string.h>

/** Where the text goes, and the first error in it. */
typedef struct page {
    redd_buffer *out;
    const redd__metrics *metrics;
    unsigned n_workers;
    int rc;
} page;

/** Of a metric: all workers or one, and one of the label's values if it has a label. */
typedef struct series {
    const redd__metric_slot *slot;
    size_t value;
    int worker; /* -1: all */
} series;

/* --- bytes --- */

static void put_bytes(page *p, const char *s, size_t n)
{
    if (p->rc == 0)
        p->rc = redd_buffer_append(p->out, s, n);
}

static void put(page *p, const char *s)
{
    put_bytes(p, s, strlen(s));
}

static void put_escaped(page *p, const char *s)
{
    for (;;) {
        size_t n = strcspn(s, "\\\"\n");
        put_bytes(p, s, n);
        if (s[n] == '\0')
            return;
        put(p, s[n] == '\n' ? "\\n" : s[n] == '"' ? "\\\"" : "\\\\");
        s += n + 1;
    }
}

/** The end of a sample. */
static void put_value(page *p, const redd_metric *m, uint64_t value, uint64_t scale)
{
    char text[REDD__DECIMAL_MAX];
    bool negative = m->kind == REDD_METRIC_GAUGE && (int64_t)value < 0;
    redd__decimal_put(text, negative ? 0 - value : value, scale);
    put(p, negative ? " -" : " ");
    put(p, text);
    put(p, "\n");
}

/* --- samples --- */

static uint64_t scale_of(const redd_metric *m)
{
    return m->scale ? m->scale : 1;
}

/** Cell `i` of the series. */
static uint64_t read_cell(const page *p, const series *s, size_t i)
{
    const redd_metric *m = s->slot->metric;
    size_t at = s->value * (m->kind == REDD_METRIC_HISTOGRAM ? m->n_bounds + 2 : 1) + i;
    if (s->worker >= 0)
        return redd_metric_value(
            &redd__metrics_cells(p->metrics, s->slot, (unsigned)s->worker)[at]);
    return redd__metrics_sum(p->metrics, s->slot, at);
}

/** `before` is "{" or ",". */
static void put_label(page *p, const char **before, const char *name, const char *value)
{
    put(p, *before);
    put(p, name);
    put(p, "=\"");
    put_escaped(p, value);
    put(p, "\"");
    *before = ",";
}

/** name_suffix{worker="0",label="value",le="bound"}, with those labels that there are. */
static void put_name(page *p, const series *s, const char *suffix, const char *le)
{
    const redd_metric *m = s->slot->metric;
    const char *before = "{";
    put(p, m->name);
    put(p, suffix);
    if (s->worker >= 0) {
        char worker[REDD__DECIMAL_MAX];
        redd__decimal_put(worker, (uint64_t)s->worker, 1);
        put_label(p, &before, "worker", worker);
    }
    if (m->label)
        put_label(p, &before, m->label, m->values[s->value]);
    if (le)
        put_label(p, &before, "le", le);
    if (*before == ',')
        put(p, "}");
}

static void put_histogram(page *p, const series *s)
{
    const redd_metric *m = s->slot->metric;
    uint64_t count = 0;
    for (size_t i = 0; i <= m->n_bounds; i++) {
        char le[REDD__DECIMAL_MAX] = "+Inf";
        if (i < m->n_bounds)
            redd__decimal_put_canonical(le, m->bounds[i], scale_of(m));
        count += read_cell(p, s, i);
        put_name(p, s, "_bucket", le);
        put_value(p, m, count, 1);
    }
    put_name(p, s, "_count", NULL);
    put_value(p, m, count, 1);
    put_name(p, s, "_sum", NULL);
    put_value(p, m, read_cell(p, s, m->n_bounds + 1), scale_of(m));
}

static void put_series(page *p, const series *s)
{
    const redd_metric *m = s->slot->metric;
    switch (m->kind) {
    case REDD_METRIC_HISTOGRAM:
        put_histogram(p, s);
        break;
    case REDD_METRIC_INFO:
        put_name(p, s, "_info", NULL);
        put_value(p, m, 1, 1);
        break;
    default:
        put_name(p, s, m->kind == REDD_METRIC_COUNTER ? "_total" : "", NULL);
        put_value(p, m, read_cell(p, s, 0), scale_of(m));
        break;
    }
}

/* --- metrics --- */

static void put_comment(page *p, const char *keyword, const char *name, const char *text)
{
    put(p, "# ");
    put(p, keyword);
    put(p, " ");
    put(p, name);
    put(p, " ");
    put_escaped(p, text);
    put(p, "\n");
}

static void put_metric(page *p, const redd__metric_slot *slot)
{
    static const char *const types[] = {"counter", "gauge", "histogram", "info"};
    const redd_metric *m = slot->metric;
    put_comment(p, "TYPE", m->name, types[m->kind]);
    if (m->unit)
        put_comment(p, "UNIT", m->name, m->unit);
    put_comment(p, "HELP", m->name, m->help);
    int workers = m->by_worker ? (int)p->n_workers : 0;
    for (int worker = m->by_worker ? 0 : -1; worker < workers; worker++)
        for (size_t value = 0; value < (m->label ? m->n_values : 1); value++)
            put_series(p, &(series){slot, value, worker});
}

int redd_metrics_write(const redd_runtime *rt, redd_buffer *out)
{
    page p = {.out = out, .metrics = &rt->metrics, .n_workers = redd__own_metrics_refresh(rt)};
    size_t before = out->len;
    for (size_t i = 0; i < rt->metrics.n; i++)
        put_metric(&p, &rt->metrics.slots[i]);
    put(&p, "# EOF\n");
    if (p.rc)
        out->len = before;
    return p.rc;
}
