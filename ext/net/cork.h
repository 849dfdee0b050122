/* SPDX-License-Identifier: MIT */
/** The buffer in which a worker gathers what one output sends in one batch. */
#ifndef REDD_NET_CORK_H
#define REDD_NET_CORK_H

#include <redd/output.h>

enum {
    REDD__CORK_SIZE = 64 * 1024,
    REDD__CHUNK_SIZE = 4 * 1024 /* an output's first memory of its own */
};

struct redd_cork {
    redd_output *owner; /* NULL: free; its own memory is empty as long as it has the cork */
    size_t used;        /* 0 without an owner */
    const redd_allocator *alloc;
    redd_pool chunks;
    char buffer[REDD__CORK_SIZE];
};

void redd__cork_init(struct redd_cork *c, const redd_allocator *alloc);
void redd__cork_fini(struct redd_cork *c);

#endif
