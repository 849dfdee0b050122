/* SPDX-License-Identifier: MIT */
/** A guest's view: requests become resources, and everything is called by the names of ops.
 * Includes the fixture; the includer has cmocka. */
#ifndef REDD_TESTS_UNIT_WS_HOST_H
#define REDD_TESTS_UNIT_WS_HOST_H

#include "tests/unit/ws_fixture.h"

/** A server whose requests become resources, and the results of parked calls. */
typedef struct host {
    bed b;
    redd_http_server *server;
    redd_rid request;
    redd_op_call_id done;
    redd_value result;
} host;

static inline void take_request(redd_http_request *req, void *user)
{
    assert_int_equal(redd_http_request_to_resource(req, &((host *)user)->request), 0);
}

static inline void completed(redd_worker *w, const redd_op_call_id *calls, redd_value *values,
                             size_t n, void *user)
{
    host *h = user;
    (void)w; /* there is one */
    assert_int_equal(n, 1);
    h->done = calls[0];
    h->result = values[0];
}

static inline void host_begin(host *h)
{
    memset(h, 0, sizeof *h);
    bed_begin(&h->b);
    assert_int_equal(redd_http_serve(h->b.w, NULL, NULL, take_request, h, &h->server), 0);
    redd_op_on_completion(h->b.w, completed, h);
}

static inline int call(host *h, const char *name, const redd_value *argv, size_t argc,
                       redd_value *out, redd_op_call_id *id)
{
    redd_op_id op = redd_op_find(h->b.rt, name);
    assert_int_not_equal(op, 0);
    *out = redd_value_undefined();
    return redd_op_call(h->b.w, op, argv, argc, out, id);
}

/** An op on the socket with at most two more arguments. */
static inline int call_ws(host *h, const char *name, redd_rid ws, redd_value a, redd_value c,
                          size_t more, redd_value *out)
{
    redd_op_call_id id = 0;
    redd_value argv[3] = {redd_value_resource(ws), a, c};
    int r = call(h, name, argv, 1 + more, out, &id);
    redd_value_drop(&a);
    redd_value_drop(&c);
    if (r == REDD_OP_PARKED)
        h->done = 0;
    return r;
}

static inline redd_value string(host *h, const char *text)
{
    redd_bytes *b;
    assert_int_equal(redd_bytes_copy(redd_worker_allocator(h->b.w), redd_slice_str(text), &b), 0);
    return redd_value_string(b);
}

static inline redd_value binary(host *h, const char *text)
{
    redd_value v = string(h, text);
    v.kind = REDD_BYTES;
    return v;
}

#define NONE redd_value_undefined()

/** A peer whose first bytes hold a request. */
static inline void connect_with(host *h, peer *p, const char *data, size_t len)
{
    redd_stream *ends[2];
    memset(p, 0, sizeof *p);
    p->bed = &h->b;
    assert_int_equal(redd_stream_pair(h->b.w, 256U << 10, ends), 0);
    p->stream = ends[0];
    assert_int_equal(redd_http_serve_stream(h->server, ends[1]), 0);
    peer_send(p, data, len);
    peer_settle(p);
    assert_int_not_equal(h->request, 0);
}

static inline void connect_peer(host *h, peer *p, const char *request)
{
    connect_with(h, p, request, strlen(request));
}

static inline redd_value upgrade(host *h, const char *protocol)
{
    redd_op_call_id id;
    redd_value out,
        argv[2] = {redd_value_resource(h->request), protocol ? string(h, protocol) : NONE};
    assert_int_equal(call(h, "op_http_upgrade_websocket", argv, 2, &out, &id), 0);
    redd_value_drop(&argv[1]);
    assert_int_equal(redd_resource_close(h->b.w, h->request), 0);
    h->request = 0;
    return out;
}

static inline redd_rid open_peer(host *h, peer *p)
{
    connect_peer(h, p, WS_HANDSHAKE);
    redd_value ws = upgrade(h, NULL);
    assert_int_equal(ws.kind, REDD_RESOURCE);
    peer_settle(p);
    assert_int_equal(p->got.len, sizeof WS_ANSWER - 1);
    p->got.len = 0;
    return ws.as.rid;
}

/** The next event, which must be there at once. */
static inline uint32_t next_event(host *h, redd_rid ws)
{
    redd_value out;
    assert_int_equal(call_ws(h, "op_ws_next_event", ws, NONE, NONE, 0, &out), 0);
    assert_int_equal(out.kind, REDD_U32);
    return out.as.u32;
}

static inline void expect_text(redd_value *v, redd_kind kind, const char *text)
{
    assert_int_equal(v->kind, kind);
    redd_slice s = redd_bytes_slice(v->as.bytes);
    assert_int_equal(s.len, strlen(text));
    assert_memory_equal(s.data, text, s.len);
    redd_value_drop(v);
}

static inline void close_host(host *h, peer *p)
{
    if (p->stream)
        redd_stream_close(p->stream, false);
    p->stream = NULL;
    bed_turns(&h->b, 4);
    peer_free(p);
    bed_end(&h->b);
}

#endif
