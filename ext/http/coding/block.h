/* SPDX-License-Identifier: MIT */
/** The redd allocator as compression libraries want it: they free blocks without their size. */
#ifndef REDD_HTTP_CODING_BLOCK_H
#define REDD_HTTP_CODING_BLOCK_H

#include <redd/alloc.h>

/** `allocator` is a const redd_allocator *. NULL: no memory. */
void *redd__http_block_new(void *allocator, size_t size);
/** NULL is allowed. */
void redd__http_block_free(void *allocator, void *block);

/** What the functions above take. */
static inline void *redd__http_block_opaque(const redd_allocator *a)
{
    return (void *)(uintptr_t)a;
}

#endif
