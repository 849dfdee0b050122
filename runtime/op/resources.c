/* SPDX-License-Identifier: MIT */
#include "runtime/op/resources.h"

#include "runtime/op/host.h"

#include <assert.h>

static redd__slab *table(const redd_worker *w)
{
    return &redd__op_host_of(w)->resources.slab;
}

void redd__resources_init(redd__resources *t, const redd_allocator *a)
{
    redd__slab_init(&t->slab, a, REDD__SLAB_MAX);
}

/** `r` is out of the table already: its close may use the table as it likes. */
static void close_taken(redd_resource *r)
{
    if (r->vt->close)
        r->vt->close(r);
    redd_resource_unref(r);
}

void redd__resources_close_all(redd__resources *t)
{
    uint32_t rid = 0;
    while (redd__slab_live(&t->slab) > 0) {
        rid = redd__slab_next(&t->slab, rid); /* 0 at the end: once more, for what closing added */
        if (rid != 0)
            close_taken(redd__slab_take(&t->slab, rid));
    }
}

void redd__resources_fini(redd__resources *t)
{
    assert(redd__slab_live(&t->slab) == 0);
    redd__slab_fini(&t->slab);
}

int redd_resource_add(redd_worker *w, redd_resource *r, redd_rid *rid)
{
    return redd__slab_add(table(w), r, rid);
}

int redd_resource_get(redd_worker *w, redd_rid rid, const redd_resource_vt *type,
                      redd_resource **out)
{
    redd_resource *r = redd__slab_get(table(w), rid);
    if (!r || (type && r->vt != type))
        return REDD_ERESOURCE;
    *out = r;
    return 0;
}

int redd_resource_take(redd_worker *w, redd_rid rid, const redd_resource_vt *type,
                       redd_resource **out)
{
    int rc = redd_resource_get(w, rid, type, out);
    if (rc == 0)
        (void)redd__slab_take(table(w), rid);
    return rc;
}

int redd_resource_close(redd_worker *w, redd_rid rid)
{
    redd_resource *r = redd__slab_take(table(w), rid);
    if (!r)
        return REDD_ERESOURCE;
    close_taken(r);
    return 0;
}

size_t redd_resource_count(const redd_worker *w)
{
    return redd__slab_live(table(w));
}
