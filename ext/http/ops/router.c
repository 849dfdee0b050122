/* SPDX-License-Identifier: MIT */
/* A router whose routes are numbers of the guest's own. */
#include "ext/http/ops/ops.h"
#include "ext/http/ops/request.h"

#include "runtime/base/list.h"

#include <redd/http_router.h>

#include <uv.h>

typedef struct router_resource {
    redd_resource resource;
    const redd_allocator *alloc;
    redd_http_router *router;
    redd__list routes;
    const struct route *taken; /* by the match in work; NULL: the router has answered */
} router_resource;

typedef struct route {
    redd__list link;
    router_resource *owner;
    uint32_t number;
} route;

static router_resource *of_resource(redd_resource *r)
{
    return REDD__LIST_ITEM(r, router_resource, resource);
}

static void router_free(redd_resource *resource)
{
    router_resource *r = of_resource(resource);
    redd_http_router_free(r->router);
    while (!redd__list_empty(&r->routes)) {
        route *t = REDD__LIST_ITEM(r->routes.next, route, link);
        redd__list_remove(&t->link);
        redd_free(r->alloc, t, sizeof *t);
    }
    redd_free(r->alloc, r, sizeof *r);
}

static const redd_resource_vt router_vt = {"httpRouter", NULL, router_free};

static int get_router(redd_worker *w, const redd_value *rid, router_resource **out)
{
    redd_resource *r = NULL;
    int rc = redd_resource_get(w, rid->as.rid, &router_vt, &r);
    *out = rc ? NULL : of_resource(r);
    return rc;
}

REDD__HTTP_OP(router_new)
{
    const redd_allocator *a = redd_worker_allocator(w);
    redd_rid rid;
    (void)state, (void)argv, (void)pending;
    router_resource *r = redd_alloc_zero(a, sizeof *r);
    if (!r)
        return UV_ENOMEM;
    redd_resource_init(&r->resource, &router_vt);
    r->alloc = a;
    redd__list_init(&r->routes);
    int rc = redd_http_router_new(a, &r->router);
    if (rc == 0)
        rc = redd_resource_add(w, &r->resource, &rid);
    if (rc)
        redd_resource_unref(&r->resource);
    else
        *out = redd_value_resource(rid);
    return rc;
}

static void on_taken(redd_http_request *req, void *user)
{
    const route *t = user;
    (void)req;
    t->owner->taken = t;
}

REDD__HTTP_OP(router_add)
{
    router_resource *r;
    char method[64], pattern[2048];
    (void)state, (void)out, (void)pending;
    int rc = get_router(w, &argv[0], &r);
    if (rc || (rc = redd__http_terminated(&argv[1], method, sizeof method)) ||
        (rc = redd__http_terminated(&argv[2], pattern, sizeof pattern)))
        return rc;
    route *t = redd_alloc(r->alloc, sizeof *t);
    if (!t)
        return UV_ENOMEM;
    t->owner = r;
    t->number = argv[3].as.u32;
    rc = redd_http_route(r->router, method, pattern, NULL, on_taken, t);
    if (rc)
        redd_free(r->alloc, t, sizeof *t);
    else
        redd__list_append(&r->routes, &t->link);
    return rc;
}

/* The number of the route; null when the router has answered (404, 405, OPTIONS). */
REDD__HTTP_OP(router_match)
{
    router_resource *r;
    redd__http_guest_request *q;
    (void)state, (void)pending;
    int rc = get_router(w, &argv[0], &r);
    if (rc == 0)
        rc = redd__http_guest_get(w, &argv[1], &q);
    if (rc)
        return rc;
    redd_resource_unref(q->router);
    q->router = redd_resource_ref(&r->resource);
    r->taken = NULL;
    redd_http_router_handler(q->req, r->router);
    *out = r->taken ? redd_value_u32(r->taken->number) : redd_value_null();
    return 0;
}

REDD__HTTP_OP(param)
{
    redd__http_guest_request *q;
    char name[256];
    (void)state, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc == 0)
        rc = redd__http_terminated(&argv[1], name, sizeof name);
    return rc ? rc : redd__http_give_bytes(q->alloc, redd_http_param(q->req, name), out);
}
