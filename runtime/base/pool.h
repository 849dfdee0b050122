/* SPDX-License-Identifier: MIT */
/** The inline fast path of redd_pool, for the units whose hot paths live on it. */
#ifndef REDD_BASE_POOL_H
#define REDD_BASE_POOL_H

#include <redd/alloc.h>

/* Under AddressSanitizer a free object is poisoned, so that its use is seen although the memory
 * was not given back to the allocator. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REDD_POOL_POISON 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define REDD_POOL_POISON 1
#endif

#ifdef REDD_POOL_POISON
#include <sanitizer/asan_interface.h>
#define REDD__POISON(object, size)   ASAN_POISON_MEMORY_REGION(object, size)
#define REDD__UNPOISON(object, size) ASAN_UNPOISON_MEMORY_REGION(object, size)
#else
#define REDD__POISON(object, size)   ((void)0)
#define REDD__UNPOISON(object, size) ((void)0)
#endif

/** As redd_pool_get. */
static inline void *redd__pool_get(redd_pool *p)
{
    void *object = p->free_list;
    if (object) {
        REDD__UNPOISON(object, p->object_size);
        p->free_list = *(void **)object;
        p->kept--;
    } else {
        object = redd_alloc(p->alloc, p->object_size);
        if (!object)
            return NULL;
    }
    p->live++;
    return object;
}

/** As redd_pool_put. */
static inline void redd__pool_put(redd_pool *p, void *object)
{
    p->live--;
    if (p->kept >= p->keep_max) {
        redd_free(p->alloc, object, p->object_size);
        return;
    }
    *(void **)object = p->free_list;
    p->free_list = object;
    p->kept++;
    REDD__POISON(object, p->object_size);
}

#endif
