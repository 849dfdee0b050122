/* SPDX-License-Identifier: MIT */
/* A server as a resource: its requests queue up until the guest asks for the next. */
#include "ext/http/ops.h"
#include "ext/http/request.h"

#include <uv.h>

/* A request that waits for the guest. There is at most one per connection. */
typedef struct waiting {
    redd__list link;
    struct server_resource *server;
    redd_http_request *req;
} waiting;

typedef struct server_resource server_resource;
struct server_resource {
    redd_resource resource;
    redd__http_state *state;
    redd_listener *listener;
    redd_http_server *server;
    redd__list queue;
    redd_waker *waker; /* of the one next_request in work */
    bool asked;
    bool closed;
};

typedef struct next_request {
    redd_future future;
    server_resource *server;
} next_request;

static server_resource *of_resource(redd_resource *r)
{
    return REDD__LIST_ITEM(r, server_resource, resource);
}

static void drop_waiting(server_resource *s, waiting *w, unsigned status)
{
    redd_http_on_end(w->req, NULL, NULL);
    redd__list_remove(&w->link);
    if (status)
        (void)redd_http_respond(w->req, status, NULL, 0, redd_slice_of(NULL, 0));
    redd_http_request_unref(w->req);
    redd_free(s->state->alloc, w, sizeof *w);
}

static void server_close(redd_resource *r)
{
    server_resource *s = of_resource(r);
    s->closed = true;
    while (!redd__list_empty(&s->queue))
        drop_waiting(s, REDD__LIST_ITEM(s->queue.next, waiting, link), 503);
    redd_waker_fire(&s->waker);
    if (s->server)
        redd_http_server_close(s->server, REDD_STOP_GRACEFUL);
}

/* The server still had its acceptor and its connections, which name the resource. */
static void on_server_end(void *user)
{
    server_resource *s = user;
    s->server = NULL;
    s->closed = true;
    redd_waker_fire(&s->waker); /* no further request will come */
    redd_resource_unref(&s->resource);
}

static void server_free(redd_resource *r)
{
    server_resource *s = of_resource(r);
    redd_listener_free(s->listener);
    redd_free(s->state->alloc, s, sizeof *s);
}

static const redd_resource_vt server_vt = {"httpServer", server_close, server_free};

/* The peer left before the guest came. */
static void on_gone(redd_http_request *req, int status, void *user)
{
    waiting *w = user;
    (void)req;
    (void)status;
    drop_waiting(w->server, w, 0);
}

static void on_request(redd_http_request *req, void *user)
{
    server_resource *s = user;
    waiting *w = redd_alloc(s->state->alloc, sizeof *w);
    if (!w || s->closed) {
        redd_free(s->state->alloc, w, sizeof *w);
        (void)redd_http_respond(req, 503, NULL, 0, redd_slice_of(NULL, 0));
        return;
    }
    w->server = s;
    w->req = redd_http_request_ref(req);
    redd_http_on_end(req, on_gone, w);
    redd__list_append(&s->queue, &w->link);
    redd_waker_fire(&s->waker);
}

/* The acceptor closes with its task, later than the resource: the listener goes with the worker's
 * last reference. */
static int bind_and_serve(redd_worker *w, server_resource *s, const char *host, uint16_t port)
{
    redd_listen_options options = REDD_LISTEN_OPTIONS_INIT;
    options.host = host;
    options.port = port;
    options.balance = REDD_BALANCE_SHARED;
    int rc = redd_listener_bind(redd_worker_runtime(w), &options, &s->listener);
    if (rc == 0)
        rc = redd_http_serve(w, s->listener, NULL, on_request, s, &s->server);
    if (rc == 0) {
        redd_http_server_on_end(s->server, on_server_end, s);
        (void)redd_resource_ref(&s->resource);
    }
    return rc;
}

int redd__http_op_serve(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                        redd_future **pending)
{
    redd__http_state *st = state;
    redd_slice host = redd_bytes_slice(argv[0].as.bytes);
    char text[256];
    (void)pending;
    if (argv[1].as.u32 > UINT16_MAX || host.len >= sizeof text || memchr(host.data, 0, host.len))
        return UV_EINVAL;
    memcpy(text, host.data, host.len);
    text[host.len] = '\0';
    server_resource *s = redd_alloc_zero(st->alloc, sizeof *s);
    if (!s)
        return UV_ENOMEM;
    redd_resource_init(&s->resource, &server_vt);
    s->state = st;
    redd__list_init(&s->queue);
    int rc = bind_and_serve(w, s, text, (uint16_t)argv[1].as.u32);
    redd_rid rid = 0;
    if (rc == 0)
        rc = redd_resource_add(w, &s->resource, &rid);
    if (rc) {
        if (s->server)
            redd_http_server_close(s->server, REDD_STOP_FORCED);
        redd_resource_unref(&s->resource);
        return rc;
    }
    *out = redd_value_resource(rid);
    return 0;
}

static int get_server(redd_worker *w, const redd_value *arg, server_resource **out)
{
    redd_resource *r = NULL;
    int rc = redd_resource_get(w, arg->as.rid, &server_vt, &r);
    *out = rc ? NULL : of_resource(r);
    return rc;
}

int redd__http_op_server_port(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                              redd_future **pending)
{
    server_resource *s;
    redd_address address;
    (void)state;
    (void)pending;
    int rc = get_server(w, &argv[0], &s);
    if (rc)
        return rc;
    redd_listener_address(s->listener, &address);
    *out = redd_value_u32(address.port);
    return 0;
}

static redd_value take_next(server_resource *s)
{
    waiting *w = REDD__LIST_ITEM(s->queue.next, waiting, link);
    redd_rid rid;
    int rc = redd_http_request_to_resource(w->req, &rid);
    drop_waiting(s, w, rc ? 503 : 0);
    return rc ? redd_value_error(rc) : redd_value_resource(rid);
}

static redd_poll next_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    server_resource *s = REDD__LIST_ITEM(f, next_request, future)->server;
    if (!redd__list_empty(&s->queue)) {
        *out = take_next(s);
        return REDD_READY;
    }
    if (s->closed) {
        *out = redd_value_null();
        return REDD_READY;
    }
    redd_waker_keep(&s->waker, waker);
    return REDD_PENDING;
}

static void next_drop(redd_future *f)
{
    next_request *n = REDD__LIST_ITEM(f, next_request, future);
    server_resource *s = n->server;
    s->asked = false;
    redd_waker_keep(&s->waker, NULL);
    redd_free(s->state->alloc, n, sizeof *n);
    redd_resource_unref(&s->resource);
}

static const redd_future_vt next_vt = {"http.next_request", next_poll, next_drop};

int redd__http_op_next_request(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                               redd_future **pending)
{
    redd__http_state *st = state;
    server_resource *s;
    int rc = get_server(w, &argv[0], &s);
    if (rc)
        return rc;
    if (s->asked)
        return UV_EBUSY;
    if (!redd__list_empty(&s->queue)) {
        *out = take_next(s);
        return 0;
    }
    next_request *n = redd_alloc(st->alloc, sizeof *n);
    if (!n)
        return UV_ENOMEM;
    n->future.vt = &next_vt;
    n->server = s;
    s->asked = true;
    (void)redd_resource_ref(&s->resource);
    *pending = &n->future;
    return 0;
}

int redd__http_op_close(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                        redd_future **pending)
{
    server_resource *s;
    (void)state;
    (void)out;
    (void)pending;
    int rc = get_server(w, &argv[0], &s);
    return rc ? rc : redd_resource_close(w, argv[0].as.rid);
}
