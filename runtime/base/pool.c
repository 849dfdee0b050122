/* SPDX-License-Identifier: MIT */
#include "runtime/base/pool.h"

#include <assert.h>
#include <string.h>

void redd_pool_init(redd_pool *p, const redd_allocator *a, size_t object_size, size_t keep_max)
{
    assert(object_size >= sizeof(void *));
    memset(p, 0, sizeof(*p));
    p->alloc = a;
    p->object_size = object_size;
    p->keep_max = keep_max;
}

void redd_pool_fini(redd_pool *p)
{
    assert(p->live == 0);
    while (p->free_list) {
        void *object = p->free_list;
        REDD__UNPOISON(object, p->object_size);
        p->free_list = *(void **)object;
        redd_free(p->alloc, object, p->object_size);
    }
    p->kept = 0;
}

void *redd_pool_get(redd_pool *p)
{
    return redd__pool_get(p);
}

void redd_pool_put(redd_pool *p, void *object)
{
    redd__pool_put(p, object);
}
