/* SPDX-License-Identifier: MIT */
/* Building a router. */
#include "ext/http/router/router.h"

#include "ext/http/router/path.h"

#include <uv.h>

int redd_http_router_new(const redd_allocator *a, redd_http_router **out)
{
    redd_http_router *r = redd_alloc_zero(a, sizeof *r);
    if (!r)
        return UV_ENOMEM;
    r->alloc = a;
    r->last = &r->first;
    r->get = redd__http_method_take(&r->methods, redd_slice_str("GET"));
    r->head = redd__http_method_take(&r->methods, redd_slice_str("HEAD"));
    r->options = redd__http_method_take(&r->methods, redd_slice_str("OPTIONS"));
    if (redd__http_tree_init(&r->tree, a)) {
        redd_free(a, r, sizeof *r);
        return UV_ENOMEM;
    }
    *out = r;
    return 0;
}

static size_t middleware_size(size_t prefix_len)
{
    return sizeof(redd__http_middleware) + prefix_len;
}

void redd_http_router_free(redd_http_router *r)
{
    redd__http_middleware *next;
    if (!r)
        return;
    for (redd__http_middleware *m = r->first; m; m = next) {
        next = m->next;
        redd_free(r->alloc, m, middleware_size(m->prefix_len));
    }
    redd__http_tree_fini(&r->tree);
    redd_free(r->alloc, r, sizeof *r);
}

static redd__http_route *route_new(const redd_allocator *a, redd_slice pattern)
{
    redd__http_route *route = redd_alloc_zero(a, redd__http_route_size(pattern.len));
    if (!route)
        return NULL;
    route->pattern_len = pattern.len;
    memcpy(route->pattern, pattern.data, pattern.len);
    return route;
}

int redd_http_route(redd_http_router *r, const char *method, const char *pattern,
                    const redd_http_route_options *options, redd_http_handler_fn handler,
                    void *user)
{
    redd_slice name = redd_slice_str(method), text = redd_slice_str(pattern);
    bool any = redd_slice_equal(name, redd_slice_str("*"));
    if (!pattern || !handler || (options && options->struct_size != sizeof *options))
        return UV_EINVAL;
    int rc = redd__http_pattern_check(text);
    if (rc)
        return rc;
    uint64_t bit = any ? 0 : redd__http_method_take(&r->methods, name);
    if (!any && !bit)
        return UV_EINVAL;
    redd__http_route *route = route_new(r->alloc, text);
    if (!route)
        return UV_ENOMEM;
    route->method = bit;
    route->handler = handler;
    route->user = user;
    route->max_body = options ? options->max_body : 0;
    rc = redd__http_tree_add(&r->tree, route);
    if (rc)
        redd_free(r->alloc, route, redd__http_route_size(text.len));
    else
        r->routed |= bit;
    return rc;
}

/* Literal segments only. */
static bool is_prefix(redd_slice prefix)
{
    const char *p = prefix.data, *end = p + prefix.len;
    if (prefix.len == 0 || *p != '/' || !redd__http_escapes_are_valid(prefix))
        return false;
    while (p < end) {
        redd_slice segment = redd__http_segment(p, end);
        if (redd__http_is_parameter(segment) || redd__http_is_rest(segment))
            return false;
        p = segment.data + segment.len;
    }
    return true;
}

int redd_http_router_use(redd_http_router *r, const char *prefix,
                         redd_http_middleware_fn middleware, void *user)
{
    redd_slice text = redd_slice_str(prefix);
    if (!middleware || !is_prefix(text))
        return UV_EINVAL;
    if (text.data[text.len - 1] == '/')
        text.len--;
    redd__http_middleware *m = redd_alloc_zero(r->alloc, middleware_size(text.len));
    if (!m)
        return UV_ENOMEM;
    m->fn = middleware;
    m->user = user;
    m->prefix_len = text.len;
    memcpy(m->prefix, text.data, text.len);
    *r->last = m;
    r->last = &m->next;
    return 0;
}

void redd_http_router_not_found(redd_http_router *r, redd_http_handler_fn handler, void *user)
{
    r->not_found = handler;
    r->not_found_user = user;
}
