/* SPDX-License-Identifier: MIT */
#include "runtime/worker/metrics.h"

#include "runtime/worker/worker.h"

#include <assert.h>
#include <string.h>
#include <uv.h>

#define CACHE_LINE 64

const redd_metric redd__op_metrics[REDD__OP_N_METRICS] = {
    [REDD__OP_DISPATCHED] = {.name = "redd_op_dispatched", .help = "Calls of ops."},
    [REDD__OP_COMPLETED] = {.name = "redd_op_completed", .help = "Calls that have ended well."},
    [REDD__OP_FAILED] = {.name = "redd_op_failed", .help = "Calls that have ended with an error."},
    [REDD__OP_IN_FLIGHT] = {.name = "redd_op_in_flight",
                            .help = "Calls that have not ended.",
                            .kind = REDD_METRIC_GAUGE},
    [REDD__OP_NANOSECONDS] = {.name = "redd_op_seconds",
                              .help = "Time from calls to their ends.",
                              .unit = "seconds",
                              .scale = 1000000000},
};

static size_t cells_of(const redd_metric *m)
{
    size_t series = m->label ? m->n_values : 1;
    return series * (m->kind == REDD_METRIC_HISTOGRAM ? m->n_bounds + 2 : 1);
}

/** The room for it is there. */
static void add_slot(redd__metrics *s, const redd_metric *m)
{
    size_t first = s->n ? s->slots[s->n - 1].first + s->slots[s->n - 1].n : 0;
    s->slots[s->n++] = (redd__metric_slot){m, first, cells_of(m)};
}

static int make_op_names(redd__metrics *s, const redd__registry *ops)
{
    s->op_names = redd_alloc(s->alloc, ops->count * sizeof(*s->op_names));
    if (!s->op_names)
        return UV_ENOMEM;
    s->n_ops = ops->count;
    for (size_t i = 0; i < s->n_ops; i++)
        s->op_names[i] = ops->entries[i].op->name;
    for (size_t i = 0; i < REDD__OP_N_METRICS; i++) {
        s->of_ops[i] = redd__op_metrics[i];
        s->of_ops[i].label = "op";
        s->of_ops[i].values = s->op_names;
        s->of_ops[i].n_values = s->n_ops;
    }
    return 0;
}

static size_t max_slots(const redd__extensions *e)
{
    size_t n = REDD__OP_N_METRICS;
    for (size_t i = 0; i < e->n; i++)
        n += e->items[i]->n_metrics;
    return n;
}

static int make_slots(redd__metrics *s, const redd__extensions *e)
{
    s->slots = redd_alloc(s->alloc, max_slots(e) * sizeof(*s->slots));
    if (!s->slots)
        return UV_ENOMEM;
    s->max_slots = max_slots(e);
    for (size_t i = 0; i < e->n; i++)
        for (size_t k = 0; k < e->items[i]->n_metrics; k++)
            add_slot(s, &e->items[i]->metrics[k]);
    for (size_t i = 0; s->op_names && i < REDD__OP_N_METRICS; i++)
        add_slot(s, &s->of_ops[i]);
    return 0;
}

static int make_cells(redd__metrics *s)
{
    size_t n = s->slots[s->n - 1].first + s->slots[s->n - 1].n;
    size_t per_line = CACHE_LINE / sizeof(redd_metric_cell);
    s->stride = (n + per_line - 1) / per_line * per_line;
    s->memory_size = s->n_workers * s->stride * sizeof(redd_metric_cell) + CACHE_LINE;
    s->memory = redd_alloc_zero(s->alloc, s->memory_size);
    if (!s->memory)
        return UV_ENOMEM;
    size_t past = (uintptr_t)s->memory % CACHE_LINE;
    s->cells = (redd_metric_cell *)(void *)((char *)s->memory + (CACHE_LINE - past));
    return 0;
}

int redd__metrics_build(redd__metrics *s, const redd_allocator *a, const redd__extensions *e,
                        const redd__registry *ops, unsigned n)
{
    s->alloc = a;
    s->n_workers = n;
    int rc = ops ? make_op_names(s, ops) : 0;
    if (rc == 0)
        rc = make_slots(s, e);
    return rc == 0 ? make_cells(s) : rc;
}

void redd__metrics_fini(redd__metrics *s)
{
    redd_free(s->alloc, s->slots, s->max_slots * sizeof(*s->slots));
    redd_free(s->alloc, s->op_names, s->n_ops * sizeof(*s->op_names));
    redd_free(s->alloc, s->memory, s->memory_size);
}

const redd__metric_slot *redd__metrics_find(const redd__metrics *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->slots[i].metric->name, name) == 0)
            return &s->slots[i];
    return NULL;
}

uint64_t redd__metrics_sum(const redd__metrics *s, const redd__metric_slot *slot, size_t i)
{
    uint64_t sum = 0;
    for (unsigned w = 0; w < s->n_workers; w++)
        sum += redd_metric_value(&redd__metrics_cells(s, slot, w)[i]);
    return sum;
}

redd_metric_cell *redd__metrics_of_ops(const redd__metrics *s, unsigned worker)
{
    return s->op_names ? redd__metrics_cells(s, &s->slots[s->n - REDD__OP_N_METRICS], worker)
                       : NULL;
}

redd_metric_cell *redd_worker_metric(redd_worker *w, const char *name)
{
    const redd__metric_slot *slot = redd__metrics_find(&w->rt->metrics, name);
    assert(slot);
    return redd__metrics_cells(&w->rt->metrics, slot, w->index);
}

uint64_t redd_metric_sum(const redd_runtime *rt, const char *name, size_t i)
{
    const redd__metrics *s = &rt->metrics;
    const redd__metric_slot *slot = redd__metrics_find(s, name);
    assert(slot && i < slot->n);
    return redd__metrics_sum(s, slot, i);
}
