/* SPDX-License-Identifier: MIT */
/** An allocator for messages that keeps some large blocks at hand: a system allocator gives such
 * memory back and takes it anew for each message, page by page, which costs more than all else that
 * is done with it. */
#ifndef REDD_WEBSOCKET_SPARE_H
#define REDD_WEBSOCKET_SPARE_H

#include <redd/alloc.h>

#define REDD__WS_SPARE_BLOCKS 32
#define REDD__WS_SPARE_MIN    (128U << 10) /* smaller blocks are passed through */
#define REDD__WS_SPARE_BYTES  (16U << 20)  /* kept at most */

typedef struct redd__ws_spare {
    redd_allocator hook; /* first: what users of the allocator see */
    const redd_allocator *base;
    size_t n, bytes;
    struct {
        void *block;
        size_t size;
    } kept[REDD__WS_SPARE_BLOCKS];
} redd__ws_spare;

void redd__ws_spare_init(redd__ws_spare *s, const redd_allocator *base);
/** Gives back what is kept. */
void redd__ws_spare_release(redd__ws_spare *s);

#endif
