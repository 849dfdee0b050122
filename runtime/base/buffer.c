/* SPDX-License-Identifier: MIT */
#include <redd/buffer.h>
#include <redd/error.h>

#include <assert.h>
#include <uv.h>

enum { FIRST_CAPACITY = 256 };

void redd_buffer_init(redd_buffer *b, const redd_allocator *a, size_t max)
{
    b->data = NULL;
    b->len = 0;
    b->cap = 0;
    b->max = max;
    b->alloc = a;
}

void redd_buffer_release(redd_buffer *b)
{
    redd_free(b->alloc, b->data, b->cap);
    b->data = NULL;
    b->len = 0;
    b->cap = 0;
}

/** At least `needed` <= max, doubled where the maximum lets it. */
static size_t next_capacity(const redd_buffer *b, size_t needed)
{
    size_t cap = b->cap > b->max / 2 ? b->max : b->cap * 2;
    if (cap < FIRST_CAPACITY)
        cap = FIRST_CAPACITY;
    if (cap < needed)
        cap = needed;
    return cap < b->max ? cap : b->max;
}

int redd_buffer_reserve(redd_buffer *b, size_t extra)
{
    if (extra <= b->cap - b->len)
        return 0;
    if (b->len > b->max || extra > b->max - b->len)
        return REDD_ELIMIT;
    size_t cap = next_capacity(b, b->len + extra);
    char *data = b->alloc->resize(b->alloc, b->data, b->cap, cap);
    if (!data)
        return UV_ENOMEM;
    b->data = data;
    b->cap = cap;
    return 0;
}

int redd_buffer_append(redd_buffer *b, const void *data, size_t len)
{
    if (len == 0)
        return 0;
    int rc = redd_buffer_reserve(b, len);
    if (rc < 0)
        return rc;
    memcpy(b->data + b->len, data, len);
    b->len += len;
    return 0;
}

void redd_buffer_consume(redd_buffer *b, size_t n)
{
    assert(n <= b->len);
    if (n == 0)
        return;
    b->len -= n;
    if (b->len > 0)
        memmove(b->data, b->data + n, b->len);
}
