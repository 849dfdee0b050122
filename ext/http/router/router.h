/* SPDX-License-Identifier: MIT */
/** What a router is made of. */
#ifndef REDD_HTTP_ROUTER_ROUTER_H
#define REDD_HTTP_ROUTER_ROUTER_H

#include "ext/http/router/methods.h"
#include "ext/http/router/tree.h"

typedef struct redd__http_middleware redd__http_middleware;
struct redd__http_middleware {
    redd__http_middleware *next; /* in order of addition */
    redd_http_middleware_fn fn;
    void *user;
    size_t prefix_len;
    char prefix[]; /* without a slash at its end: "" stands before every path */
};

struct redd_http_router {
    const redd_allocator *alloc;
    redd__http_tree tree;
    redd__http_methods methods;
    uint64_t get, head, options; /* their bits */
    uint64_t routed;             /* methods that have routes */
    redd__http_middleware *first, **last;
    redd_http_handler_fn not_found; /* NULL: 404 */
    void *not_found_user;
};

#endif
