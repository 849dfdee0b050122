/* SPDX-License-Identifier: MIT */
/** Which handler a request goes to, by method and path; middleware before it. */
#ifndef REDD_HTTP_ROUTER_H
#define REDD_HTTP_ROUTER_H

#include <redd/http.h>

REDD_BEGIN_DECLS

/**
 * A tree of routes. Build it on one thread, then share it: it is constant while it serves, and must
 * outlive the requests that went through it. Looking up allocates nothing.
 *
 * Patterns are segments: "/users/:id/posts" (one segment, not empty), "/files/" followed by "*rest"
 * (the rest of the path, slashes included, perhaps empty; last only), else literal. Segments are
 * compared percent-decoded, so that "/%61dmin" goes where "/admin" goes; an encoded slash never
 * separates, and an encoded ":" or "*" is a literal one. Nothing is normalised: "//", "/./" and
 * "/../" are segments like others. Of several patterns that match and have the method, a literal
 * segment goes before a parameter, a parameter before a rest.
 */
typedef struct redd_http_router redd_http_router;

REDD_API int redd_http_router_new(const redd_allocator *a, redd_http_router **out);
/** NULL is allowed. */
REDD_API void redd_http_router_free(redd_http_router *r);

typedef struct redd_http_route_options {
    uint32_t struct_size;
    uint64_t max_body; /* redd_http_set_max_body; 0: the server's */
} redd_http_route_options;

/** Adds a route. `method` "*": every one that has no route of its own. GET answers HEAD too, and
 *  OPTIONS is answered with 204 and Allow, unless they have routes. `options` may be NULL; strings
 *  are copied. UV_EINVAL: a method that is no token or longer than 32 bytes, or the 65th; a pattern
 *  without a leading slash, with an empty or doubled name, a bad escape, more than 64 segments, or
 *  a rest that is not last; REDD_EDUPLICATE: the same method and pattern, names of parameters
 *  aside; UV_ENOMEM. */
REDD_API int redd_http_route(redd_http_router *r, const char *method, const char *pattern,
                             const redd_http_route_options *options, redd_http_handler_fn handler,
                             void *user);

/** True: go on; false: it has answered, or will. */
typedef bool (*redd_http_middleware_fn)(redd_http_request *req, void *user);
/** Runs before whatever answers a request whose path is `prefix` or goes on behind it with a slash
 *  ("/": every request), 404 and 405 included; in order of addition. The prefix is whole literal
 *  segments, compared as those of routes; a slash at its end means nothing. The route was chosen
 *  before, so that redd_http_param tells. UV_EINVAL, UV_ENOMEM. */
REDD_API int redd_http_router_use(redd_http_router *r, const char *prefix,
                                  redd_http_middleware_fn middleware, void *user);
/** Answers what no route matches, instead of 404. */
REDD_API void redd_http_router_not_found(redd_http_router *r, redd_http_handler_fn handler,
                                         void *user);

/** A handler; `router` is its user. 404, 405 with Allow, 204 to OPTIONS (to "*" too), 400 for a bad
 *  escape in the path. */
REDD_API void redd_http_router_handler(redd_http_request *req, void *router);

/** The value of a parameter or rest of the route that the request took, as it was sent, not
 * decoded; data NULL when the pattern has none of this name. Valid as long as the request. */
REDD_API redd_slice redd_http_param(const redd_http_request *req, const char *name);
/** The pattern that the request took, for logs and metrics; "" for none. */
REDD_API const char *redd_http_route_pattern(const redd_http_request *req);

/** Decodes %XX, and "+" to a blank when `form`, into `buf` (it may be `s.data` itself), and stores
 *  the length. UV_EINVAL for a bad escape, REDD_ELIMIT when `size` does not suffice. */
REDD_API int redd_http_decode_percent(redd_slice s, bool form, char *buf, size_t size, size_t *len);
/** Walks a query or a urlencoded form: moves *rest past the pair that it stores, not decoded; data
 *  of a value without "=" is NULL, empty pairs are skipped. False when none is left. */
REDD_API bool redd_http_next_pair(redd_slice *rest, redd_slice *name, redd_slice *value);

REDD_END_DECLS

#endif
