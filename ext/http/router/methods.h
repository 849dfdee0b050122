/* SPDX-License-Identifier: MIT */
/** The methods that a router's routes name, each with a bit. */
#ifndef REDD_HTTP_ROUTER_METHODS_H
#define REDD_HTTP_ROUTER_METHODS_H

#include <redd/slice.h>

#define REDD__HTTP_MAX_METHODS     64
#define REDD__HTTP_MAX_METHOD_NAME 32

/** What the value of an Allow field takes at most. */
#define REDD__HTTP_MAX_ALLOW (REDD__HTTP_MAX_METHODS * (REDD__HTTP_MAX_METHOD_NAME + 2))

typedef struct redd__http_method {
    uint8_t bit;
    uint8_t len;
    char name[REDD__HTTP_MAX_METHOD_NAME];
} redd__http_method;

/** Ordered by name; bits by age. */
typedef struct redd__http_methods {
    unsigned count;
    redd__http_method list[REDD__HTTP_MAX_METHODS];
} redd__http_methods;

/** The method's bit, or 0 for one that is not there. */
uint64_t redd__http_method_bit(const redd__http_methods *m, redd_slice name);
/** The same; a new one is added. 0: it is no token or too long, or there is no room for it. */
uint64_t redd__http_method_take(redd__http_methods *m, redd_slice name);
/** Writes the methods of these bits, "GET, HEAD"; `out` has room for REDD__HTTP_MAX_ALLOW. */
redd_slice redd__http_methods_write(const redd__http_methods *m, uint64_t bits, char *out);

#endif
