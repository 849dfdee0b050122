/* SPDX-License-Identifier: MIT */
/** Building a router: what it refuses, how much it holds, and that it finds what a naive search
 *  finds, at a bounded price. */
#include "ext/http/router/router.h"

#include "tests/unit/http_must.h"

#include <uv.h>

static void handler(redd_http_request *req, void *user)
{
    (void)req;
    (void)user;
}

static bool middleware(redd_http_request *req, void *user)
{
    (void)req;
    (void)user;
    return true;
}

static redd_http_router *router_new(void)
{
    redd_http_router *r = NULL;
    assert_int_equal(redd_http_router_new(redd_allocator_default(), &r), 0);
    return r;
}

static int add(redd_http_router *r, const char *method, const char *pattern)
{
    return redd_http_route(r, method, pattern, NULL, handler, NULL);
}

/* --- refusals --- */

static void test_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        int rc;
    } rows[] = {
        {"", UV_EINVAL},
        {"a", UV_EINVAL},
        {"*", UV_EINVAL},
        {"*rest", UV_EINVAL},
        {":id", UV_EINVAL},
        {"/:", UV_EINVAL},
        {"/a/:/b", UV_EINVAL},
        {"/*", UV_EINVAL},
        {"/a/*", UV_EINVAL},
        {"/*rest/", UV_EINVAL},
        {"/*rest/a", UV_EINVAL},
        {"/*rest/*more", UV_EINVAL},
        {"/:a/:a", UV_EINVAL},
        {"/:a/b/:c/:a", UV_EINVAL},
        {"/:a/*a", UV_EINVAL},
        {"/%", UV_EINVAL},
        {"/a%4", UV_EINVAL},
        {"/a%4/", UV_EINVAL},
        {"/%4g", UV_EINVAL},
        {"/:a%", UV_EINVAL},
        {"/", 0},
        {"//", 0},
        {"/:a", 0},
        {"/:a/:b/:aa", 0},
        {"/a/:b/*c", 0},
        {"/a:b/c*d", 0},
        {"/%3A/%2a", 0},
        {"/%2f", 0},
        {"/*all", 0},
    };
    redd_http_router *r = router_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int rc = add(r, "GET", rows[i].pattern);
        if (rc != rows[i].rc)
            print_error("%s\n", rows[i].pattern);
        assert_int_equal(rc, rows[i].rc);
    }
    redd_http_router_free(r);
    redd_http_router_free(NULL);
}

static void test_duplicates(void **state)
{
    (void)state;
    redd_http_router *r = router_new();
    assert_int_equal(add(r, "GET", "/a/:x"), 0);
    assert_int_equal(add(r, "GET", "/a/:x"), REDD_EDUPLICATE);
    assert_int_equal(add(r, "GET", "/a/:y"), REDD_EDUPLICATE);
    assert_int_equal(add(r, "GET", "/%61/:y"), REDD_EDUPLICATE);
    assert_int_equal(add(r, "POST", "/a/:y"), 0);
    assert_int_equal(add(r, "*", "/a/:y"), 0);
    assert_int_equal(add(r, "*", "/a/:z"), REDD_EDUPLICATE);
    assert_int_equal(add(r, "GET", "/a/*y"), 0);
    assert_int_equal(add(r, "GET", "/a/*z"), REDD_EDUPLICATE);
    assert_int_equal(add(r, "GET", "/a/"), 0);
    assert_int_equal(add(r, "get", "/a/"), 0); /* methods have their case (RFC 9110 9.1) */
    redd_http_router_free(r);
}

static void test_methods(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", " ", "GE T", "GET\r", "(GET)", "G\xc3\x84T", "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG"};
    redd_http_router *r = router_new();
    char allow[REDD__HTTP_MAX_ALLOW], method[REDD__HTTP_MAX_METHOD_NAME + 1];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(add(r, bad[i], "/"), UV_EINVAL);
    /* GET, HEAD and OPTIONS are there from the beginning. */
    for (int i = 0; i < REDD__HTTP_MAX_METHODS - 3; i++) {
        (void)snprintf(method, sizeof method, "METHOD-WITH-QUITE-A-LONG-NAME-%02d", i);
        assert_int_equal(add(r, method, "/"), 0);
    }
    assert_int_equal(add(r, "ONE-MORE", "/"), UV_EINVAL);
    assert_int_equal(add(r, "GET", "/"), 0);
    redd_slice all = redd__http_methods_write(&r->methods, UINT64_MAX, allow);
    assert_int_equal(all.len, 61 * 34 + strlen("GET, HEAD, OPTIONS"));
    assert_memory_equal(all.data, "GET, HEAD, METHOD-WITH-QUITE-A-LONG-NAME-00, ", 45);
    redd_http_router_free(r);
}

static void test_order_of_methods(void **state)
{
    (void)state;
    static const char *const methods[] = {"PUT", "GETX", "GE", "A", "GETA", "Z", "PUTT", "get"};
    redd_http_router *r = router_new();
    char allow[REDD__HTTP_MAX_ALLOW];
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        assert_int_equal(add(r, methods[i], "/"), 0);
    redd_slice all = redd__http_methods_write(&r->methods, UINT64_MAX, allow);
    assert_true(redd_slice_equal(
        all, redd_slice_str("A, GE, GET, GETA, GETX, HEAD, OPTIONS, PUT, PUTT, Z, get")));
    redd_http_router_free(r);
}

static void test_other_arguments(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "a", "/:a", "/a/:b", "/*", "/a/*b", "/%", "/%zz"};
    redd_http_route_options options = {.struct_size = sizeof options - 1};
    redd_http_router *r = router_new();
    assert_int_equal(redd_http_route(r, "GET", "/", NULL, NULL, NULL), UV_EINVAL);
    assert_int_equal(redd_http_route(r, "GET", "/", &options, handler, NULL), UV_EINVAL);
    assert_int_equal(redd_http_router_use(r, "/", NULL, NULL), UV_EINVAL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(redd_http_router_use(r, bad[i], middleware, NULL), UV_EINVAL);
    redd_http_router_free(r);
}

/* --- memory --- */

static int build(const redd_allocator *a, redd_http_router **out)
{
    int rc = redd_http_router_new(a, out);
    char pattern[32];
    for (int i = 0; i < 20 && !rc; i++) {
        (void)snprintf(pattern, sizeof pattern, "/a/%d/:x/*rest", i);
        rc = add(*out, i & 1 ? "GET" : "*", pattern);
    }
    return rc ? rc : redd_http_router_use(*out, "/a", middleware, NULL);
}

static void test_each_allocation_fails(void **state)
{
    (void)state;
    redd_allocator_stats stats;
    uint64_t n = 0;
    do {
        redd_counting_allocator *counting;
        redd_http_router *r = NULL;
        assert_int_equal(redd_counting_allocator_new(NULL, &counting), 0);
        redd_counting_allocator_fail_at(counting, ++n, false);
        int rc = build(redd_counting_allocator_hook(counting), &r);
        redd_counting_allocator_stats(counting, &stats);
        assert_int_equal(rc, stats.failures ? UV_ENOMEM : 0);
        redd_http_router_free(r);
        redd_counting_allocator_stats(counting, &stats);
        assert_int_equal(stats.blocks, 0);
        redd_counting_allocator_free(counting);
    } while (stats.failures > 0);
    assert_true(n > 60);
}

/* --- the same as a naive search --- */

static redd__http_search search_of(const char *path)
{
    return (redd__http_search){
        .end = path + strlen(path), .escaped = strchr(path, '%') != NULL, .method = 1}; /* GET */
}

static const char *find(const redd_http_router *r, const char *path)
{
    redd__http_search s = search_of(path);
    const redd__http_route *route = redd__http_tree_find(&r->tree, path, &s);
    return route ? route->pattern : NULL;
}

/* Segments are single letters here: 'a'.. are literals, 'P' a parameter, 'R' a rest. */
static bool matches(const char *shape, const char *path)
{
    for (; *path && *shape != 'R'; shape++, path++)
        if (*shape != 'P' && *shape != *path)
            return false;
    return *path ? *shape == 'R' : *shape == '\0';
}

/* Literals before parameters before rests, from the left. */
static bool goes_before(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        int x = *a == 'R' ? 2 : *a == 'P', y = *b == 'R' ? 2 : *b == 'P';
        if (x != y)
            return x < y;
    }
    return false; /* the same, or not both match */
}

static void spell(const char *shape, bool pattern, char *out)
{
    for (unsigned i = 0; shape[i]; i++, out += strlen(out)) {
        if (pattern && shape[i] == 'P')
            (void)snprintf(out, 8, "/:p%u", i);
        else if (pattern && shape[i] == 'R')
            (void)snprintf(out, 8, "/*r");
        else if (!pattern && (i & 1))
            (void)snprintf(out, 8, "/%%%02x", (unsigned)shape[i] & 0xffU);
        else
            (void)snprintf(out, 8, "/%c", shape[i]);
    }
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 16;
}

static void random_shape(uint32_t *seed, const char *letters, char *out)
{
    size_t n = strlen(letters), len = 1 + next_random(seed) % 5;
    for (size_t i = 0; i < len; i++) {
        *out++ = letters[next_random(seed) % n];
        if (out[-1] == 'R')
            break;
    }
    *out = '\0';
}

enum { SHAPES = 300 };

static const char *find_naively(char shapes[][8], unsigned n, const char *path)
{
    const char *best = NULL;
    for (unsigned i = 0; i < n; i++)
        if (matches(shapes[i], path) && (!best || goes_before(shapes[i], best)))
            best = shapes[i];
    return best;
}

static void check_random(uint32_t seed)
{
    static char shapes[SHAPES][8];
    redd_http_router *r = router_new();
    unsigned n = 0;
    char text[64], expected[64], path[8];
    for (int i = 0; i < SHAPES; i++) {
        random_shape(&seed, "abcdefPPPR", shapes[n]);
        spell(shapes[n], true, text);
        int rc = add(r, "GET", text);
        assert_true(rc == 0 || rc == REDD_EDUPLICATE);
        n += rc == 0;
    }
    for (int i = 0; i < 3000; i++) {
        random_shape(&seed, "abcdefgh", path);
        spell(path, false, text);
        const char *found = find(r, text), *best = find_naively(shapes, n, path);
        assert_int_equal(found != NULL, best != NULL);
        if (!best)
            continue;
        spell(best, true, expected);
        assert_string_equal(found, expected);
    }
    redd_http_router_free(r);
}

static void test_random(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 30; seed++)
        check_random(seed);
}

/* --- many, and hostile --- */

static void test_many_siblings(void **state)
{
    (void)state;
    redd_http_router *r = router_new();
    char path[32];
    for (int i = 0; i < 5000; i++) {
        (void)snprintf(path, sizeof path, "/s/%d", i * 7919);
        assert_int_equal(add(r, "GET", path), 0);
    }
    for (int i = 0; i < 5000; i++) {
        (void)snprintf(path, sizeof path, "/s/%d", i * 7919);
        assert_string_equal(find(r, path), path);
        (void)snprintf(path, sizeof path, "/s/%d", i * 7919 + 1);
        assert_null(find(r, path));
    }
    redd_http_router_free(r);
}

static void repeat(char *out, const char *text, unsigned n, const char *end)
{
    *out = '\0';
    while (n-- > 0) {
        size_t len = strlen(text);
        memcpy(out, text, len + 1);
        out += len;
    }
    memcpy(out, end, strlen(end) + 1);
}

static void test_depth(void **state)
{
    (void)state;
    redd_http_router *r = router_new();
    char text[256];
    repeat(text, "/a", REDD__HTTP_MAX_SEGMENTS, "");
    assert_int_equal(add(r, "GET", text), 0);
    assert_string_equal(find(r, text), text);
    repeat(text, "/a", REDD__HTTP_MAX_SEGMENTS + 1, "");
    assert_int_equal(add(r, "GET", text), UV_EINVAL);
    assert_null(find(r, text));
    redd_http_router_free(r);
}

/* At each of 12 levels a literal and a parameter match, and all of the 2^12 ways end before the
 * last segment: each node is seen once, not once for each way to come upon it. */
static void test_no_blow_up(void **state)
{
    (void)state;
    enum { DEPTH = 12, TIMES = 200 };
    redd_http_router *r = router_new();
    char pattern[128], name[16], path[256];
    for (unsigned mask = 0; mask < 1U << DEPTH; mask++) {
        pattern[0] = '\0';
        for (unsigned i = 0; i < DEPTH; i++) {
            size_t len = strlen(pattern);
            (void)snprintf(name, sizeof name, "/:%c", (char)('a' + i));
            (void)snprintf(pattern + len, sizeof pattern - len, "%s", mask >> i & 1 ? name : "/x");
        }
        size_t len = strlen(pattern);
        (void)snprintf(pattern + len, sizeof pattern - len, "/end");
        assert_int_equal(add(r, "GET", pattern), 0);
    }
    repeat(path, "/x", DEPTH, "/other");
    uint64_t start = uv_hrtime();
    for (int i = 0; i < TIMES; i++)
        assert_null(find(r, path));
    uint64_t each = (uv_hrtime() - start) / TIMES;
    assert_true(each < 20000000); /* 8,192 nodes: one millisecond, with sanitizers */
    repeat(path, "/x", DEPTH, "/end");
    assert_non_null(find(r, path));
    redd_http_router_free(r);
}

/* Long paths cost their length, whatever they are made of. */
static void test_long_paths(void **state)
{
    (void)state;
    static const char *const units[] = {"/", "/a", "/b", "/%61", "a", "%2f", "/:x"};
    static char path[70000];
    redd_http_router *r = router_new();
    assert_int_equal(add(r, "GET", "/:a/:b/:c/d"), 0);
    assert_int_equal(add(r, "GET", "/a/:b/:c/e"), 0);
    assert_int_equal(add(r, "GET", "/a/a/a/*rest"), 0);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        repeat(path, units[i], 16000, "");
        if (path[0] != '/')
            path[0] = '/';
        if (path[1] == '2')
            path[1] = path[2] = 'a';
        const char *expected = i == 1 || i == 3 ? "/a/a/a/*rest" : NULL;
        const char *found = find(r, path);
        assert_int_equal(found != NULL, expected != NULL);
    }
    redd_http_router_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_methods),         cmocka_unit_test(test_order_of_methods),
        cmocka_unit_test(test_other_arguments), cmocka_unit_test(test_each_allocation_fails),
        cmocka_unit_test(test_random),          cmocka_unit_test(test_many_siblings),
        cmocka_unit_test(test_depth),           cmocka_unit_test(test_no_blow_up),
        cmocka_unit_test(test_long_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
