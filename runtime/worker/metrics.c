/* SPDX-License-Identifier: MIT */
#include "runtime/worker/metrics.h"

#include "runtime/worker/worker.h"

#include <assert.h>
#include <string.h>
#include <uv.h>

#define CACHE_LINE 64

static bool is_name(const char *s)
{
    if (!s || !*s || (*s >= '0' && *s <= '9'))
        return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9') || *s == '_'))
            return false;
    return true;
}

/* Fit to be written as it is, quoted or not. */
static bool is_text(const char *s)
{
    if (!s)
        return false;
    for (; *s; s++)
        if (*s < ' ' || *s > '~' || *s == '"' || *s == '\\')
            return false;
    return true;
}

static bool ends_with_unit(const redd_metric *m)
{
    size_t n = strlen(m->name), unit = m->unit ? strlen(m->unit) : 0;
    return unit == 0 || (n > unit + 1 && m->name[n - unit - 1] == '_' &&
                         strcmp(m->name + n - unit, m->unit) == 0);
}

static bool label_valid(const redd_metric *m)
{
    if (!m->label)
        return m->n_values == 0;
    bool ok = is_name(m->label) && m->n_values > 0;
    for (size_t i = 0; ok && i < m->n_values; i++)
        ok = is_text(m->values[i]);
    return ok;
}

static bool bounds_valid(const redd_metric *m)
{
    if (m->kind != REDD_METRIC_HISTOGRAM)
        return m->n_bounds == 0;
    for (size_t i = 1; i < m->n_bounds; i++)
        if (m->bounds[i] <= m->bounds[i - 1])
            return false;
    return m->n_bounds > 0;
}

static bool metric_valid(const redd_metric *m)
{
    return is_name(m->name) && is_text(m->help) && m->kind <= REDD_METRIC_HISTOGRAM &&
           ends_with_unit(m) && label_valid(m) && bounds_valid(m);
}

static bool has_metric(const redd_extension *x, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(x->metrics[i].name, name) == 0)
            return true;
    return false;
}

static const redd_extension *owner_of(const redd__extensions *e, const redd_extension *x, size_t i)
{
    const char *name = x->metrics[i].name;
    if (has_metric(x, i, name))
        return x;
    for (size_t k = 0; k < e->n; k++)
        if (has_metric(e->items[k], e->items[k]->n_metrics, name))
            return e->items[k];
    return NULL;
}

int redd__metrics_check(const redd__extensions *e, const redd_extension *x, redd__message *m)
{
    for (size_t i = 0; i < x->n_metrics; i++) {
        const redd_metric *metric = &x->metrics[i];
        if (!metric_valid(metric))
            return redd__message_fail(m, UV_EINVAL,
                                      "metric \"%s\" of extension \"%s\" has a malformed name, "
                                      "help, unit, label or list of bounds",
                                      metric->name ? metric->name : "", x->name);
        const redd_extension *owner = owner_of(e, x, i);
        if (owner)
            return redd__message_fail(
                m, REDD_EDUPLICATE,
                "metric \"%s\" of extension \"%s\" is there already, in extension \"%s\"",
                metric->name, x->name, owner->name);
    }
    return 0;
}

static size_t cells_of(const redd_metric *m)
{
    size_t series = m->label ? m->n_values : 1;
    return series * (m->kind == REDD_METRIC_HISTOGRAM ? m->n_bounds + 2 : 1);
}

static size_t count(const redd__extensions *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        n += e->items[i]->n_metrics;
    return n;
}

static int make_slots(redd__metrics *s, const redd__extensions *e, size_t *cells)
{
    *cells = 0;
    s->n = count(e);
    if (s->n == 0)
        return 0;
    s->slots = redd_alloc(s->alloc, s->n * sizeof(*s->slots));
    if (!s->slots)
        return UV_ENOMEM;
    redd__metric_slot *slot = s->slots;
    for (size_t i = 0; i < e->n; i++)
        for (size_t k = 0; k < e->items[i]->n_metrics; k++) {
            const redd_metric *metric = &e->items[i]->metrics[k];
            *slot = (redd__metric_slot){metric, *cells, cells_of(metric)};
            *cells += slot++->n;
        }
    return 0;
}

int redd__metrics_build(redd__metrics *s, const redd_allocator *a, const redd__extensions *e,
                        unsigned n)
{
    size_t cells;
    s->alloc = a;
    s->n_workers = n;
    int rc = make_slots(s, e, &cells);
    if (rc || cells == 0)
        return rc;
    size_t per_line = CACHE_LINE / sizeof(redd_metric_cell);
    s->stride = (cells + per_line - 1) / per_line * per_line;
    s->memory_size = n * s->stride * sizeof(redd_metric_cell) + CACHE_LINE;
    s->memory = redd_alloc_zero(a, s->memory_size);
    if (!s->memory)
        return UV_ENOMEM;
    uintptr_t start = (uintptr_t)s->memory;
    s->cells = (redd_metric_cell *)((start + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    return 0;
}

void redd__metrics_fini(redd__metrics *s)
{
    redd_free(s->alloc, s->slots, s->n * sizeof(*s->slots));
    redd_free(s->alloc, s->memory, s->memory_size);
    s->slots = NULL;
    s->memory = NULL;
    s->n = 0;
}

const redd__metric_slot *redd__metrics_find(const redd__metrics *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->slots[i].metric->name, name) == 0)
            return &s->slots[i];
    return NULL;
}

uint64_t redd__metrics_sum(const redd__metrics *s, size_t cell)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < s->n_workers; i++)
        sum += redd_metric_value(&s->cells[i * s->stride + cell]);
    return sum;
}

redd_metric_cell *redd_worker_metric(redd_worker *w, const char *name)
{
    const redd__metrics *s = &w->rt->metrics;
    const redd__metric_slot *slot = redd__metrics_find(s, name);
    assert(slot);
    return &s->cells[w->index * s->stride + slot->first];
}

uint64_t redd_metric_sum(const redd_runtime *rt, const char *name, size_t i)
{
    const redd__metric_slot *slot = redd__metrics_find(&rt->metrics, name);
    assert(slot && i < slot->n);
    return redd__metrics_sum(&rt->metrics, slot->first + i);
}
