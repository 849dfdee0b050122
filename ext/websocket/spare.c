/* SPDX-License-Identifier: MIT */
#include "ext/websocket/spare.h"

#include <string.h>

/* Large blocks have sizes of powers of two, so that they fit the next message too. The size that
 * was asked for tells the real one. */
static size_t real_size(size_t size)
{
    if (size < REDD__WS_SPARE_MIN || size > SIZE_MAX / 2)
        return size;
    size_t real = REDD__WS_SPARE_MIN;
    while (real < size)
        real *= 2;
    return real;
}

static void *take(redd__ws_spare *s, size_t size)
{
    for (size_t i = s->n; i-- > 0;) {
        if (s->kept[i].size != size)
            continue;
        void *block = s->kept[i].block;
        s->kept[i] = s->kept[--s->n];
        s->bytes -= size;
        return block;
    }
    return redd_alloc(s->base, size);
}

static void give(redd__ws_spare *s, void *block, size_t size)
{
    if (size < REDD__WS_SPARE_MIN || s->n == REDD__WS_SPARE_BLOCKS ||
        size > REDD__WS_SPARE_BYTES - s->bytes) {
        redd_free(s->base, block, size);
        return;
    }
    s->kept[s->n].block = block;
    s->kept[s->n].size = size;
    s->n++;
    s->bytes += size;
}

static void *spare_resize(const redd_allocator *a, void *ptr, size_t old_size, size_t new_size)
{
    redd__ws_spare *s =
        (redd__ws_spare *)(uintptr_t)a; /* the hook is constant for its users only */
    size_t old_real = real_size(old_size), new_real = real_size(new_size);
    if (new_real < REDD__WS_SPARE_MIN && old_real < REDD__WS_SPARE_MIN)
        return s->base->resize(s->base, ptr, old_size, new_size);
    if (ptr && old_real == new_real)
        return ptr;
    void *block = new_size ? take(s, new_real) : NULL;
    if (new_size && !block)
        return NULL;
    if (ptr) {
        if (block)
            memcpy(block, ptr, old_size < new_size ? old_size : new_size);
        give(s, ptr, old_real);
    }
    return block;
}

void redd__ws_spare_init(redd__ws_spare *s, const redd_allocator *base)
{
    s->hook.resize = spare_resize;
    s->base = base;
    s->n = 0;
    s->bytes = 0;
}

void redd__ws_spare_release(redd__ws_spare *s)
{
    while (s->n > 0) {
        s->n--;
        redd_free(s->base, s->kept[s->n].block, s->kept[s->n].size);
    }
    s->bytes = 0;
}
