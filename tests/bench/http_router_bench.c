/* SPDX-License-Identifier: MIT */
/** How fast a router of 1,000 routes finds one: lookups per second and nanoseconds each, the median
 *  of five rounds. With an argument it makes that many lookups of each kind, for callgrind. */
#include "ext/http/router/router.h"

#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

enum { ROUNDS = 5, MEDIAN = ROUNDS / 2, RESOURCES = 250, LOOKUPS = 2000000 };

static redd_http_router *router;

static void must(int rc)
{
    if (rc < 0) {
        (void)fprintf(stderr, "http_router_bench: %s\n", redd_error_text(rc));
        exit(1);
    }
}

static void handler(redd_http_request *req, void *user)
{
    (void)req;
    (void)user;
}

static void build(void)
{
    static const char *const behind[] = {"", "/:id", "/:id/parts", "/:id/parts/:part"};
    must(redd_http_router_new(redd_allocator_default(), &router));
    for (int i = 0; i < RESOURCES; i++)
        for (size_t p = 0; p < sizeof behind / sizeof *behind; p++) {
            char pattern[64];
            (void)snprintf(pattern, sizeof pattern, "/api/v1/resource%d%s", i, behind[p]);
            must(redd_http_route(router, "GET", pattern, NULL, handler, NULL));
        }
}

static const redd__http_route *look_up(const char *path)
{
    redd_slice s = redd_slice_str(path);
    redd__http_search search = {
        .end = s.data + s.len,
        .escaped = memchr(s.data, '%', s.len) != NULL,
        .method = redd__http_method_bit(&router->methods, redd_slice_str("GET")),
    };
    return redd__http_tree_find(&router->tree, s.data, &search);
}

static void repeat(const char *path, bool found, long n)
{
    for (long i = 0; i < n; i++)
        if ((look_up(path) != NULL) != found)
            exit(1);
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void measure(const char *path, bool found)
{
    uint64_t rounds[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t start = uv_hrtime();
        repeat(path, found, LOOKUPS);
        rounds[i] = uv_hrtime() - start;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, compare);
    double ns = (double)rounds[MEDIAN] / LOOKUPS;
    (void)printf("%-44s %10.0f/s %8.1f ns\n", path, 1e9 / ns, ns);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *path;
        bool found;
    } rows[] = {
        {"/api/v1/resource117", true},
        {"/api/v1/resource117/12345", true},
        {"/api/v1/resource249/12345/parts/67", true},
        {"/api/v1/%72esource117/12345/parts", true},
        {"/api/v1/resource250/12345", false},
        {"/nothing/of/this/kind", false},
    };
    build();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (argc > 1)
            repeat(rows[i].path, rows[i].found, strtol(argv[1], NULL, 10));
        else
            measure(rows[i].path, rows[i].found);
    }
    redd_http_router_free(router);
    return 0;
}
