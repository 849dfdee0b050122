/* SPDX-License-Identifier: MIT */
/** Where memory comes from: an allocator hook with sized frees, a counting wrapper that can make
 * any allocation fail, and a pool of equal objects. */
#ifndef REDD_ALLOC_H
#define REDD_ALLOC_H

#include <redd/api.h>

REDD_BEGIN_DECLS

typedef struct redd_allocator redd_allocator;

/** Allocates (ptr NULL, old_size 0), resizes, or frees (new_size 0, returns NULL). On failure
 * returns NULL and leaves the old block as it was. Must be safe from any thread. */
typedef void *(*redd_resize_fn)(const redd_allocator *a, void *ptr, size_t old_size,
                                size_t new_size);

struct redd_allocator {
    redd_resize_fn resize;
};

/** malloc, realloc and free. Any thread. */
REDD_API const redd_allocator *redd_allocator_default(void);

/** Uninitialised memory, or NULL. Size 0 is a programming error. */
static inline void *redd_alloc(const redd_allocator *a, size_t size)
{
    return a->resize(a, NULL, 0, size);
}

/** Zeroed memory, or NULL. */
REDD_API void *redd_alloc_zero(const redd_allocator *a, size_t size);

/** Frees a block of exactly this size; NULL is allowed. */
static inline void redd_free(const redd_allocator *a, void *ptr, size_t size)
{
    if (ptr)
        (void)a->resize(a, ptr, size, 0);
}

/** A NUL-terminated copy (size len + 1), or NULL. */
REDD_API char *redd_alloc_string(const redd_allocator *a, const char *text, size_t len);

/* --- accounting and failure injection --- */

typedef struct redd_counting_allocator redd_counting_allocator;

typedef struct redd_allocator_stats {
    uint64_t bytes;       /* live now */
    uint64_t peak_bytes;  /* most that were ever live */
    uint64_t blocks;      /* live now */
    uint64_t allocations; /* allocations and growing resizes so far, failed ones included */
    uint64_t failures;
} redd_allocator_stats;

/** Wraps `base` (NULL: the default). Must outlive every block it gave out. */
REDD_API int redd_counting_allocator_new(const redd_allocator *base, redd_counting_allocator **out);
REDD_API void redd_counting_allocator_free(redd_counting_allocator *c);
/** The hook to hand out; valid as long as `c`. */
REDD_API const redd_allocator *redd_counting_allocator_hook(redd_counting_allocator *c);
/** Any thread; each number is exact, together they are a snapshot only when nothing runs. */
REDD_API void redd_counting_allocator_stats(const redd_counting_allocator *c,
                                            redd_allocator_stats *out);
/** Makes the n-th allocation from now (1 = the next) fail, and if `sticky` all after it. 0 switches
 *  injection off. Any thread. */
REDD_API void redd_counting_allocator_fail_at(redd_counting_allocator *c, uint64_t n, bool sticky);

/* --- pool --- */

/** Free list of equal objects: once warm, get and put touch no allocator. Caller's memory; the
 *  fields are private. */
typedef struct redd_pool {
    const redd_allocator *alloc;
    void *free_list;
    size_t object_size;
    size_t kept, keep_max;
    size_t live;
} redd_pool;

/** `object_size` >= sizeof(void *). Keeps at most `keep_max` free objects, frees the others. */
REDD_API void redd_pool_init(redd_pool *p, const redd_allocator *a, size_t object_size,
                             size_t keep_max);
/** Frees the kept objects. All objects must have been put back. */
REDD_API void redd_pool_fini(redd_pool *p);
/** An uninitialised object, or NULL. */
REDD_API void *redd_pool_get(redd_pool *p);
REDD_API void redd_pool_put(redd_pool *p, void *object);

REDD_END_DECLS

#endif
