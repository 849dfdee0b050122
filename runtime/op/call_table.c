/* SPDX-License-Identifier: MIT */
#include "runtime/op/call.h"

#include <assert.h>
#include <uv.h>

enum { FIRST_BUCKETS = 64 };

/** Ids count up, so that their low bits spread them evenly. */
static redd__call **bucket(const redd__call_table *t, redd_op_call_id id)
{
    return &t->buckets[id & t->mask];
}

static int resize(redd__call_table *t, const redd_allocator *a, size_t size)
{
    redd__call **buckets = redd_alloc_zero(a, size * sizeof(*buckets));
    if (!buckets)
        return UV_ENOMEM;
    redd__call_table old = *t;
    t->buckets = buckets;
    t->mask = size - 1;
    for (size_t i = 0; old.buckets && i <= old.mask; i++)
        for (redd__call *c = old.buckets[i], *next; c; c = next) {
            next = c->next;
            redd__call **b = bucket(t, c->id);
            c->next = *b;
            *b = c;
        }
    redd__call_table_fini(&old, a);
    return 0;
}

int redd__call_table_reserve(redd__call_table *t, const redd_allocator *a)
{
    if (!t->buckets)
        return resize(t, a, FIRST_BUCKETS);
    if (t->count > t->mask)
        (void)resize(t, a, 2 * (t->mask + 1)); /* without memory the chains just grow longer */
    return 0;
}

void redd__call_table_add(redd__call_table *t, redd__call *c)
{
    redd__call **b = bucket(t, c->id);
    c->next = *b;
    *b = c;
    t->count++;
}

redd__call *redd__call_table_get(const redd__call_table *t, redd_op_call_id id)
{
    redd__call *c = t->buckets ? *bucket(t, id) : NULL;
    while (c && c->id != id)
        c = c->next;
    return c;
}

void redd__call_table_remove(redd__call_table *t, const redd__call *c)
{
    redd__call **at = bucket(t, c->id);
    while (*at != c) {
        assert(*at);
        at = &(*at)->next;
    }
    *at = c->next;
    t->count--;
}

void redd__call_table_fini(redd__call_table *t, const redd_allocator *a)
{
    redd_free(a, t->buckets, (t->mask + 1) * sizeof(*t->buckets));
    t->buckets = NULL;
}
