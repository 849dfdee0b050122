/* SPDX-License-Identifier: MIT */
#include "ext/http/coding/block.h"

#include <stdalign.h>
#include <stddef.h>

typedef struct header {
    alignas(max_align_t) size_t size; /* of header and block */
} header;

void *redd__http_block_new(void *allocator, size_t size)
{
    const redd_allocator *a = allocator;
    if (size > SIZE_MAX - sizeof(header))
        return NULL;
    header *h = redd_alloc(a, sizeof *h + size);
    if (!h)
        return NULL;
    h->size = sizeof *h + size;
    return h + 1;
}

void redd__http_block_free(void *allocator, void *block)
{
    const redd_allocator *a = allocator;
    if (!block)
        return;
    header *h = (header *)block - 1;
    redd_free(a, h, h->size);
}
