/* SPDX-License-Identifier: MIT */
/** The conformance tables, by a guest: it is handed each request as a resource id and does the rest
 * through ops, which it has found by name once. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_reply.h"
#include "tests/unit/http_rows_app.h"

#include <redd/op.h>

enum { MAX_PENDING = 16 };

/** Ops as the guest knows them. */
typedef struct guest_ops {
    redd_op_id method, url, read_piece, read_all, trailers, respond, close;
} guest_ops;

/** A call that goes on, and for which request. */
typedef struct guest_call {
    redd_op_call_id call;
    redd_rid request;
    bool piece, trailers;
} guest_call;

typedef struct guest {
    redd_worker *w;
    guest_ops ops;
    rows_app *app;
    guest_call pending[MAX_PENDING];
    size_t n_pending;
} guest;

/* One at a time: each table has a bed of its own. */
static guest the_guest;

/* --- calling --- */

/* Takes the arguments. 0, or what the call returned. */
static int call(guest *g, redd_op_id op, redd_value *args, size_t n, redd_value *out,
                redd_op_call_id *id)
{
    *out = redd_value_undefined();
    int rc = redd_op_call(g->w, op, args, n, out, id);
    for (size_t i = 0; i < n; i++)
        redd_value_drop(&args[i]);
    return rc;
}

static redd_value call_now(guest *g, redd_op_id op, redd_value *args, size_t n)
{
    redd_value out;
    redd_op_call_id id;
    HTTP_MUST(call(g, op, args, n, &out, &id) == 0);
    return out;
}

static redd_value request_value(redd_rid rid)
{
    return redd_value_resource(rid);
}

static void close_request(guest *g, redd_rid rid)
{
    (void)call_now(g, g->ops.close, (redd_value[]){request_value(rid)}, 1);
}

static void respond(guest *g, redd_rid rid, unsigned status, const char *text)
{
    redd_bytes *b;
    HTTP_MUST(redd_bytes_copy(redd_worker_allocator(g->w), redd_slice_str(text), &b) == 0);
    redd_value args[] = {request_value(rid), redd_value_u32(status), redd_value_string(b)};
    (void)call_now(g, g->ops.respond, args, 3);
    close_request(g, rid);
}

/* --- bodies --- */

static void on_result(guest *g, guest_call c, redd_value v);

/* Results come at once or with a later batch. */
static void read_body(guest *g, redd_rid rid, bool piece, bool trailers)
{
    redd_value out, args[] = {request_value(rid), redd_value_u32(0)};
    guest_call c = {.request = rid, .piece = piece, .trailers = trailers};
    int rc =
        call(g, piece ? g->ops.read_piece : g->ops.read_all, args, piece ? 1 : 2, &out, &c.call);
    if (rc == REDD_OP_PARKED) {
        HTTP_MUST(g->n_pending < MAX_PENDING);
        g->pending[g->n_pending++] = c;
        return;
    }
    on_result(g, c, rc ? redd_value_error(rc) : out);
}

/* "name NUL value NUL ..." */
static void note_trailers(guest *g, redd_rid rid)
{
    redd_value v = call_now(g, g->ops.trailers, (redd_value[]){request_value(rid)}, 1);
    redd_slice all = redd_bytes_slice(v.as.bytes);
    for (const char *p = all.data, *end = all.data + all.len; p < end;) {
        const char *name = p, *value = name + strlen(name) + 1;
        bytes_text(&g->app->body, "[");
        bytes_text(&g->app->body, name);
        bytes_text(&g->app->body, ":");
        bytes_text(&g->app->body, value);
        bytes_text(&g->app->body, "]");
        p = value + strlen(value) + 1;
    }
    redd_value_drop(&v);
}

static void on_whole(guest *g, guest_call c)
{
    rows_app *app = g->app;
    bytes_add(&app->body, app->pieces.data, app->pieces.len);
    bytes_clear(&app->pieces);
    if (c.trailers)
        note_trailers(g, c.request);
    respond(g, c.request, 200, "ok");
}

static void on_result(guest *g, guest_call c, redd_value v)
{
    if (v.kind == REDD_ERROR) { /* the server has answered, or the client has gone */
        close_request(g, c.request);
        return;
    }
    bool more = v.kind == REDD_BYTES;
    if (more) {
        redd_slice s = redd_bytes_slice(v.as.bytes);
        bytes_add(&g->app->pieces, s.data, s.len);
    }
    redd_value_drop(&v);
    if (c.piece && more)
        read_body(g, c.request, true, c.trailers);
    else
        on_whole(g, c);
}

static void on_completion(redd_worker *w, const redd_op_call_id *calls, redd_value *values,
                          size_t n, void *user)
{
    guest *g = user;
    (void)w;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < g->n_pending && g->pending[k].call != calls[i])
            k++;
        HTTP_MUST(k < g->n_pending);
        guest_call c = g->pending[k];
        g->pending[k] = g->pending[--g->n_pending];
        on_result(g, c, values[i]);
        values[i] = redd_value_undefined();
    }
}

/* --- requests --- */

/* The path of an origin-form or absolute-form target. */
static redd_slice path_of(redd_slice target)
{
    size_t scheme = slice_find(target, "://"), from = 0;
    if (target.len > 0 && target.data[0] != '/' && scheme != SIZE_MAX)
        for (from = scheme + 3; from < target.len && target.data[from] != '/'; from++)
            ;
    redd_slice path = redd_slice_of(target.data + from, target.len - from);
    size_t query = slice_find(path, "?");
    return query == SIZE_MAX ? path : redd_slice_of(path.data, query);
}

static void guest_on_request(guest *g, redd_rid rid)
{
    redd_value method = call_now(g, g->ops.method, (redd_value[]){request_value(rid)}, 1);
    redd_value url = call_now(g, g->ops.url, (redd_value[]){request_value(rid)}, 1);
    redd_slice path = path_of(redd_bytes_slice(url.as.bytes));
    g->app->requests++;
    bytes_clear(&g->app->pieces);
    if (rows_app_is(redd_bytes_slice(method.as.bytes), "CONNECT"))
        respond(g, rid, 403, "no");
    else if (rows_app_is(path, "/unread"))
        respond(g, rid, 200, "ok");
    else
        read_body(g, rid, rows_app_is(path, "/pieces"), rows_app_is(path, "/trailers"));
    redd_value_drop(&method);
    redd_value_drop(&url);
}

/* The host's part: a resource id is all that the guest gets. */
static void hand_to_guest(redd_http_request *req, void *user)
{
    redd_rid rid;
    (void)user;
    HTTP_MUST(redd_http_request_to_resource(req, &rid) == 0);
    guest_on_request(&the_guest, rid);
}

static redd_op_id find(const bed *b, const char *name)
{
    redd_op_id id = redd_op_find(b->rt, name);
    HTTP_MUST(id != 0);
    return id;
}

static void guest_begin(bed *b, rows_app *app)
{
    the_guest = (guest){
        .w = b->w,
        .app = app,
        .ops = {.method = find(b, "op_http_get_request_method"),
                .url = find(b, "op_http_get_request_url"),
                .read_piece = find(b, "op_http_read_request_body"),
                .read_all = find(b, "op_http_read_full_request_body"),
                .trailers = find(b, "op_http_get_request_trailers"),
                .respond = find(b, "op_http_set_response_body_text"),
                .close = find(b, "op_close")},
    };
    redd_op_on_completion(b->w, on_completion, &the_guest);
}

#define CONFORMANCE_HANDLER hand_to_guest
#define CONFORMANCE_BEGIN   guest_begin
#include "tests/unit/http_conformance.h"

int main(void)
{
    return conformance_main();
}
