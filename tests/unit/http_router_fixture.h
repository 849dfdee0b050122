/* SPDX-License-Identifier: MIT */
/** A server behind a router, and requests whose answers are told as text. */
#ifndef REDD_TESTS_UNIT_HTTP_ROUTER_FIXTURE_H
#define REDD_TESTS_UNIT_HTTP_ROUTER_FIXTURE_H

#include "tests/unit/http_must.h"

#include <redd/http_router.h>

typedef struct house {
    bed b;
    client c;
    redd_http_router *router;
} house;

static inline void house_begin(house *h)
{
    bed_prepare(&h->b);
    assert_int_equal(bed_try_begin(&h->b), 0);
    assert_int_equal(redd_http_router_new(redd_counting_allocator_hook(h->b.counting), &h->router),
                     0);
}

/** Behind the last route. */
static inline void house_open(house *h)
{
    assert_int_equal(bed_try_serve(&h->b, NULL, redd_http_router_handler, h->router), 0);
    client_open(&h->b, &h->c);
}

static inline void house_end(house *h)
{
    client_close(&h->c);
    redd_http_server_close(h->b.server, REDD_STOP_FORCED);
    bed_turns(&h->b, 2);
    redd_http_router_free(h->router);
    bed_end(&h->b);
}

/** Answers with its route and the parameters that `user` names: "/a/:x x=1". */
static inline void tell(redd_http_request *req, void *user)
{
    char text[512];
    int n = snprintf(text, sizeof text, "%s", redd_http_route_pattern(req));
    redd_slice names = redd_slice_str(user), name;
    while (redd_slice_next_element(&names, &name)) {
        char key[32];
        (void)snprintf(key, sizeof key, "%.*s", (int)name.len, name.data);
        redd_slice value = redd_http_param(req, key);
        n += snprintf(text + n, sizeof text - (size_t)n, " %s=%.*s", key, (int)value.len,
                      value.data ? value.data : "");
    }
    assert_int_equal(redd_http_respond_text(req, 200, text), 0);
}

static inline void route_to(house *h, const char *method, const char *pattern, const char *names)
{
    assert_int_equal(redd_http_route(h->router, method, pattern, NULL, tell, (void *)names), 0);
}

/** "200 body", with "(methods)" for an Allow field. */
static inline void ask(house *h, const char *method, const char *target, bytes *out)
{
    bytes request = {0};
    reply r;
    char status[16];
    bytes_text(&request, method);
    bytes_text(&request, " ");
    bytes_text(&request, target);
    bytes_text(&request, " HTTP/1.1\r\nHost: h\r\n\r\n");
    bytes_clear(&h->c.got);
    client_send(&h->c, request.data, request.len);
    reply_begin(&r, &h->c);
    assert_true(reply_next_to(&r, strcmp(method, "HEAD") == 0));
    assert_true(reply_at_end(&r));
    (void)snprintf(status, sizeof status, "%u ", r.status);
    bytes_text(out, status);
    redd_slice allow = reply_field(&r, "allow");
    if (allow.data) {
        bytes_text(out, "(");
        bytes_add(out, allow.data, allow.len);
        bytes_text(out, ")");
    } else {
        bytes_add(out, r.body.data, r.body.len);
    }
    reply_end(&r);
    bytes_free(&request);
}

static inline void expect(house *h, const char *method, const char *target, const char *answer)
{
    bytes got = {0};
    ask(h, method, target, &got);
    if (strcmp(got.data, answer) != 0)
        print_error("%s %s\n", method, target);
    assert_string_equal(got.data, answer);
    bytes_free(&got);
}

typedef struct row {
    const char *method, *target, *answer;
} row;

static inline void expect_rows(house *h, const row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        expect(h, rows[i].method, rows[i].target, rows[i].answer);
}
#define EXPECT_ROWS(h, rows) expect_rows((h), (rows), sizeof(rows) / sizeof *(rows))

#define NOT_FOUND "404 Not Found\n"

#endif
