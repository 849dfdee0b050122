/* SPDX-License-Identifier: MIT */
/** Resources: objects that guests name by id. */
#ifndef REDD_RESOURCE_H
#define REDD_RESOURCE_H

#include <redd/value.h>

REDD_BEGIN_DECLS

typedef struct redd_resource redd_resource;

/** One constant per type; its address is the type's identity. */
typedef struct redd_resource_vt {
    const char *name;
    /** The id was closed: ends what is in work. Called once, outside the table, while the table's
     *  reference is still held. May be NULL. */
    void (*close)(redd_resource *r);
    /** The last reference is gone. */
    void (*free)(redd_resource *r);
} redd_resource_vt;

/** First member of a concrete resource. Counted, not atomically. */
struct redd_resource {
    const redd_resource_vt *vt;
    uint32_t refs;
};

/** Starts with one reference, the caller's. */
static inline void redd_resource_init(redd_resource *r, const redd_resource_vt *vt)
{
    r->vt = vt;
    r->refs = 1;
}
static inline redd_resource *redd_resource_ref(redd_resource *r)
{
    r->refs++;
    return r;
}
static inline void redd_resource_unref(redd_resource *r)
{
    if (r && --r->refs == 0)
        r->vt->free(r);
}

/** Takes the caller's reference on success. UV_ENOMEM; REDD_ELIMIT at 2^20 - 1 entries. */
REDD_API int redd_resource_add(redd_worker *w, redd_resource *r, redd_rid *rid);
/** Borrowed until the id is closed; `type` NULL accepts any. REDD_ERESOURCE. */
REDD_API int redd_resource_get(redd_worker *w, redd_rid rid, const redd_resource_vt *type,
                               redd_resource **out);
/** Takes it out of the table without closing; the reference is the caller's. REDD_ERESOURCE. */
REDD_API int redd_resource_take(redd_worker *w, redd_rid rid, const redd_resource_vt *type,
                                redd_resource **out);
/** Takes it out, then calls its close, then drops the table's reference. REDD_ERESOURCE. */
REDD_API int redd_resource_close(redd_worker *w, redd_rid rid);
REDD_API size_t redd_resource_count(const redd_worker *w);

REDD_END_DECLS

#endif
