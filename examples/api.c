/* SPDX-License-Identifier: MIT */
/* A notice board: what is posted to a topic is told to everyone who watches. Run it, and then talk
 * to the address that it prints:
 *
 *     redd serve examples/api.c
 *     curl -N localhost:8000/events &
 *     curl -H 'Authorization: Bearer sesame' -F text='Hello' localhost:8000/topics/greetings
 *     curl localhost:8000/
 */
#include <redd/redd.h>

#include <stdio.h>

enum { WATCHERS = 100 };

typedef struct board { /* one for each worker */
    redd_http_router *router;
    unsigned notices;
    redd_http_events *watchers[WATCHERS];
} board;

/* GET / */
static void get_status(redd_http_request *req, void *user)
{
    const board *b = user;
    char json[32];
    int n = snprintf(json, sizeof(json), "{\"notices\":%u}", b->notices);
    redd_http_respond_typed(req, 200, "application/json", redd_slice_of(json, (size_t)n));
}

/* A field of a posted form, or, of a long one, a piece. */
static bool on_data(redd_http_form *form, redd_slice data, bool last, void *user)
{
    board *b = user;
    redd_slice topic = redd_http_param(redd_http_form_request(form), "topic");
    char id[16];
    int n = snprintf(id, sizeof(id), "%u", ++b->notices);
    (void)last;
    for (size_t i = 0; i < WATCHERS; i++)
        if (b->watchers[i]) /* whoever reads too slowly misses it */
            redd_http_events_send(b->watchers[i], topic, redd_slice_of(id, (size_t)n), data);
    return true;
}

static void on_form_end(redd_http_form *form, int status, void *user)
{
    (void)user;
    redd_http_respond_text(redd_http_form_request(form), status ? 400 : 201, "");
}

/* POST /topics/:topic */
static void post_notice(redd_http_request *req, void *user)
{
    const redd_http_form_options options = {
        .struct_size = sizeof(options), .on_data = on_data, .on_end = on_form_end, .user = user};
    redd_http_form *form;
    if (redd_http_form_read(req, &options, &form) != 0)
        redd_http_respond_text(req, 415, "Not a form\n");
}

/* Before everything under /topics. */
static bool check_token(redd_http_request *req, void *user)
{
    if (redd_slice_equal(redd_http_field_get(req, "authorization", 0), redd_slice_str(user)))
        return true;
    redd_http_respond_text(req, 401, "Who are you?\n");
    return false;
}

static void on_gone(redd_http_events *events, int status, void *user)
{
    board *b = user;
    (void)status;
    for (size_t i = 0; i < WATCHERS; i++)
        if (b->watchers[i] == events)
            b->watchers[i] = NULL;
}

/* GET /events */
static void watch(redd_http_request *req, void *user)
{
    const redd_http_events_options options = {
        .struct_size = sizeof(options), .on_end = on_gone, .user = user};
    redd_http_events **slot = ((board *)user)->watchers, **end = slot + WATCHERS;
    while (slot < end && *slot)
        slot++;
    if (slot == end || redd_http_events_start(req, &options, slot) != 0)
        redd_http_respond_text(req, 503, "Too many are watching\n");
}

static void board_free(redd_worker *w, void *state)
{
    board *b = state;
    if (b)
        redd_http_router_free(b->router);
    redd_free(redd_worker_allocator(w), b, sizeof(*b));
}

static int board_new(redd_worker *w, void *shared, void **state)
{
    const redd_allocator *a = redd_worker_allocator(w);
    board *b = *state = redd_alloc_zero(a, sizeof(*b));
    (void)shared;
    if (b && redd_http_router_new(a, &b->router) == 0 &&
        redd_http_route(b->router, "GET", "/", NULL, get_status, b) == 0 &&
        redd_http_route(b->router, "GET", "/events", NULL, watch, b) == 0 &&
        redd_http_route(b->router, "POST", "/topics/:topic", NULL, post_notice, b) == 0 &&
        redd_http_router_use(b->router, "/topics", check_token, "Bearer sesame") == 0)
        return 0;
    board_free(w, b);
    return -ENOMEM;
}

static void serve(redd_http_request *req, void *user)
{
    redd_http_router_handler(req, ((board *)user)->router);
}

REDD_APP(.name = "api", .serve = serve, .worker_init = board_new, .worker_fini = board_free)
