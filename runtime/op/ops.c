/* SPDX-License-Identifier: MIT */
#include "runtime/op/ops.h"

#include "runtime/op/call.h"
#include "runtime/op/host.h"

#include <assert.h>
#include <string.h>
#include <uv.h>

enum { CALLS_KEPT = 1024, FIRST_BATCH = 32 };

static int allocate(redd__ops *ops)
{
    ops->slots = redd_alloc_zero(ops->alloc, ops->n * sizeof(*ops->slots));
    if (!ops->slots)
        return UV_ENOMEM;
    return redd__batch_resize(&ops->batch, ops->alloc, FIRST_BATCH);
}

int redd__ops_init(redd__ops *ops, const redd_allocator *a, const redd__registry *registry,
                   redd_executor *executor, redd_metric_cell *metrics)
{
    memset(ops, 0, sizeof(*ops));
    ops->n = registry->count;
    ops->metrics = metrics;
    ops->executor = executor;
    ops->alloc = a;
    redd__list_init(&ops->ended);
    redd_pool_init(&ops->calls, a, sizeof(redd__call), CALLS_KEPT);
    if (allocate(ops) < 0) {
        redd__ops_fini(ops);
        return UV_ENOMEM;
    }
    return 0;
}

void redd__ops_fini(redd__ops *ops)
{
    redd__list *link;
    while ((link = redd__list_pop(&ops->ended))) {
        redd__call *c = REDD__LIST_ITEM(link, redd__call, link);
        redd_value_drop(&c->value);
        redd__call_forget(c);
    }
    assert(ops->parked.count == 0);
    redd__call_table_fini(&ops->parked, ops->alloc);
    redd_pool_fini(&ops->calls);
    redd__batch_fini(&ops->batch, ops->alloc);
    redd_free(ops->alloc, ops->slots, ops->n * sizeof(*ops->slots));
}

void redd__ops_bind(redd__ops *ops, const redd__registry *registry, const redd_extension *extension,
                    void *state, void *shared)
{
    for (size_t i = 0; i < ops->n; i++)
        if (registry->entries[i].extension == extension) {
            const redd_op *op = registry->entries[i].op;
            ops->slots[i] = (redd__op_slot){op, op->flags & REDD_OP_BLOCKING ? shared : state};
        }
}

void redd__ops_unbind(redd__ops *ops, const redd__registry *registry,
                      const redd_extension *extension)
{
    for (size_t i = 0; i < ops->n; i++)
        if (registry->entries[i].extension == extension)
            ops->slots[i] = (redd__op_slot){NULL, NULL};
}

static bool accepts(const redd_op *op, const redd_value *argv, size_t argc)
{
    if (argc != op->argc)
        return false;
    for (size_t i = 0; i < argc; i++)
        if (argv[i].kind > REDD_ERROR || !(op->args[i].accepts >> argv[i].kind & 1U))
            return false;
    return true;
}

/** Ends within the call: an error value becomes the return code, and an error has no value. */
static int unwrap(int rc, redd_value *out)
{
    if (rc == 0 && out->kind == REDD_ERROR) {
        rc = out->as.i32;
        *out = redd_value_undefined();
    } else if (rc < 0) {
        redd_value_drop(out);
    }
    return rc;
}

/** What an op returned must be one of the things that it may return: modules are others' code. */
static int checked(int rc, redd_future **pending)
{
    if (rc > 0)
        rc = UV_EINVAL;
    if (rc < 0 && *pending) {
        redd_future_drop(*pending);
        *pending = NULL;
    }
    return rc;
}

static int dispatch(redd_worker *w, redd_op_id id, const redd_value *argv, uint64_t began,
                    redd_value *out, redd_op_call_id *call)
{
    redd__ops *ops = &redd__op_host_of(w)->ops;
    const redd__op_slot *slot = &ops->slots[id - 1];
    redd_future *pending = NULL;
    int rc;
    if (slot->op->flags & REDD_OP_SYNC)
        rc = slot->op->call(w, slot->state, argv, out, NULL);
    else if (ops->parked.count >= REDD__OPS_MAX_PARKED)
        rc = REDD_ELIMIT;
    else if (slot->op->flags & REDD_OP_BLOCKING)
        rc = redd__blocking_op_new(ops, slot, argv, &pending);
    else
        rc = slot->op->call(w, slot->state, argv, out, &pending);
    if (rc != 0)
        rc = checked(rc, &pending);
    else if (pending)
        rc = redd__call_start(ops, id, pending, began, out, call);
    return unwrap(rc, out);
}

static int dispatch_counted(redd_worker *w, redd_op_id id, const redd_value *argv, redd_value *out,
                            redd_op_call_id *call)
{
    redd__ops *ops = &redd__op_host_of(w)->ops;
    uint64_t began = uv_hrtime();
    redd_metric_add(redd__op_cell(ops, id, REDD__OP_DISPATCHED), 1);
    redd_metric_add(redd__op_cell(ops, id, REDD__OP_IN_FLIGHT), 1);
    int rc = dispatch(w, id, argv, began, out, call);
    if (rc != REDD_OP_PARKED)
        redd__op_count_end(ops, id, rc < 0, began);
    return rc;
}

void redd__op_count_end(redd__ops *ops, redd_op_id id, bool failed, uint64_t began)
{
    int64_t elapsed = (int64_t)(uv_hrtime() - began);
    redd_metric_add(redd__op_cell(ops, id, REDD__OP_IN_FLIGHT), -1);
    redd_metric_add(redd__op_cell(ops, id, REDD__OP_NANOSECONDS), elapsed);
    redd_metric_add(redd__op_cell(ops, id, failed ? REDD__OP_FAILED : REDD__OP_COMPLETED), 1);
}

int redd_op_call(redd_worker *w, redd_op_id id, const redd_value *argv, size_t argc,
                 redd_value *out, redd_op_call_id *call)
{
    const redd__ops *ops = &redd__op_host_of(w)->ops;
    *out = redd_value_undefined();
    if (id == 0 || id > ops->n)
        return REDD_EOP;
    if (!ops->slots[id - 1].op)
        return REDD_ESTATE;
    if (!accepts(ops->slots[id - 1].op, argv, argc))
        return REDD_EARGUMENT;
    if (ops->metrics)
        return dispatch_counted(w, id, argv, out, call);
    return dispatch(w, id, argv, 0, out, call);
}

int redd_op_metrics_get(const redd_worker *w, redd_op_id id, redd_op_metrics *out)
{
    const redd__ops *ops = &redd__op_host_of(w)->ops;
    if (id == 0 || id > ops->n)
        return REDD_EOP;
    memset(out, 0, sizeof(*out));
    if (ops->metrics)
        *out = (redd_op_metrics){
            .dispatched = redd_metric_value(redd__op_cell(ops, id, REDD__OP_DISPATCHED)),
            .completed = redd_metric_value(redd__op_cell(ops, id, REDD__OP_COMPLETED)),
            .failed = redd_metric_value(redd__op_cell(ops, id, REDD__OP_FAILED)),
            .in_flight = redd_metric_value(redd__op_cell(ops, id, REDD__OP_IN_FLIGHT)),
            .nanoseconds = redd_metric_value(redd__op_cell(ops, id, REDD__OP_NANOSECONDS)),
        };
    return 0;
}
