/* SPDX-License-Identifier: MIT */
#include "runtime/op/call.h"

#include "runtime/base/pool.h"
#include "runtime/op/host.h"

#include <assert.h>
#include <uv.h>

/** The call has its value, which the next batch takes along. */
static void end(redd__call *c, redd_value value)
{
    redd__ops *ops = c->ops;
    c->value = value;
    c->state = REDD__CALL_ENDED;
    redd__list_append(&ops->ended, &c->link);
    ops->n_ended++;
    if (ops->metrics)
        redd__op_count_end(ops, c->op, value.kind == REDD_ERROR, c->began);
}

static redd_poll call_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    redd__call *c = (redd__call *)f;
    if (c->state == REDD__CALL_FORGOTTEN)
        return REDD_READY;
    if (redd_future_poll(c->inner, waker, out) == REDD_PENDING)
        return REDD_PENDING;
    if (c->state == REDD__CALL_STARTING)
        return REDD_READY;
    redd_value value = *out;
    *out = redd_value_undefined();
    if (c->state == REDD__CALL_PARKED)
        end(c, value);
    else
        redd_value_drop(&value); /* cancelled from within its own poll */
    return REDD_READY;
}

static void call_drop(redd_future *f)
{
    redd__call *c = (redd__call *)f;
    redd_future_drop(c->inner); /* may cancel this very call */
    c->inner = NULL;
    if (c->state == REDD__CALL_PARKED) /* a forced stop: whoever waits for it must still learn */
        end(c, redd_value_error(UV_ECANCELED));
    else if (c->state != REDD__CALL_ENDED)
        redd__pool_put(&c->ops->calls, c);
}

static const redd_future_vt call_vt = {"op", call_poll, call_drop};

void redd__call_forget(redd__call *c)
{
    redd__ops *ops = c->ops;
    redd__call_table_remove(&ops->parked, c);
    redd_join_detach(c->join);
    c->state = REDD__CALL_FORGOTTEN;
    if (!c->inner)
        redd__pool_put(&ops->calls, c);
}

static int call_new(redd__ops *ops, redd_op_id op, redd_future *inner, redd__call **out)
{
    int rc = redd__call_table_reserve(&ops->parked, ops->alloc);
    if (rc < 0)
        return rc;
    redd__call *c = redd__pool_get(&ops->calls);
    if (!c)
        return UV_ENOMEM;
    c->future.vt = &call_vt;
    c->ops = ops;
    c->inner = inner;
    c->join = NULL;
    c->op = op;
    c->state = REDD__CALL_STARTING;
    redd__list_init(&c->link);
    *out = c;
    return 0;
}

int redd__call_start(redd__ops *ops, redd_op_id op, redd_future *inner, uint64_t began,
                     redd_value *out, redd_op_call_id *id)
{
    redd__call *c;
    int rc = call_new(ops, op, inner, &c);
    if (rc < 0) {
        redd_future_drop(inner);
        return rc;
    }
    c->began = began;
    rc = redd_spawn_now(ops->executor, &c->future, out, &c->join);
    if (rc < 0)
        call_drop(&c->future);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    c->state = REDD__CALL_PARKED;
    c->id = ++ops->last_id;
    redd__call_table_add(&ops->parked, c);
    if (id)
        *id = c->id;
    return REDD_OP_PARKED;
}

int redd_op_cancel(redd_worker *w, redd_op_call_id id)
{
    redd__ops *ops = &redd__op_host_of(w)->ops;
    redd__call *c = redd__call_table_get(&ops->parked, id);
    if (!c)
        return UV_ENOENT;
    if (c->state == REDD__CALL_ENDED) {
        redd__list_remove(&c->link);
        ops->n_ended--;
        redd_value_drop(&c->value);
        redd__call_forget(c);
        return 0;
    }
    if (ops->metrics)
        redd__op_count_end(ops, c->op, true, c->began);
    redd_join *join = c->join;
    c->join = NULL;
    redd__call_forget(c);
    redd_join_abort(join); /* may drop the call at once */
    redd_join_detach(join);
    return 0;
}
