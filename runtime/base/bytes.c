/* SPDX-License-Identifier: MIT */
#include <redd/bytes.h>

#include <assert.h>
#include <stdatomic.h>
#include <uv.h>

struct redd_bytes {
    atomic_size_t refs;
    const redd_allocator *alloc;
    size_t len;
    size_t cap; /* what was allocated, for the sized free after a truncation */
    char data[];
};

int redd_bytes_new(const redd_allocator *a, size_t len, redd_bytes **out)
{
    if (len > SIZE_MAX - sizeof(redd_bytes))
        return UV_ENOMEM;
    redd_bytes *b = redd_alloc(a, sizeof(*b) + len);
    if (!b)
        return UV_ENOMEM;
    atomic_init(&b->refs, 1);
    b->alloc = a;
    b->len = len;
    b->cap = len;
    *out = b;
    return 0;
}

int redd_bytes_copy(const redd_allocator *a, redd_slice s, redd_bytes **out)
{
    int rc = redd_bytes_new(a, s.len, out);
    if (rc == 0 && s.len > 0)
        memcpy((*out)->data, s.data, s.len);
    return rc;
}

redd_bytes *redd_bytes_ref(redd_bytes *b)
{
    atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
    return b;
}

void redd_bytes_unref(redd_bytes *b)
{
    if (b && atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) == 1)
        redd_free(b->alloc, b, sizeof(*b) + b->cap);
}

redd_slice redd_bytes_slice(const redd_bytes *b)
{
    return redd_slice_of(b->data, b->len);
}

char *redd_bytes_data(redd_bytes *b)
{
    assert(atomic_load_explicit(&b->refs, memory_order_relaxed) == 1);
    return b->data;
}

void redd_bytes_truncate(redd_bytes *b, size_t len)
{
    assert(atomic_load_explicit(&b->refs, memory_order_relaxed) == 1);
    assert(len <= b->len);
    b->len = len;
}
