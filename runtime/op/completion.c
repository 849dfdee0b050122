/* SPDX-License-Identifier: MIT */
/** How results of parked calls reach the host: gathered in a list, handed over as arrays. */
#include "runtime/op/call.h"
#include "runtime/op/host.h"

#include <uv.h>

enum { BATCH_KEPT = 1024 };

static const size_t entry_size = sizeof(redd_value) + sizeof(redd_op_call_id);

int redd__batch_resize(redd__batch *b, const redd_allocator *a, size_t cap)
{
    redd_value *values = redd_alloc(a, cap * entry_size);
    if (!values)
        return UV_ENOMEM;
    redd__batch_fini(b, a);
    b->values = values;
    b->ids = (redd_op_call_id *)(void *)(values + cap);
    b->cap = cap;
    return 0;
}

void redd__batch_fini(redd__batch *b, const redd_allocator *a)
{
    redd_free(a, b->values, b->cap * entry_size);
}

/** Moves results from the list to the arrays; their calls are gone then. */
static size_t gather(redd__ops *ops, redd__list *from)
{
    size_t n = 0;
    redd__list *link;
    while (n < ops->batch.cap && (link = redd__list_pop(from))) {
        redd__call *c = REDD__LIST_ITEM(link, redd__call, link);
        ops->batch.values[n] = c->value;
        ops->batch.ids[n++] = c->id;
        redd__call_forget(c);
    }
    ops->n_ended -= n;
    return n;
}

static void hand_over(redd_worker *w, redd__ops *ops, size_t n)
{
    if (ops->on_completion)
        ops->on_completion(w, ops->batch.ids, ops->batch.values, n, ops->user);
    else
        for (size_t i = 0; i < n; i++)
            redd_value_drop(&ops->batch.values[i]);
}

void redd__ops_deliver(redd_worker *w)
{
    redd__ops *ops = &redd__op_host_of(w)->ops;
    if (ops->n_ended == 0 || ops->delivering)
        return;
    ops->delivering = true;
    if (ops->batch.cap < ops->n_ended)
        (void)redd__batch_resize(&ops->batch, ops->alloc, 2 * ops->n_ended);
    redd__list ended; /* calls that end meanwhile belong to the next batch */
    redd__list_init(&ended);
    redd__list_splice(&ended, &ops->ended);
    size_t n;
    while ((n = gather(ops, &ended)) > 0)
        hand_over(w, ops, n);
    if (ops->batch.cap > BATCH_KEPT)
        (void)redd__batch_resize(&ops->batch, ops->alloc, BATCH_KEPT);
    ops->delivering = false;
}

void redd_op_on_completion(redd_worker *w, redd_op_completion_fn fn, void *user)
{
    redd__ops *ops = &redd__op_host_of(w)->ops;
    ops->on_completion = fn;
    ops->user = user;
}
