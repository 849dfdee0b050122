/* SPDX-License-Identifier: MIT */
/** Every op of a runtime: name -> id, the same in all its workers. */
#ifndef REDD_OP_REGISTRY_H
#define REDD_OP_REGISTRY_H

#include <redd/extension.h>

typedef struct redd__registry_entry {
    const redd_op *op;
    const redd_extension *extension;
} redd__registry_entry;

/** Caller's memory; zeroed, it is empty. Constant once built, so any thread may read it. */
typedef struct redd__registry {
    const redd_allocator *alloc;
    redd__registry_entry *entries; /* [count], by id - 1 */
    size_t count;
    redd_op_id *index; /* [mask + 1], open addressing by the name's hash; 0 = empty */
    size_t mask;       /* at least twice as many places as entries, so that a search ends */
} redd__registry;

/** A redd_runtime begins with its registry. */
static inline const redd__registry *redd__registry_of(const redd_runtime *rt)
{
    return (const redd__registry *)(const void *)rt;
}

/** Gives the ops their ids, in the order of the extensions. Names must be unique. REDD_ELIMIT,
 *  UV_ENOMEM. */
int redd__registry_build(redd__registry *r, const redd_allocator *a,
                         const redd_extension *const *extensions, size_t n);
void redd__registry_fini(redd__registry *r);

#endif
