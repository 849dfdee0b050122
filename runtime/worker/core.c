/* SPDX-License-Identifier: MIT */
#include "runtime/worker/core.h"

#include "runtime/worker/metrics.h"

static int op_close(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                    redd_future **pending)
{
    (void)state;
    (void)out;
    (void)pending;
    return redd_resource_close(w, argv[0].as.rid);
}

static int op_resource_name(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                            redd_future **pending)
{
    (void)state;
    (void)pending;
    redd_resource *r;
    int rc = redd_resource_get(w, argv[0].as.rid, NULL, &r);
    redd_bytes *name;
    if (rc == 0)
        rc = redd_bytes_copy(redd_worker_allocator(w), redd_slice_str(r->vt->name), &name);
    if (rc == 0)
        *out = redd_value_string(name);
    return rc;
}

static int op_sleep(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                    redd_future **pending)
{
    (void)state;
    (void)out;
    return redd_sleep_new(redd_worker_timers(w), argv[0].as.u32, pending);
}

static const redd_op ops[] = {
    {sizeof(redd_op), REDD_OP_SYNC, 1, "op_close", op_close, {{"rid", REDD_ACCEPT(REDD_RESOURCE)}}},
    {sizeof(redd_op),
     REDD_OP_SYNC | REDD_OP_FAST,
     1,
     "op_resource_name",
     op_resource_name,
     {{"rid", REDD_ACCEPT(REDD_RESOURCE)}}},
    {sizeof(redd_op),
     REDD_OP_ASYNC,
     1,
     "op_sleep",
     op_sleep,
     {{"milliseconds", REDD_ACCEPT(REDD_U32)}}},
};

const redd_extension redd__core_extension = {
    REDD_EXTENSION_HEAD,
    .name = "core",
    .version = REDD_VERSION,
    .ops = ops,
    .n_ops = sizeof(ops) / sizeof(ops[0]),
    .metrics = redd__own_metrics,
    .n_metrics = REDD__OWN_N_METRICS,
};
