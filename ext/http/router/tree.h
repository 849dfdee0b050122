/* SPDX-License-Identifier: MIT */
/** The tree of patterns: one node for each different beginning, one level for each segment. */
#ifndef REDD_HTTP_ROUTER_TREE_H
#define REDD_HTTP_ROUTER_TREE_H

#include <redd/http_router.h>

/** Levels of the tree: a lookup goes down by recursion. */
#define REDD__HTTP_MAX_SEGMENTS 64

typedef struct redd__http_node redd__http_node;
typedef struct redd__http_route redd__http_route;

struct redd__http_route {
    redd__http_route *next; /* of the leaf */
    uint64_t method;        /* one bit; 0: every method */
    redd_http_handler_fn handler;
    void *user;
    uint64_t max_body;
    size_t pattern_len;
    char pattern[]; /* NUL-terminated */
};

static inline size_t redd__http_route_size(size_t pattern_len)
{
    return sizeof(redd__http_route) + pattern_len + 1;
}

/** The routes of one pattern. */
typedef struct redd__http_leaf {
    uint64_t methods; /* that have routes of their own */
    redd__http_route *routes;
    redd__http_route *any; /* for the others */
} redd__http_leaf;

typedef struct redd__http_child {
    uint32_t hash, text_len;
    redd__http_node *node;
} redd__http_child;

struct redd__http_node {
    redd__http_node *older; /* of the whole tree */
    redd__http_leaf end;    /* of patterns that end here */
    redd__http_leaf rest;   /* of those with a rest behind this */
    redd__http_node *parameter;
    redd__http_child *children; /* a hash table of literal segments; room is a power of two */
    uint32_t n_children, room;
    size_t size;
    char text[]; /* the literal that it is for, decoded */
};

typedef struct redd__http_tree {
    const redd_allocator *alloc;
    redd__http_node *newest; /* the root is the oldest */
    redd__http_node *root;
} redd__http_tree;

/** UV_ENOMEM. */
int redd__http_tree_init(redd__http_tree *t, const redd_allocator *a);
/** Frees the routes too. */
void redd__http_tree_fini(redd__http_tree *t);
/** UV_EINVAL: no pattern. */
int redd__http_pattern_check(redd_slice pattern);
/** Takes `route`, whose pattern was checked. REDD_EDUPLICATE, UV_ENOMEM. */
int redd__http_tree_add(redd__http_tree *t, redd__http_route *route);

/** A lookup: the path and the method in, what was met out. */
typedef struct redd__http_search {
    const char *end; /* of the path */
    bool escaped;    /* the path has escapes, valid ones */
    uint64_t method; /* one bit, or 0 for one that no route names */
    uint64_t instead;
    uint64_t allowed; /* methods of all the patterns that match but have no route for this one */
} redd__http_search;

/** The route for the path that begins at `path` with a slash, or NULL. Each node is seen at most
 * once, since only one beginning of the path can lead to it. */
const redd__http_route *redd__http_tree_find(const redd__http_tree *t, const char *path,
                                             redd__http_search *s);

#endif
