/* SPDX-License-Identifier: MIT */
#include <redd/alloc.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

static void *system_resize(const redd_allocator *a, void *ptr, size_t old_size, size_t new_size)
{
    (void)a;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

const redd_allocator *redd_allocator_default(void)
{
    static const redd_allocator allocator = {system_resize};
    return &allocator;
}

void *redd_alloc_zero(const redd_allocator *a, size_t size)
{
    void *p = redd_alloc(a, size);
    if (p)
        memset(p, 0, size);
    return p;
}

char *redd_alloc_string(const redd_allocator *a, const char *text, size_t len)
{
    char *copy = len < SIZE_MAX ? redd_alloc(a, len + 1) : NULL;
    if (!copy)
        return NULL;
    if (len > 0)
        memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

/* --- accounting and failure injection --- */

struct redd_counting_allocator {
    redd_allocator hook; /* first: a hook pointer is a pointer to the whole */
    const redd_allocator *base;
    atomic_uint_fast64_t bytes, peak_bytes, blocks, allocations, failures;
    atomic_uint_fast64_t fail_at; /* the value of `allocations` that fails; 0 = none */
    atomic_bool sticky;
};

static bool must_fail(redd_counting_allocator *c)
{
    uint64_t number = atomic_fetch_add(&c->allocations, 1) + 1;
    uint64_t at = atomic_load(&c->fail_at);
    return at != 0 && (number == at || (number > at && atomic_load(&c->sticky)));
}

static void account(redd_counting_allocator *c, size_t old_size, size_t new_size)
{
    if (old_size == 0)
        atomic_fetch_add(&c->blocks, 1);
    else if (new_size == 0)
        atomic_fetch_sub(&c->blocks, 1);
    /* Unsigned arithmetic wraps, so one addition also does for a shrinking block. */
    uint64_t change = (uint64_t)new_size - (uint64_t)old_size;
    uint64_t now = atomic_fetch_add(&c->bytes, change) + change;
    if (new_size <= old_size)
        return;
    uint64_t peak = atomic_load(&c->peak_bytes);
    while (now > peak && !atomic_compare_exchange_weak(&c->peak_bytes, &peak, now))
        ;
}

static void *counting_resize(const redd_allocator *a, void *ptr, size_t old_size, size_t new_size)
{
    redd_counting_allocator *c = (redd_counting_allocator *)a;
    if (new_size > old_size && must_fail(c)) {
        atomic_fetch_add(&c->failures, 1);
        return NULL;
    }
    void *p = c->base->resize(c->base, ptr, old_size, new_size);
    if (!p && new_size > 0) {
        atomic_fetch_add(&c->failures, 1);
        return NULL;
    }
    account(c, ptr ? old_size : 0, new_size);
    return p;
}

int redd_counting_allocator_new(const redd_allocator *base, redd_counting_allocator **out)
{
    if (!base)
        base = redd_allocator_default();
    redd_counting_allocator *c = redd_alloc_zero(base, sizeof(*c));
    if (!c)
        return UV_ENOMEM;
    c->hook.resize = counting_resize;
    c->base = base;
    *out = c;
    return 0;
}

void redd_counting_allocator_free(redd_counting_allocator *c)
{
    if (c)
        redd_free(c->base, c, sizeof(*c));
}

const redd_allocator *redd_counting_allocator_hook(redd_counting_allocator *c)
{
    return &c->hook;
}

void redd_counting_allocator_stats(const redd_counting_allocator *c, redd_allocator_stats *out)
{
    out->bytes = atomic_load(&c->bytes);
    out->peak_bytes = atomic_load(&c->peak_bytes);
    out->blocks = atomic_load(&c->blocks);
    out->allocations = atomic_load(&c->allocations);
    out->failures = atomic_load(&c->failures);
}

void redd_counting_allocator_fail_at(redd_counting_allocator *c, uint64_t n, bool sticky)
{
    atomic_store(&c->sticky, sticky);
    atomic_store(&c->fail_at, n == 0 ? 0 : atomic_load(&c->allocations) + n);
}
