/* SPDX-License-Identifier: MIT */
/* From a request to what answers it. */
#include "ext/http/request.h"
#include "ext/http/router/path.h"
#include "ext/http/router/router.h"

/* The path is the prefix, or goes on behind it with a slash; both have valid escapes. A slash must
 * meet a slash: an encoded one is a byte of a segment. */
static bool begins_with(redd_slice path, redd_slice prefix)
{
    const char *p = path.data, *end = p + path.len;
    const char *q = prefix.data, *prefix_end = q + prefix.len;
    if (prefix.len == 0)
        return true;
    while (q < prefix_end)
        if (p == end || (*p == '/') != (*q == '/') ||
            redd__http_next_byte(&p) != redd__http_next_byte(&q))
            return false;
    return p == end || *p == '/';
}

/* Returns false when one of them answers. */
static bool run_middleware(const redd_http_router *r, redd_http_request *req, redd_slice path)
{
    for (const redd__http_middleware *m = r->first; m; m = m->next)
        if (begins_with(path, redd_slice_of(m->prefix, m->prefix_len)) && !m->fn(req, m->user))
            return false;
    return true;
}

/* RFC 9110 15.5.6 and 9.3.7. */
static void tell_methods(const redd_http_router *r, redd_http_request *req, uint64_t methods,
                         bool asked)
{
    char allow[REDD__HTTP_MAX_ALLOW];
    if (methods & r->get)
        methods |= r->head;
    const redd_http_field fields[] = {
        {REDD_SLICE("Allow"), redd__http_methods_write(&r->methods, methods | r->options, allow)},
        {REDD_SLICE("Content-Type"), REDD_SLICE("text/plain; charset=utf-8")},
    };
    if (asked)
        (void)redd_http_respond(req, 204, fields, 1, redd_slice_of(NULL, 0));
    else
        (void)redd_http_respond(req, 405, fields, 2, redd_slice_str("Method Not Allowed\n"));
}

static void answer_not_found(const redd_http_router *r, redd_http_request *req)
{
    if (r->not_found)
        r->not_found(req, r->not_found_user);
    else
        (void)redd_http_respond_text(req, 404, "Not Found\n");
}

void redd_http_router_handler(redd_http_request *req, void *router)
{
    const redd_http_router *r = router;
    redd_slice path = redd_http_path(req);
    redd__http_search s = {
        .end = path.data + path.len,
        .escaped = memchr(path.data, '%', path.len) != NULL,
        .method = redd__http_method_bit(&r->methods, redd_http_method(req)),
    };
    if (s.escaped && !redd__http_escapes_are_valid(path)) {
        (void)redd_http_respond_text(req, 400, "Bad Request\n");
        return;
    }
    s.instead = s.method == r->head ? r->get : 0;
    const redd__http_route *route = NULL;
    if (path.data[0] == '/')
        route = redd__http_tree_find(&r->tree, path.data, &s);
    else /* "*": every path */
        s.allowed = r->routed | r->options;
    req->route = route;
    if (route && route->max_body > 0)
        (void)redd_http_set_max_body(req, route->max_body);
    if (!run_middleware(r, req, path))
        return;
    if (route)
        route->handler(req, route->user);
    else if (s.allowed)
        tell_methods(r, req, s.allowed, s.method == r->options);
    else
        answer_not_found(r, req);
}

redd_slice redd_http_param(const redd_http_request *req, const char *name)
{
    const redd__http_route *route = req->route;
    redd_slice path = redd_http_path(req), wanted = redd_slice_str(name);
    if (!route)
        return redd_slice_of(NULL, 0);
    const char *p = route->pattern, *end = p + route->pattern_len;
    const char *at = path.data, *path_end = at + path.len;
    while (p < end && at < path_end) {
        redd_slice segment = redd__http_segment(p, end), value = redd__http_segment(at, path_end);
        bool rest = redd__http_is_rest(segment);
        if ((rest || redd__http_is_parameter(segment)) &&
            redd_slice_equal(redd__http_parameter_name(segment), wanted))
            return rest ? redd_slice_of(at + 1, (size_t)(path_end - at - 1)) : value;
        p = segment.data + segment.len;
        at = value.data + value.len;
    }
    return redd_slice_of(NULL, 0);
}

const char *redd_http_route_pattern(const redd_http_request *req)
{
    return req->route ? req->route->pattern : "";
}
