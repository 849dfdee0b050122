/* SPDX-License-Identifier: MIT */
/** Table of pointers named by ids that go stale: 20 bits of index, 12 bits of generation. */
#ifndef REDD_BASE_SLAB_H
#define REDD_BASE_SLAB_H

#include <redd/alloc.h>

#define REDD__SLAB_INDEX_BITS 20U
/** Most entries; index 0 is never used, so that id 0 is never valid. */
#define REDD__SLAB_MAX ((1U << REDD__SLAB_INDEX_BITS) - 1U)

typedef struct redd__slab_entry redd__slab_entry;

/** Indices that are not in use, first to last; 0 = none. */
typedef struct redd__slab_queue {
    uint32_t head, tail;
} redd__slab_queue;

/** Caller's memory; holds no memory while no entry was ever added. Private fields. */
typedef struct redd__slab {
    const redd_allocator *alloc;
    redd__slab_entry *entries; /* [cap] */
    uint32_t cap;              /* entries allocated, the unused first one included */
    uint32_t next;             /* the lowest index that was never used */
    uint32_t max;              /* highest index */
    uint32_t live;
    redd__slab_queue free;    /* generations left */
    redd__slab_queue retired; /* generations used up: used again only when nothing else is left */
} redd__slab;

/** `max` entries at most, 1..REDD__SLAB_MAX. */
void redd__slab_init(redd__slab *s, const redd_allocator *a, uint32_t max);
/** Frees the table; what the entries point to is the caller's. */
void redd__slab_fini(redd__slab *s);
/** `value` must not be NULL. UV_ENOMEM, REDD_ELIMIT. */
int redd__slab_add(redd__slab *s, void *value, uint32_t *id);
/** The value, or NULL when the id is stale or was never given out. */
void *redd__slab_get(const redd__slab *s, uint32_t id);
/** As get, and takes the entry out: the id is stale from now on. */
void *redd__slab_take(redd__slab *s, uint32_t id);
/** Walks the live entries in the order of their indices: pass 0 first, then the id that came
 *  before; 0 when none is left. Entries may be added and taken during the walk. */
uint32_t redd__slab_next(const redd__slab *s, uint32_t id);
static inline uint32_t redd__slab_live(const redd__slab *s)
{
    return s->live;
}

#endif
