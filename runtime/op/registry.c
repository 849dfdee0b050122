/* SPDX-License-Identifier: MIT */
#include "runtime/op/registry.h"

#include <assert.h>
#include <string.h>
#include <uv.h>

static size_t hash(const char *name)
{
    uint32_t h = 2166136261U; /* FNV-1a */
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619U;
    return h;
}

/** The place of `name`, or the empty one where it belongs. */
static size_t place(const redd__registry *r, const char *name)
{
    size_t at = hash(name) & r->mask;
    while (r->index[at] && strcmp(r->entries[r->index[at] - 1].op->name, name) != 0)
        at = (at + 1) & r->mask;
    return at;
}

static int reserve(redd__registry *r, size_t count)
{
    size_t places = 16;
    while (places < 2 * count)
        places *= 2;
    r->entries = redd_alloc_zero(r->alloc, (count + 1) * sizeof(*r->entries));
    r->index = redd_alloc_zero(r->alloc, places * sizeof(*r->index));
    r->mask = places - 1;
    r->count = count;
    if (r->entries && r->index)
        return 0;
    redd__registry_fini(r);
    return UV_ENOMEM;
}

int redd__registry_build(redd__registry *r, const redd_allocator *a,
                         const redd_extension *const *extensions, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += extensions[i]->n_ops;
    if (count > UINT16_MAX)
        return REDD_ELIMIT;
    memset(r, 0, sizeof(*r));
    r->alloc = a;
    int rc = reserve(r, count);
    if (rc < 0)
        return rc;
    redd_op_id id = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < extensions[i]->n_ops; k++) {
            const redd_op *op = &extensions[i]->ops[k];
            size_t at = place(r, op->name);
            assert(r->index[at] == 0);
            r->entries[id] = (redd__registry_entry){op, extensions[i]};
            r->index[at] = ++id;
        }
    return 0;
}

void redd__registry_fini(redd__registry *r)
{
    redd_free(r->alloc, r->entries, (r->count + 1) * sizeof(*r->entries));
    redd_free(r->alloc, r->index, (r->mask + 1) * sizeof(*r->index));
    memset(r, 0, sizeof(*r));
}

redd_op_id redd_op_find(const redd_runtime *rt, const char *name)
{
    const redd__registry *r = redd__registry_of(rt);
    return r->count ? r->index[place(r, name)] : 0;
}

size_t redd_op_count(const redd_runtime *rt)
{
    return redd__registry_of(rt)->count;
}

const redd_op *redd_op_info(const redd_runtime *rt, redd_op_id id, const char **extension)
{
    const redd__registry *r = redd__registry_of(rt);
    if (id == 0 || id > r->count)
        return NULL;
    if (extension)
        *extension = r->entries[id - 1].extension->name;
    return r->entries[id - 1].op;
}
