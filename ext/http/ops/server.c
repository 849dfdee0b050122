/* SPDX-License-Identifier: MIT */
/* A server as a resource: its requests queue up until the guest asks for the next. */
#include "ext/http/ops/ops.h"
#include "ext/http/ops/request.h"

#include "runtime/base/list.h"

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
    const redd_allocator *alloc;
    redd_listener *listener;
    redd_http_server *server;
    redd__list queue;
    redd__list waits;
    redd_waker *waker; /* of the one next_request in work */
    bool asked;
    bool closed;
};

typedef struct next_request {
    redd_future future;
    server_resource *server;
} next_request;

/* Somebody waits for the end of the server. */
typedef struct end_wait {
    redd_future future;
    redd__list link; /* of server->waits, while it is not over */
    server_resource *server;
    redd_waker *waker;
} end_wait;

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
    redd_free(s->alloc, w, sizeof *w);
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

static void wake_waits(server_resource *s)
{
    for (redd__list *l = s->waits.next; l != &s->waits; l = l->next)
        redd_waker_fire(&REDD__LIST_ITEM(l, end_wait, link)->waker);
}

/* The server still had its acceptor and its connections, which name the resource. */
static void on_server_end(void *user)
{
    server_resource *s = user;
    s->server = NULL;
    s->closed = true;
    redd_waker_fire(&s->waker); /* no further request will come */
    wake_waits(s);
    redd_resource_unref(&s->resource);
}

static void server_free(redd_resource *r)
{
    server_resource *s = of_resource(r);
    redd_listener_free(s->listener);
    redd_free(s->alloc, s, sizeof *s);
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
    waiting *w = redd_alloc(s->alloc, sizeof *w);
    if (!w || s->closed) {
        redd_free(s->alloc, w, sizeof *w);
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
static int bind_and_serve(redd_worker *w, server_resource *s, const redd_listen_options *options)
{
    int rc = redd_listener_bind(redd_worker_runtime(w), options, &s->listener);
    if (rc == 0)
        rc = redd_http_serve(w, s->listener, NULL, on_request, s, &s->server);
    if (rc == 0) {
        redd_http_server_on_end(s->server, on_server_end, s);
        (void)redd_resource_ref(&s->resource);
    }
    return rc;
}

static int serve(redd_worker *w, const redd_listen_options *options, redd_value *out)
{
    const redd_allocator *a = redd_worker_allocator(w);
    server_resource *s = redd_alloc_zero(a, sizeof *s);
    if (!s)
        return UV_ENOMEM;
    redd_resource_init(&s->resource, &server_vt);
    s->alloc = a;
    redd__list_init(&s->queue);
    redd__list_init(&s->waits);
    redd_rid rid = 0;
    int rc = bind_and_serve(w, s, options);
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

REDD__HTTP_OP(serve)
{
    char host[256];
    (void)state, (void)pending;
    int rc = redd__http_terminated(&argv[0], host, sizeof host);
    if (rc || argv[1].as.u32 > UINT16_MAX)
        return rc ? rc : UV_EINVAL;
    redd_listen_options options = REDD_LISTEN_OPTIONS_INIT;
    options.host = host;
    options.port = (uint16_t)argv[1].as.u32;
    options.balance = REDD_BALANCE_SHARED;
    return serve(w, &options, out);
}

REDD__HTTP_OP(serve_unix)
{
    char path[256];
    (void)state, (void)pending;
    int rc = redd__http_terminated(&argv[0], path, sizeof path);
    if (rc || argv[1].as.u32 > 07777)
        return rc ? rc : UV_EINVAL;
    redd_listen_options options = REDD_LISTEN_OPTIONS_INIT;
    options.path = path;
    options.mode = argv[1].as.u32;
    return serve(w, &options, out);
}

static int get_server(redd_worker *w, const redd_value *arg, server_resource **out)
{
    redd_resource *r = NULL;
    int rc = redd_resource_get(w, arg->as.rid, &server_vt, &r);
    *out = rc ? NULL : of_resource(r);
    return rc;
}

REDD__HTTP_OP(server_port)
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
    redd_free(s->alloc, n, sizeof *n);
    redd_resource_unref(&s->resource);
}

static const redd_future_vt next_vt = {"http.next_request", next_poll, next_drop};

REDD__HTTP_OP(next_request)
{
    (void)state;
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
    next_request *n = redd_alloc(s->alloc, sizeof *n);
    if (!n)
        return UV_ENOMEM;
    n->future.vt = &next_vt;
    n->server = s;
    s->asked = true;
    (void)redd_resource_ref(&s->resource);
    *pending = &n->future;
    return 0;
}

REDD__HTTP_OP(close)
{
    server_resource *s;
    (void)state, (void)out, (void)pending;
    int rc = get_server(w, &argv[0], &s);
    return rc ? rc : redd_resource_close(w, argv[0].as.rid);
}

/* --- its end --- */

static end_wait *wait_of(redd_future *f)
{
    return REDD__LIST_ITEM(f, end_wait, future);
}

static redd_poll wait_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    end_wait *e = wait_of(f);
    (void)out;
    if (!e->server->server)
        return REDD_READY;
    redd_waker_keep(&e->waker, waker);
    return REDD_PENDING;
}

static void wait_drop(redd_future *f)
{
    end_wait *e = wait_of(f);
    server_resource *s = e->server;
    redd__list_remove(&e->link);
    redd_waker_keep(&e->waker, NULL);
    redd_free(s->alloc, e, sizeof *e);
    redd_resource_unref(&s->resource);
}

static const redd_future_vt wait_vt = {"http.wait", wait_poll, wait_drop};

REDD__HTTP_OP(wait)
{
    server_resource *s;
    (void)state, (void)out;
    int rc = get_server(w, &argv[0], &s);
    if (rc || !s->server)
        return rc;
    end_wait *e = redd_alloc_zero(s->alloc, sizeof *e);
    if (!e)
        return UV_ENOMEM;
    e->future.vt = &wait_vt;
    e->server = s;
    redd__list_append(&s->waits, &e->link);
    (void)redd_resource_ref(&s->resource);
    *pending = &e->future;
    return 0;
}
