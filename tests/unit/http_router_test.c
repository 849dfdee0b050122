/* SPDX-License-Identifier: MIT */
/** Routes: which one a request takes, what answers where there is none, and what stands before. */
#include "tests/unit/http_router_fixture.h"

/* --- paths --- */

static void test_paths(void **state)
{
    (void)state;
    static const row rows[] = {
        {"GET", "/", "200 /"},
        {"GET", "/?a=b/c", "200 /"},
        {"GET", "http://h/users?x", "200 /users"},
        {"GET", "http://h", "200 /"},
        {"GET", "/users", "200 /users"},
        {"GET", "/users/", "200 /users/"},
        {"GET", "/user", NOT_FOUND},
        {"GET", "/userss", NOT_FOUND},
        {"GET", "/Users", NOT_FOUND},
        {"GET", "/users/me", "200 /users/me"},
        {"GET", "/users/m", "200 /users/:id id=m other="},
        {"GET", "/users/7/posts", "200 /users/:user/posts user=7 id="},
        {"GET", "/users/7/posts/", NOT_FOUND},
        {"GET", "/users//posts", NOT_FOUND},
        {"GET", "/users/me/posts", "200 /users/:user/posts user=me id="},
        {"GET", "/users/7/posts/8", "200 /users/:user/posts/:id user=7 id=8"},
        {"GET", "/files", NOT_FOUND},
        {"GET", "/files/", "200 /files/*path path="},
        {"GET", "/files/a", "200 /files/*path path=a"},
        {"GET", "/files/a//b/../c/", "200 /files/*path path=a//b/../c/"},
        {"GET", "/files/index", "200 /files/index"},
        {"GET", "/files/index/", "200 /files/*path path=index/"},
        {"GET", "/files/by/:x", "200 /files/*path path=by/:x"},
        {"GET", "/a//b", "200 /a//b"},
        {"GET", "/a/b", NOT_FOUND},
        {"GET", "//a/b", NOT_FOUND},
        {"GET", "/./users", NOT_FOUND},
        {"GET", "/x/../users", NOT_FOUND},
    };
    house h;
    house_begin(&h);
    route_to(&h, "GET", "/", "");
    route_to(&h, "GET", "/users", "");
    route_to(&h, "GET", "/users/", "");
    route_to(&h, "GET", "/users/:id", "id,other");
    route_to(&h, "GET", "/users/me", "");
    route_to(&h, "GET", "/users/:user/posts", "user,id");
    route_to(&h, "GET", "/users/:user/posts/:id", "user,id");
    route_to(&h, "GET", "/files/*path", "path");
    route_to(&h, "GET", "/files/index", "");
    route_to(&h, "GET", "/a//b", "");
    house_open(&h);
    EXPECT_ROWS(&h, rows);
    house_end(&h);
}

static void test_encoded(void **state)
{
    (void)state;
    static const row rows[] = {
        {"GET", "/%61dmin", "200 /admin"},
        {"GET", "/%61%64%6D%69%6e", "200 /admin"},
        {"GET", "/a%2Fb", "200 /a%2fb"},
        {"GET", "/a/b", NOT_FOUND},
        {"GET", "/a%20b", "200 /a b"},
        {"GET", "/:x", "200 /%3Ax"},
        {"GET", "/%3ax", "200 /%3Ax"},
        {"GET", "/*", "200 /%2A"},
        {"GET", "/v/%zz", "400 Bad Request\n"},
        {"GET", "/v/%", "400 Bad Request\n"},
        {"GET", "/v/%4", "400 Bad Request\n"},
        {"GET", "/v/%4/", "400 Bad Request\n"},
        {"GET", "/v/%%41", "400 Bad Request\n"},
        {"GET", "/v/%41", "200 /v/:x x=%41"},
        {"GET", "/v/%2F", "200 /v/:x x=%2F"},
        {"GET", "/v/%2e%2e", "200 /v/:x x=%2e%2e"},
        {"GET", "/v/?%zz", NOT_FOUND},
        {"GET", "/nul", NOT_FOUND},
        {"GET", "/nul%00", "200 /nul%00"},
        {"GET", "/admin%00", NOT_FOUND},
        {"GET", "/admi%6e%", "400 Bad Request\n"},
    };
    house h;
    house_begin(&h);
    route_to(&h, "GET", "/admin", "");
    route_to(&h, "GET", "/a%2fb", "");
    route_to(&h, "GET", "/a b", "");
    route_to(&h, "GET", "/%3Ax", "");
    route_to(&h, "GET", "/%2A", "");
    route_to(&h, "GET", "/v/:x", "x");
    route_to(&h, "GET", "/nul%00", "");
    house_open(&h);
    EXPECT_ROWS(&h, rows);
    house_end(&h);
}

/* A branch that leads nowhere is left again, however deep. */
static void test_ways_back(void **state)
{
    (void)state;
    static const row rows[] = {
        {"GET", "/a/b/c", "200 /a/b/c"},
        {"GET", "/a/b/d", "200 /a/:x/d x=b"},
        {"GET", "/a/b/e", "200 /:x/b/e x=a"},
        {"GET", "/a/b/f", "200 /:x/:y/f x=a y=b"},
        {"GET", "/a/b/g", "200 /*all all=a/b/g"},
        {"GET", "/r/b/g", "200 /r/*more more=b/g"},
        {"GET", "/r/b/f", "200 /r/*more more=b/f"},
        {"GET", "/a", "200 /*all all=a"},
        {"GET", "/r", "200 /*all all=r"},
        {"GET", "/r/", "200 /r/*more more="},
        {"GET", "/", "200 /*all all="},
        {"GET", "/a/b/c/", "200 /*all all=a/b/c/"},
        {"POST", "/a/b/c", "200 /:x/:y/c x=a y=b"},
        {"PUT", "/a/b/c", "405 (GET, HEAD, OPTIONS, POST)"},
        {"PUT", "/a/b/z", "405 (GET, HEAD, OPTIONS)"},
    };
    house h;
    house_begin(&h);
    route_to(&h, "GET", "/a/b/c", "");
    route_to(&h, "GET", "/a/:x/d", "x");
    route_to(&h, "GET", "/:x/b/e", "x");
    route_to(&h, "GET", "/:x/:y/f", "x,y");
    route_to(&h, "POST", "/:x/:y/c", "x,y");
    route_to(&h, "GET", "/r/*more", "more");
    route_to(&h, "GET", "/*all", "all");
    house_open(&h);
    EXPECT_ROWS(&h, rows);
    house_end(&h);
}

/* --- methods --- */

static void test_methods(void **state)
{
    (void)state;
    static const row rows[] = {
        {"GET", "/r", "200 /r"},
        {"HEAD", "/r", "200 "},
        {"POST", "/r", "200 /r"},
        {"DELETE", "/r", "405 (GET, HEAD, OPTIONS, POST)"},
        {"OPTIONS", "/r", "204 (GET, HEAD, OPTIONS, POST)"},
        {"HEAD", "/post", "405 (OPTIONS, POST)"},
        {"OPTIONS", "/post", "204 (OPTIONS, POST)"},
        {"GET", "/head", "405 (HEAD, OPTIONS)"},
        {"HEAD", "/head", "200 "},
        {"OPTIONS", "/options", "200 /options"},
        {"GET", "/options", "405 (OPTIONS)"},
        {"GET", "/any/1", "200 /any/:x x=1"},
        {"OPTIONS", "/any/1", "200 /any/:x x=1"},
        {"M-SEARCH", "/any/1", "200 /any/:x x=1"},
        {"PUT", "/any/1", "200 /any/:own own=1"},
        {"PUT", "/none", NOT_FOUND},
        {"OPTIONS", "/none", NOT_FOUND},
        {"OPTIONS", "*", "204 (GET, HEAD, OPTIONS, POST, PUT)"},
    };
    house h;
    house_begin(&h);
    route_to(&h, "GET", "/r", "");
    route_to(&h, "POST", "/r", "");
    route_to(&h, "POST", "/post", "");
    route_to(&h, "HEAD", "/head", "");
    route_to(&h, "OPTIONS", "/options", "");
    route_to(&h, "*", "/any/:x", "x");
    route_to(&h, "PUT", "/any/:own", "own");
    house_open(&h);
    EXPECT_ROWS(&h, rows);
    house_end(&h);
}

static void test_no_routes(void **state)
{
    (void)state;
    house h;
    house_begin(&h);
    house_open(&h);
    expect(&h, "GET", "/", NOT_FOUND);
    expect(&h, "OPTIONS", "/", NOT_FOUND);
    expect(&h, "OPTIONS", "*", "204 (OPTIONS)");
    house_end(&h);
}

static void lost(redd_http_request *req, void *user)
{
    assert_string_equal(redd_http_route_pattern(req), "");
    assert_null(redd_http_param(req, "x").data);
    assert_int_equal(redd_http_respond_text(req, 410, user), 0);
}

static void test_not_found(void **state)
{
    (void)state;
    house h;
    house_begin(&h);
    route_to(&h, "GET", "/a", "");
    redd_http_router_not_found(h.router, lost, "gone");
    house_open(&h);
    expect(&h, "GET", "/b", "410 gone");
    expect(&h, "PUT", "/a", "405 (GET, HEAD, OPTIONS)");
    expect(&h, "GET", "/a", "200 /a");
    house_end(&h);
}

/* --- middleware --- */

/* What the middleware of a request has left behind: names that it was added with. */
static bytes trace;

static bool leave_trace(redd_http_request *req, void *user)
{
    (void)req;
    bytes_text(&trace, user);
    return true;
}

static bool refuse(redd_http_request *req, void *user)
{
    (void)user;
    assert_int_equal(redd_http_respond_text(req, 403, redd_http_route_pattern(req)), 0);
    return false;
}

static void use(house *h, const char *prefix, redd_http_middleware_fn fn, char *name)
{
    assert_int_equal(redd_http_router_use(h->router, prefix, fn, name), 0);
}

static void expect_trace(house *h, const char *target, const char *names)
{
    bytes answer = {0};
    bytes_clear(&trace);
    bytes_text(&trace, "");
    ask(h, "GET", target, &answer);
    if (strcmp(trace.data, names) != 0)
        print_error("GET %s\n", target);
    assert_string_equal(trace.data, names);
    bytes_free(&answer);
}

static void test_middleware(void **state)
{
    (void)state;
    static const struct {
        const char *target, *names;
    } rows[] = {
        {"/", "0"},
        {"/admin", "0134"},
        {"/admin/", "0134"},
        {"/admin/users", "01234"},
        {"/admin/users/7", "01234"},
        {"/admin/user", "0134"},
        {"/admin/none", "0134"},
        {"/administrator", "0"},
        {"/admi", "0"},
        {"/%61dmin", "0134"},
        {"/adm%69n/%75sers", "01234"},
        {"/admin%2Fusers", "0"},
        {"/admin%2Fusers/admin", "0"},
        {"//admin", "0"},
        {"/./admin", "0"},
        {"/x/admin", "0"},
        {"/a%20b/c", "05"},
        {"/a%2fb", "06"},
        {"/a/b", "0"},
    };
    house h;
    house_begin(&h);
    route_to(&h, "GET", "/admin", "");
    route_to(&h, "GET", "/admin/users", "");
    route_to(&h, "GET", "/*all", "");
    use(&h, "/", leave_trace, "0");
    use(&h, "/admin", leave_trace, "1");
    use(&h, "/admin/users", leave_trace, "2");
    use(&h, "/admin/", leave_trace, "3");
    use(&h, "/%61dmin", leave_trace, "4");
    use(&h, "/a b", leave_trace, "5");
    use(&h, "/a%2Fb", leave_trace, "6");
    house_open(&h);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_trace(&h, rows[i].target, rows[i].names);
    bytes_free(&trace);
    house_end(&h);
}

/* "*" is no path, and so under no prefix but the one of all. */
static void test_middleware_of_the_server(void **state)
{
    (void)state;
    house h;
    house_begin(&h);
    use(&h, "/", leave_trace, "0");
    use(&h, "/a", leave_trace, "1");
    use(&h, "/%2a", leave_trace, "2");
    house_open(&h);
    expect(&h, "OPTIONS", "*", "204 (OPTIONS)");
    assert_string_equal(trace.data, "0");
    bytes_free(&trace);
    house_end(&h);
}

/* A router may be a route of another: both see the whole path. */
static void test_router_in_a_router(void **state)
{
    (void)state;
    static const row rows[] = {
        {"GET", "/api/users/7", "200 /api/users/:id id=7 rest="},
        {"PUT", "/api/users/7", "405 (GET, HEAD, OPTIONS)"},
        {"GET", "/api/none", NOT_FOUND},
        {"GET", "/other", "200 /other"},
    };
    house h, inner;
    house_begin(&h);
    assert_int_equal(
        redd_http_router_new(redd_counting_allocator_hook(h.b.counting), &inner.router), 0);
    route_to(&inner, "GET", "/api/users/:id", "id,rest");
    route_to(&h, "GET", "/other", "");
    assert_int_equal(
        redd_http_route(h.router, "*", "/api/*rest", NULL, redd_http_router_handler, inner.router),
        0);
    house_open(&h);
    EXPECT_ROWS(&h, rows);
    redd_http_router_free(inner.router);
    house_end(&h);
}

/* Whatever would have answered is kept from it, and what comes behind as well. */
static void test_middleware_answers(void **state)
{
    (void)state;
    static const row rows[] = {
        {"GET", "/admin/7", "403 /admin/:id"}, {"GET", "/%61dmin/7", "403 /admin/:id"},
        {"GET", "/admin/none/none", "403 "},   {"PUT", "/admin/7", "403 "},
        {"OPTIONS", "/admin/7", "403 "},       {"GET", "/admin/%zz", "400 Bad Request\n"},
        {"GET", "/other", "200 /other"},
    };
    house h;
    house_begin(&h);
    route_to(&h, "GET", "/admin/:id", "");
    route_to(&h, "GET", "/other", "");
    use(&h, "/admin", refuse, NULL);
    use(&h, "/admin", leave_trace, "never");
    redd_http_router_not_found(h.router, lost, "never");
    house_open(&h);
    EXPECT_ROWS(&h, rows);
    assert_null(trace.data);
    house_end(&h);
}

typedef struct later {
    redd_http_request *req;
    redd_timer timer;
} later;

static void on_time(redd_timer *t, void *user)
{
    later *l = user;
    (void)t;
    assert_int_equal(redd_http_respond_text(l->req, 401, "late"), 0);
    redd_http_request_unref(l->req);
}

static bool answer_later(redd_http_request *req, void *user)
{
    later *l = user;
    l->req = redd_http_request_ref(req);
    redd_timer_init(&l->timer, redd_worker_timers(redd_http_worker(req)), on_time, l);
    redd_timer_start(&l->timer, 100);
    return false;
}

static void test_middleware_answers_later(void **state)
{
    (void)state;
    house h;
    later l;
    house_begin(&h);
    route_to(&h, "GET", "/a", "");
    assert_int_equal(redd_http_router_use(h.router, "/", answer_later, &l), 0);
    house_open(&h);
    client_text(&h.c, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_int_equal(h.c.got.len, 0);
    client_wait(&h.c, 100);
    reply r;
    reply_begin(&r, &h.c);
    assert_true(reply_next(&r));
    assert_int_equal(r.status, 401);
    reply_end(&r);
    house_end(&h);
}

/* --- what stays of a route --- */

static redd_http_request *held;

static void hold(redd_http_request *req, void *user)
{
    (void)user;
    held = redd_http_request_ref(req);
    assert_int_equal(redd_http_respond_text(req, 200, "held"), 0);
}

/* The parameters are taken from the request anew, wherever its head lies by then. */
static void test_parameters_stay(void **state)
{
    (void)state;
    house h;
    house_begin(&h);
    assert_int_equal(redd_http_route(h.router, "GET", "/a/:x/*y", NULL, hold, NULL), 0);
    house_open(&h);
    expect(&h, "GET", "/a/1/2/3?x=y", "200 held");
    client_text(&h.c, "GET /none HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_true(redd_slice_equal(redd_http_param(held, "x"), redd_slice_str("1")));
    assert_true(redd_slice_equal(redd_http_param(held, "y"), redd_slice_str("2/3")));
    assert_null(redd_http_param(held, "a").data);
    assert_null(redd_http_param(held, "").data);
    assert_string_equal(redd_http_route_pattern(held), "/a/:x/*y");
    redd_http_request_unref(held);
    house_end(&h);
}

static void read_body(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    (void)last;
    (void)user;
    if (status == 0)
        assert_int_equal(redd_http_respond(req, 200, NULL, 0, data), 0);
}

static void take_body(redd_http_request *req, void *user)
{
    assert_int_equal(redd_http_read_all(req, 0, read_body, user), 0);
}

static void test_max_body(void **state)
{
    (void)state;
    house h;
    redd_http_route_options options = {.struct_size = sizeof options, .max_body = 5};
    house_begin(&h);
    h.b.options.max_body = 10;
    assert_int_equal(redd_http_route(h.router, "POST", "/few", &options, take_body, NULL), 0);
    options.max_body = 20;
    assert_int_equal(redd_http_route(h.router, "POST", "/many", &options, take_body, NULL), 0);
    options.max_body = 0;
    assert_int_equal(redd_http_route(h.router, "POST", "/some", &options, take_body, NULL), 0);
    house_open(&h);
#define POST(target, length) \
    "POST " target " HTTP/1.1\r\nHost: h\r\nContent-Length: " length "\r\n\r\n"
    client_text(&h.c, POST("/few", "5") "12345");
    client_text(&h.c, POST("/some", "10") "1234567890");
    client_text(&h.c, POST("/many", "20") "12345678901234567890");
    client_text(&h.c, POST("/few", "6"));
    assert_true(replies_are(&h.c, "200,200,200,413"));
    house_end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_encoded),
        cmocka_unit_test(test_ways_back),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_no_routes),
        cmocka_unit_test(test_not_found),
        cmocka_unit_test(test_middleware),
        cmocka_unit_test(test_middleware_of_the_server),
        cmocka_unit_test(test_router_in_a_router),
        cmocka_unit_test(test_middleware_answers),
        cmocka_unit_test(test_middleware_answers_later),
        cmocka_unit_test(test_parameters_stay),
        cmocka_unit_test(test_max_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
