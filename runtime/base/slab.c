/* SPDX-License-Identifier: MIT */
#include "runtime/base/slab.h"

#include <redd/error.h>

#include <assert.h>
#include <string.h>
#include <uv.h>

enum { FIRST_CAPACITY = 16, GENERATIONS = 1 << (32 - REDD__SLAB_INDEX_BITS) };

struct redd__slab_entry {
    void *value;         /* NULL while not in use */
    uint32_t generation; /* of the present, or else of the next use */
    uint32_t next;       /* in its queue while not in use */
};

static uint32_t id_index(uint32_t id)
{
    return id & REDD__SLAB_MAX;
}

static uint32_t make_id(const redd__slab *s, uint32_t index)
{
    return s->entries[index].generation << REDD__SLAB_INDEX_BITS | index;
}

void redd__slab_init(redd__slab *s, const redd_allocator *a, uint32_t max)
{
    assert(max > 0 && max <= REDD__SLAB_MAX);
    memset(s, 0, sizeof(*s));
    s->alloc = a;
    s->next = 1;
    s->max = max;
}

void redd__slab_fini(redd__slab *s)
{
    redd_free(s->alloc, s->entries, s->cap * sizeof(*s->entries));
    s->entries = NULL;
    s->cap = 0;
    s->live = 0;
}

static void enqueue(redd__slab *s, redd__slab_queue *q, uint32_t index)
{
    s->entries[index].next = 0;
    if (q->tail)
        s->entries[q->tail].next = index;
    else
        q->head = index;
    q->tail = index;
}

static uint32_t dequeue(redd__slab *s, redd__slab_queue *q)
{
    uint32_t index = q->head;
    if (index) {
        q->head = s->entries[index].next;
        if (!q->head)
            q->tail = 0;
    }
    return index;
}

static int grow(redd__slab *s)
{
    uint32_t cap = s->cap ? s->cap * 2 : FIRST_CAPACITY;
    if (cap > s->max + 1)
        cap = s->max + 1;
    size_t old_size = s->cap * sizeof(*s->entries);
    size_t new_size = cap * sizeof(*s->entries);
    redd__slab_entry *entries = s->alloc->resize(s->alloc, s->entries, old_size, new_size);
    if (!entries)
        return UV_ENOMEM;
    memset((char *)entries + old_size, 0, new_size - old_size);
    s->entries = entries;
    s->cap = cap;
    return 0;
}

/** A free index in `*index`. Retired ones come last and oldest first: no stale id becomes valid
 * again while any other index has a generation left. */
static int find_index(redd__slab *s, uint32_t *index)
{
    *index = dequeue(s, &s->free);
    if (*index)
        return 0;
    if (s->next <= s->max) {
        int rc = s->next < s->cap ? 0 : grow(s);
        if (rc == 0)
            *index = s->next++;
        return rc;
    }
    *index = dequeue(s, &s->retired);
    return *index ? 0 : REDD_ELIMIT;
}

int redd__slab_add(redd__slab *s, void *value, uint32_t *id)
{
    assert(value);
    uint32_t index;
    int rc = find_index(s, &index);
    if (rc < 0)
        return rc;
    s->entries[index].value = value;
    s->live++;
    *id = make_id(s, index);
    return 0;
}

void *redd__slab_get(const redd__slab *s, uint32_t id)
{
    uint32_t index = id_index(id);
    if (index == 0 || index >= s->next || make_id(s, index) != id)
        return NULL;
    return s->entries[index].value;
}

void *redd__slab_take(redd__slab *s, uint32_t id)
{
    void *value = redd__slab_get(s, id);
    if (!value)
        return NULL;
    uint32_t index = id_index(id);
    redd__slab_entry *e = &s->entries[index];
    e->value = NULL;
    e->generation = (e->generation + 1) % GENERATIONS;
    enqueue(s, e->generation ? &s->free : &s->retired, index);
    s->live--;
    return value;
}

uint32_t redd__slab_next(const redd__slab *s, uint32_t id)
{
    for (uint32_t index = id_index(id) + 1; index < s->next; index++)
        if (s->entries[index].value)
            return make_id(s, index);
    return 0;
}
