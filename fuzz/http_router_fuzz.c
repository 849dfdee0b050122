/* SPDX-License-Identifier: MIT */
/* A path (the first line) and a router (the others: prefixes of middleware where they begin with
 * "!", else patterns). What is run and told must be what a naive search finds. */
#include <stdio.h>
#include <stdlib.h>

#define HTTP_MUST(condition)                                                                    \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            (void)fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            abort();                                                                            \
        }                                                                                       \
    } while (0)
#include "tests/unit/http_reply.h"

#include <redd/http_router.h>

#define INPUT_MAX    600
#define LINES_MAX    24
#define LINE_SIZE    120
#define SEGMENTS_MAX LINE_SIZE

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct scene {
    bed b;
    redd_http_router *router;
    bytes log; /* numbers of the middleware, then the pattern */
    char routes[LINES_MAX][LINE_SIZE];
    char prefixes[LINES_MAX][LINE_SIZE];
    unsigned n_routes, n_prefixes;
} scene;

/* One for all inputs: what one leaves behind would show in the next, or at the end. */
static scene the_scene;

/* --- the naive search --- */

/* Cut at slashes first, decoded then. */
typedef struct segments {
    unsigned n;
    struct {
        redd_slice raw;
        char text[LINE_SIZE];
        size_t len;
    } list[SEGMENTS_MAX];
} segments;

static void split(redd_slice path, segments *out)
{
    out->n = 0;
    while (path.len > 0) {
        size_t n = 1;
        while (n < path.len && path.data[n] != '/')
            n++;
        HTTP_MUST(out->n < SEGMENTS_MAX);
        redd_slice raw = redd_slice_of(path.data + 1, n - 1);
        out->list[out->n].raw = raw;
        HTTP_MUST(redd_http_decode_percent(raw, false, out->list[out->n].text, LINE_SIZE,
                                           &out->list[out->n].len) == 0);
        out->n++;
        path = redd_slice_of(path.data + n, path.len - n);
    }
}

/* ':', '*', or ' ' for a literal. */
static int kind_of(const segments *s, unsigned i)
{
    redd_slice raw = s->list[i].raw;
    return raw.len > 0 && (raw.data[0] == ':' || raw.data[0] == '*') ? raw.data[0] : ' ';
}

static bool same(const segments *a, const segments *b, unsigned i)
{
    return a->list[i].len == b->list[i].len &&
           memcmp(a->list[i].text, b->list[i].text, a->list[i].len) == 0;
}

static bool matches(const segments *pattern, const segments *path)
{
    for (unsigned i = 0; i < pattern->n; i++) {
        if (i == path->n)
            return false;
        int kind = kind_of(pattern, i);
        if (kind == '*')
            return true;
        if (kind == ':' ? path->list[i].raw.len == 0 : !same(pattern, path, i))
            return false;
    }
    return pattern->n == path->n;
}

static unsigned rank(const segments *pattern, unsigned i)
{
    int kind = i < pattern->n ? kind_of(pattern, i) : ' ';
    return kind == '*' ? 2 : kind == ':';
}

/* Both match. */
static bool goes_before(const segments *a, const segments *b)
{
    for (unsigned i = 0; i < a->n || i < b->n; i++)
        if (rank(a, i) != rank(b, i))
            return rank(a, i) < rank(b, i);
    return false;
}

static void find_naively(const scene *s, redd_slice target, bytes *out)
{
    static segments path, pattern, best;
    const char *found = "";
    split(target, &path);
    for (unsigned i = 0; i < s->n_prefixes; i++) {
        redd_slice text = redd_slice_str(s->prefixes[i]);
        text.len -= text.data[text.len - 1] == '/';
        split(text, &pattern);
        bool begins = pattern.n <= path.n;
        for (unsigned k = 0; begins && k < pattern.n; k++)
            begins = same(&pattern, &path, k);
        if (begins)
            bytes_text(out, s->prefixes[i]);
    }
    for (unsigned i = 0; i < s->n_routes; i++) {
        split(redd_slice_str(s->routes[i]), &pattern);
        if (!matches(&pattern, &path) || (*found && !goes_before(&pattern, &best)))
            continue;
        found = s->routes[i];
        best = pattern;
    }
    bytes_text(out, "->");
    bytes_text(out, found);
}

/* --- the router --- */

static bool log_prefix(redd_http_request *req, void *user)
{
    (void)req;
    bytes_text(&the_scene.log, user);
    return true;
}

/* The parameters are the segments at their places, the rest is what follows. */
static void check_parameters(const redd_http_request *req, const char *pattern)
{
    static segments names, path;
    redd_slice target = redd_http_path(req);
    split(redd_slice_str(pattern), &names);
    split(target, &path);
    for (unsigned i = 0; i < names.n; i++) {
        char name[LINE_SIZE];
        redd_slice raw = names.list[i].raw, value = path.list[i].raw;
        if (kind_of(&names, i) == ' ')
            continue;
        if (kind_of(&names, i) == '*')
            value.len = (size_t)(target.data + target.len - value.data);
        (void)snprintf(name, sizeof name, "%.*s", (int)raw.len - 1, raw.data + 1);
        HTTP_MUST(redd_slice_equal(redd_http_param(req, name), value));
    }
    HTTP_MUST(redd_http_param(req, "/").data == NULL);
}

static void answer(redd_http_request *req, void *user)
{
    scene *s = user;
    bytes_text(&s->log, "->");
    bytes_text(&s->log, redd_http_route_pattern(req));
    check_parameters(req, redd_http_route_pattern(req));
    HTTP_MUST(redd_http_respond_text(req, 200, "") == 0);
}

static void serve(redd_http_request *req, void *user)
{
    scene *s = user;
    redd_http_router_handler(req, s->router);
}

static void add_line(scene *s, redd_slice line)
{
    char text[LINE_SIZE];
    bool prefix = line.len > 0 && line.data[0] == '!';
    if (line.len >= LINE_SIZE || memchr(line.data, '\0', line.len))
        return;
    (void)snprintf(text, sizeof text, "%.*s", (int)line.len, line.data);
    if (prefix) {
        char *kept = s->prefixes[s->n_prefixes];
        memcpy(kept, text + 1, line.len);
        s->n_prefixes += redd_http_router_use(s->router, kept, log_prefix, kept) == 0;
    } else {
        memcpy(s->routes[s->n_routes], text, line.len + 1);
        s->n_routes += redd_http_route(s->router, "GET", text, NULL, answer, s) == 0;
    }
}

static bool take_line(redd_slice *rest, redd_slice *line)
{
    if (rest->len == 0)
        return false;
    const char *end = memchr(rest->data, '\n', rest->len);
    *line = redd_slice_of(rest->data, end ? (size_t)(end - rest->data) : rest->len);
    size_t n = end ? line->len + 1 : line->len;
    *rest = redd_slice_of(rest->data + n, rest->len - n);
    return true;
}

/* Of a path that the server takes: RFC 3986 3.3, and valid escapes. */
static bool is_path(redd_slice s)
{
    char text[LINE_SIZE];
    size_t len;
    if (s.len == 0 || s.len >= LINE_SIZE || s.data[0] != '/')
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (s.data[i] <= 0x20 || s.data[i] == 0x7f || s.data[i] == '?' || s.data[i] == '#')
            return false;
    return redd_http_decode_percent(s, false, text, sizeof text, &len) == 0;
}

static void ask(scene *s, redd_slice path)
{
    client c;
    bytes request = {0};
    client_open(&s->b, &c);
    bytes_text(&request, "GET ");
    bytes_add(&request, path.data, path.len);
    bytes_text(&request, " HTTP/1.1\r\nHost: h\r\n\r\n");
    client_send(&c, request.data, request.len);
    HTTP_MUST(replies_are(&c, "200"));
    bytes_free(&request);
    client_close(&c);
}

static void end(void)
{
    bed_end(&the_scene.b);
}

static scene *begin(void)
{
    scene *s = &the_scene;
    if (!s->b.w) {
        bed_begin(&s->b, serve, s);
        HTTP_MUST(atexit(end) == 0);
    }
    s->n_routes = s->n_prefixes = 0;
    HTTP_MUST(redd_http_router_new(redd_counting_allocator_hook(s->b.counting), &s->router) == 0);
    redd_http_router_not_found(s->router, answer, s);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    redd_slice rest = redd_slice_of(data, size), path, line;
    bytes expected = {0};
    if (size > INPUT_MAX || !take_line(&rest, &path) || !is_path(path))
        return 0;
    scene *s = begin();
    for (unsigned i = 0; i < LINES_MAX && take_line(&rest, &line); i++)
        add_line(s, line);
    ask(s, path);
    find_naively(s, path, &expected);
    HTTP_MUST(bytes_are(&s->log, expected.data, expected.len));
    bytes_free(&expected);
    bytes_free(&s->log);
    redd_http_router_free(s->router);
    return 0;
}
