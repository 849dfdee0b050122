/* SPDX-License-Identifier: MIT */
#include "ext/http/router/tree.h"

#include "ext/http/router/path.h"

#include <uv.h>

/* --- literals --- */

/* FNV-1a of the decoded bytes. Who sends paths cannot choose what stands in the tree, so nothing is
 * gained by collisions. */
static uint32_t hash_of(redd_slice segment, bool escaped)
{
    const char *p = segment.data, *end = p + segment.len;
    uint32_t hash = 2166136261U;
    while (!escaped && p < end)
        hash = (hash ^ (unsigned char)*p++) * 16777619U;
    while (p < end)
        hash = (hash ^ (unsigned char)redd__http_next_byte(&p)) * 16777619U;
    return hash;
}

static bool child_is(const redd__http_child *c, redd_slice segment, bool escaped)
{
    const char *p = segment.data, *end = p + segment.len;
    if (!escaped)
        return c->text_len == segment.len && memcmp(c->node->text, p, segment.len) == 0;
    size_t i = 0;
    while (p < end && i < c->text_len && redd__http_next_byte(&p) == c->node->text[i])
        i++;
    return p == end && i == c->text_len;
}

static redd__http_node *find_child(const redd__http_node *n, redd_slice segment, bool escaped)
{
    if (n->n_children == 0)
        return NULL;
    uint32_t hash = hash_of(segment, escaped), mask = n->room - 1;
    for (uint32_t i = hash & mask; n->children[i].node; i = (i + 1) & mask)
        if (n->children[i].hash == hash && child_is(&n->children[i], segment, escaped))
            return n->children[i].node;
    return NULL;
}

/* --- building --- */

static redd__http_node *node_new(redd__http_tree *t, redd_slice segment)
{
    size_t size = sizeof(redd__http_node) + segment.len;
    redd__http_node *n = redd_alloc_zero(t->alloc, size);
    if (!n)
        return NULL;
    n->size = size;
    n->older = t->newest;
    t->newest = n;
    return n;
}

static void put_child(redd__http_node *n, redd__http_child child)
{
    uint32_t mask = n->room - 1, i = child.hash & mask;
    while (n->children[i].node)
        i = (i + 1) & mask;
    n->children[i] = child;
}

/* Half of the places stay empty, so that no search is long and each one ends. */
static int make_room(const redd__http_tree *t, redd__http_node *n)
{
    redd__http_child *old = n->children;
    uint32_t old_room = n->room;
    if (n->n_children < old_room / 2)
        return 0;
    uint32_t room = old_room > 0 ? old_room * 2 : 2;
    redd__http_child *children = redd_alloc_zero(t->alloc, room * sizeof *children);
    if (!children)
        return UV_ENOMEM;
    n->children = children;
    n->room = room;
    for (uint32_t i = 0; i < old_room; i++)
        if (old[i].node)
            put_child(n, old[i]);
    redd_free(t->alloc, old, old_room * sizeof *old);
    return 0;
}

static redd__http_node *take_child(redd__http_tree *t, redd__http_node *n, redd_slice segment)
{
    redd__http_node *child = find_child(n, segment, true);
    if (child)
        return child;
    if (make_room(t, n) || !(child = node_new(t, segment)))
        return NULL;
    const char *p = segment.data, *end = p + segment.len;
    uint32_t len = 0;
    while (p < end)
        child->text[len++] = redd__http_next_byte(&p);
    put_child(n, (redd__http_child){hash_of(segment, true), len, child});
    n->n_children++;
    return child;
}

static redd__http_node *take_parameter(redd__http_tree *t, redd__http_node *n)
{
    if (!n->parameter)
        n->parameter = node_new(t, redd_slice_of(NULL, 0));
    return n->parameter;
}

static int leaf_add(redd__http_leaf *leaf, redd__http_route *route)
{
    if (route->method ? (leaf->methods & route->method) != 0 : leaf->any != NULL)
        return REDD_EDUPLICATE;
    if (route->method) {
        leaf->methods |= route->method;
        route->next = leaf->routes;
        leaf->routes = route;
    } else {
        leaf->any = route;
    }
    return 0;
}

int redd__http_tree_add(redd__http_tree *t, redd__http_route *route)
{
    redd__http_node *n = t->root;
    const char *p = route->pattern, *end = p + route->pattern_len;
    while (p < end) {
        redd_slice segment = redd__http_segment(p, end);
        if (redd__http_is_rest(segment))
            return leaf_add(&n->rest, route);
        n = redd__http_is_parameter(segment) ? take_parameter(t, n) : take_child(t, n, segment);
        if (!n)
            return UV_ENOMEM;
        p = segment.data + segment.len;
    }
    return leaf_add(&n->end, route);
}

/* Whether a segment before `until` has this name, too. */
static bool is_taken(redd_slice pattern, redd_slice name, const char *until)
{
    const char *p = pattern.data, *end = p + pattern.len;
    while (p < until) {
        redd_slice segment = redd__http_segment(p, end);
        if (redd__http_is_parameter(segment) &&
            redd_slice_equal(redd__http_parameter_name(segment), name))
            return true;
        p = segment.data + segment.len;
    }
    return false;
}

int redd__http_pattern_check(redd_slice pattern)
{
    const char *p = pattern.data, *end = p + pattern.len;
    unsigned n = 0;
    if (pattern.len == 0 || *p != '/' || !redd__http_escapes_are_valid(pattern))
        return UV_EINVAL;
    while (p < end) {
        redd_slice segment = redd__http_segment(p, end), name = {NULL, 0};
        bool rest = redd__http_is_rest(segment);
        const char *slash = p;
        p = segment.data + segment.len;
        if (++n > REDD__HTTP_MAX_SEGMENTS || (rest && p < end))
            return UV_EINVAL;
        if (rest || redd__http_is_parameter(segment))
            name = redd__http_parameter_name(segment);
        if (name.data && (name.len == 0 || is_taken(pattern, name, slash)))
            return UV_EINVAL;
    }
    return 0;
}

int redd__http_tree_init(redd__http_tree *t, const redd_allocator *a)
{
    t->alloc = a;
    t->newest = NULL;
    t->root = node_new(t, redd_slice_of(NULL, 0));
    return t->root ? 0 : UV_ENOMEM;
}

static void route_free(const redd__http_tree *t, redd__http_route *route)
{
    if (route)
        redd_free(t->alloc, route, redd__http_route_size(route->pattern_len));
}

static void leaf_free(const redd__http_tree *t, redd__http_leaf *leaf)
{
    redd__http_route *next;
    for (redd__http_route *r = leaf->routes; r; r = next) {
        next = r->next;
        route_free(t, r);
    }
    route_free(t, leaf->any);
}

void redd__http_tree_fini(redd__http_tree *t)
{
    redd__http_node *older;
    for (redd__http_node *n = t->newest; n; n = older) {
        older = n->older;
        leaf_free(t, &n->end);
        leaf_free(t, &n->rest);
        redd_free(t->alloc, n->children, n->room * sizeof *n->children);
        redd_free(t->alloc, n, n->size);
    }
}

/* --- looking up --- */

static const redd__http_route *pick(const redd__http_leaf *leaf, redd__http_search *s)
{
    uint64_t method = leaf->methods & s->method;
    if (!method)
        method = leaf->methods & s->instead;
    if (!method) {
        s->allowed |= leaf->methods;
        return leaf->any;
    }
    const redd__http_route *r = leaf->routes;
    while (r->method != method)
        r = r->next;
    return r;
}

static const redd__http_route *descend(const redd__http_node *n, const char *p,
                                       redd__http_search *s)
{
    if (p == s->end)
        return pick(&n->end, s);
    redd_slice segment = redd__http_segment(p, s->end);
    const char *behind = segment.data + segment.len;
    const redd__http_node *child = find_child(n, segment, s->escaped);
    const redd__http_route *found = child ? descend(child, behind, s) : NULL;
    if (!found && n->parameter && segment.len > 0)
        found = descend(n->parameter, behind, s);
    return found ? found : pick(&n->rest, s);
}

const redd__http_route *redd__http_tree_find(const redd__http_tree *t, const char *path,
                                             redd__http_search *s)
{
    return descend(t->root, path, s);
}
