/* SPDX-License-Identifier: MIT */
/** The ops, called as a guest's host calls them, with a client over TCP. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_tcp.h"

#include <redd/op.h>

enum { MAX_DONE = 16 };

/** A host: calls by name, and takes note of the calls that end later. */
typedef struct host {
    bed b;
    redd_value server, request;
    uint16_t port;
    struct {
        redd_op_call_id call;
        redd_value value;
    } done[MAX_DONE];
    size_t n_done;
} host;

static void on_completion(redd_worker *w, const redd_op_call_id *calls, redd_value *values,
                          size_t n, void *user)
{
    host *h = user;
    (void)w;
    for (size_t i = 0; i < n; i++) {
        assert_true(h->n_done < MAX_DONE);
        h->done[h->n_done].call = calls[i];
        h->done[h->n_done++].value = values[i];
    }
}

static redd_value text(const host *h, const char *s)
{
    redd_bytes *b;
    const redd_allocator *a = redd_worker_allocator(h->b.w);
    assert_int_equal(redd_bytes_copy(a, redd_slice_str(s), &b), 0);
    return redd_value_string(b);
}

/* Takes the arguments. Returns what the op call returned. */
static int call(host *h, const char *name, redd_value *args, size_t n, redd_value *out,
                redd_op_call_id *id)
{
    redd_op_call_id dummy;
    redd_op_id op = redd_op_find(h->b.rt, name);
    assert_int_not_equal(op, 0);
    *out = redd_value_undefined();
    int rc = redd_op_call(h->b.w, op, args, n, out, id ? id : &dummy);
    for (size_t i = 0; i < n; i++)
        redd_value_drop(&args[i]);
    return rc;
}

static redd_value call_now(host *h, const char *name, redd_value *args, size_t n)
{
    redd_value out;
    assert_int_equal(call(h, name, args, n, &out, NULL), 0);
    return out;
}

static void expect_bytes(redd_value v, redd_kind kind, const char *data, size_t len)
{
    assert_int_equal(v.kind, kind);
    assert_true(redd_slice_equal(redd_bytes_slice(v.as.bytes), redd_slice_of(data, len)));
    redd_value_drop(&v);
}

static void expect_text(redd_value v, const char *s)
{
    expect_bytes(v, REDD_STRING, s, strlen(s));
}

static bool take_done(host *h, redd_op_call_id id, redd_value *out)
{
    for (size_t i = 0; i < h->n_done; i++) {
        if (h->done[i].call != id)
            continue;
        *out = h->done[i].value;
        h->done[i] = h->done[--h->n_done];
        return true;
    }
    return false;
}

static redd_value await(host *h, redd_op_call_id id)
{
    redd_value v;
    UNTIL(&h->b, take_done(h, id, &v));
    return v;
}

/* Calls an op that may end now or later. */
static redd_value call_await(host *h, const char *name, redd_value arg)
{
    redd_value out;
    redd_op_call_id id;
    int rc = call(h, name, &arg, 1, &out, &id);
    if (rc == REDD_OP_PARKED)
        return await(h, id);
    return rc ? redd_value_error(rc) : out;
}

static void host_begin(host *h)
{
    memset(h, 0, sizeof *h);
    bed_prepare(&h->b);
    assert_int_equal(bed_try_begin(&h->b), 0);
    redd_op_on_completion(h->b.w, on_completion, h);
    redd_value args[] = {text(h, "127.0.0.1"), redd_value_u32(0)};
    h->server = call_now(h, "op_http_serve", args, 2);
    assert_int_equal(h->server.kind, REDD_RESOURCE);
    redd_value port = call_now(h, "op_http_server_port", (redd_value[]){h->server}, 1);
    assert_int_equal(port.kind, REDD_U32);
    assert_in_range(port.as.u32, 1, UINT16_MAX);
    h->port = (uint16_t)port.as.u32;
}

static void host_end(host *h)
{
    for (size_t i = 0; i < h->n_done; i++)
        redd_value_drop(&h->done[i].value);
    bed_end(&h->b);
}

static void put_text(client *c, const char *s)
{
    assert_int_equal(client_put(c, s, strlen(s)), strlen(s));
}

static bool take_reply(client *c, reply *r)
{
    size_t pos = r->got ? r->pos : 0;
    (void)client_take(c, SIZE_MAX);
    reply_end(r);
    reply_begin(r, c);
    r->pos = pos;
    return reply_next(r);
}

/* The next response, when all of it has come. */
static void await_reply(client *c, reply *r)
{
    UNTIL(c->bed, take_reply(c, r));
}

static void next_request(host *h)
{
    h->request = call_await(h, "op_http_next_request", h->server);
    assert_int_equal(h->request.kind, REDD_RESOURCE);
}

static void respond(host *h, unsigned status, const char *body)
{
    redd_value args[] = {h->request, redd_value_u32(status), text(h, body)};
    (void)call_now(h, "op_http_set_response_body_text", args, 3);
}

static void close_request(host *h)
{
    assert_int_equal(redd_resource_close(h->b.w, h->request.as.rid), 0);
}

/* --- tests --- */

static void test_one_request(void **state)
{
    (void)state;
    host h;
    client c;
    reply r = {0};
    host_begin(&h);
    tcp_connect(&h.b, &c, h.port);
    put_text(&c, "POST /a?b HTTP/1.1\r\nHost: h\r\nX-One: 1\r\nX-one: 2\r\n"
                 "Content-Length: 11\r\n\r\nhello");
    next_request(&h);
    redd_value q = h.request;
    expect_text(call_now(&h, "op_http_get_request_method", (redd_value[]){q}, 1), "POST");
    expect_text(call_now(&h, "op_http_get_request_url", (redd_value[]){q}, 1), "/a?b");
    redd_value args[] = {q, text(&h, "x-ONE")};
    expect_bytes(call_now(&h, "op_http_get_request_header", args, 2), REDD_BYTES, "1", 1);
    redd_value none[] = {q, text(&h, "absent")};
    assert_int_equal(call_now(&h, "op_http_get_request_header", none, 2).kind, REDD_NULL);
    static const char all[] = "Host\0h\0X-One\0"
                              "1\0X-one\0"
                              "2\0Content-Length\0"
                              "11";
    expect_bytes(call_now(&h, "op_http_get_request_headers", (redd_value[]){q}, 1), REDD_BYTES, all,
                 sizeof all);
    redd_value peer = call_now(&h, "op_http_get_request_remote_addr", (redd_value[]){q}, 1);
    redd_slice address = redd_bytes_slice(peer.as.bytes);
    assert_true(address.len > 10 && memcmp(address.data, "127.0.0.1:", 10) == 0);
    redd_value_drop(&peer);
    expect_bytes(call_await(&h, "op_http_read_request_body", q), REDD_BYTES, "hello", 5);
    put_text(&c, " world");
    expect_bytes(call_await(&h, "op_http_read_request_body", q), REDD_BYTES, " world", 6);
    assert_int_equal(call_await(&h, "op_http_read_request_body", q).kind, REDD_NULL);
    assert_int_equal(call_await(&h, "op_http_read_request_body", q).kind, REDD_NULL);
    redd_value field[] = {q, text(&h, "X-Two"), text(&h, "two")};
    (void)call_now(&h, "op_http_set_response_header", field, 3);
    respond(&h, 201, "made");
    close_request(&h);
    await_reply(&c, &r);
    assert_int_equal(r.status, 201);
    assert_true(reply_field_is(&r, "x-two", "two"));
    assert_true(reply_body_is(&r, "made"));
    reply_end(&r);
    tcp_disconnect(&c);
    host_end(&h);
}

/** Requests queue up until the guest asks. */
static void test_queue(void **state)
{
    (void)state;
    enum { CLIENTS = 3 };
    host h;
    client c[CLIENTS];
    reply r = {0};
    host_begin(&h);
    for (int i = 0; i < CLIENTS; i++) {
        tcp_connect(&h.b, &c[i], h.port);
        put_text(&c[i], "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    }
    for (int i = 0; i < CLIENTS; i++) {
        next_request(&h);
        redd_value answer[] = {h.request, redd_value_u32(200), text(&h, "raw")};
        answer[2].kind = REDD_BYTES;
        (void)call_now(&h, "op_http_set_response_body_bytes", answer, 3);
        close_request(&h);
    }
    for (int i = 0; i < CLIENTS; i++) {
        await_reply(&c[i], &r);
        assert_true(reply_body_is(&r, "raw"));
        reply_end(&r);
        r = (reply){0};
        tcp_disconnect(&c[i]);
    }
    assert_int_equal(redd_resource_count(h.b.w), 1);
    host_end(&h);
}

/** A request that a guest drops is answered all the same. */
static void test_closed_unanswered(void **state)
{
    (void)state;
    host h;
    client c;
    reply r = {0};
    host_begin(&h);
    tcp_connect(&h.b, &c, h.port);
    put_text(&c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    next_request(&h);
    close_request(&h);
    await_reply(&c, &r);
    assert_int_equal(r.status, 500);
    redd_value out, gone = h.request;
    assert_int_equal(call(&h, "op_http_get_request_url", &gone, 1, &out, NULL), REDD_ERESOURCE);
    reply_end(&r);
    tcp_disconnect(&c);
    host_end(&h);
}

static void test_bad_calls(void **state)
{
    (void)state;
    host h;
    client c;
    redd_value out;
    host_begin(&h);
    redd_value port[] = {text(&h, "127.0.0.1"), redd_value_u32(65536)};
    assert_int_equal(call(&h, "op_http_serve", port, 2, &out, NULL), UV_EINVAL);
    redd_value taken[] = {text(&h, "127.0.0.1"), redd_value_u32(h.port)};
    assert_int_equal(call(&h, "op_http_serve", taken, 2, &out, NULL), UV_EADDRINUSE);
    redd_value wrong[] = {redd_value_u32(1)};
    assert_int_equal(call(&h, "op_http_server_port", wrong, 1, &out, NULL), REDD_EARGUMENT);
    redd_value server[] = {h.server};
    assert_int_equal(call(&h, "op_http_get_request_method", server, 1, &out, NULL), REDD_ERESOURCE);
    tcp_connect(&h.b, &c, h.port);
    put_text(&c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    next_request(&h);
    redd_value field[] = {h.request, text(&h, "Content-Length"), text(&h, "7")};
    (void)call_now(&h, "op_http_set_response_header", field, 3);
    redd_value answer[] = {h.request, redd_value_u32(200), text(&h, "x")};
    assert_int_equal(call(&h, "op_http_set_response_body_text", answer, 3, &out, NULL), UV_EINVAL);
    close_request(&h);
    tcp_disconnect(&c);
    host_end(&h);
}

/** One asks at a time; closing the server ends the asking, and the requests that wait. */
static void test_close(void **state)
{
    (void)state;
    host h;
    client c;
    reply r = {0};
    redd_value out;
    redd_op_call_id id;
    host_begin(&h);
    redd_value arg = h.server;
    assert_int_equal(call(&h, "op_http_next_request", &arg, 1, &out, &id), REDD_OP_PARKED);
    arg = h.server;
    assert_int_equal(call(&h, "op_http_next_request", &arg, 1, &out, NULL), UV_EBUSY);
    (void)call_now(&h, "op_http_close", (redd_value[]){h.server}, 1);
    assert_int_equal(await(&h, id).kind, REDD_NULL);
    assert_int_equal(redd_resource_count(h.b.w), 0);
    host_end(&h);

    host_begin(&h);
    tcp_connect(&h.b, &c, h.port);
    put_text(&c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    next_request(&h);
    (void)call_now(&h, "op_http_close", (redd_value[]){h.server}, 1);
    respond(&h, 200, "last");
    close_request(&h);
    await_reply(&c, &r);
    assert_int_equal(r.status, 200);
    assert_true(reply_closes(&r));
    reply_end(&r);
    tcp_disconnect(&c);
    host_end(&h);
}

/** A guest that reads a body, and a peer that goes. */
static void test_peer_goes(void **state)
{
    (void)state;
    host h;
    client c;
    redd_value out;
    redd_op_call_id id;
    host_begin(&h);
    tcp_connect(&h.b, &c, h.port);
    put_text(&c, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n");
    next_request(&h);
    redd_value arg = h.request;
    assert_int_equal(call(&h, "op_http_read_request_body", &arg, 1, &out, &id), REDD_OP_PARKED);
    tcp_disconnect(&c);
    out = await(&h, id);
    assert_int_equal(out.kind, REDD_ERROR);
    assert_int_equal(out.as.i32, UV_ECONNRESET);
    redd_value answer[] = {h.request, redd_value_u32(200), text(&h, "x")};
    assert_int_equal(call(&h, "op_http_set_response_body_text", answer, 3, &out, NULL),
                     REDD_ECLOSED);
    close_request(&h);
    host_end(&h);
}

/** Calls that are canceled, and a worker that stops with everything still in work. */
static void test_stopped_in_work(void **state)
{
    (void)state;
    host h;
    client c[2];
    redd_value out;
    redd_op_call_id id, next;
    host_begin(&h);
    for (int i = 0; i < 2; i++) {
        tcp_connect(&h.b, &c[i], h.port);
        put_text(&c[i], "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n");
        next_request(&h);
        redd_value arg = h.request;
        assert_int_equal(call(&h, "op_http_read_request_body", &arg, 1, &out, &id), REDD_OP_PARKED);
        if (i == 0) {
            assert_int_equal(redd_op_cancel(h.b.w, id), 0);
            put_text(&c[0], "hello");
        }
    }
    redd_value arg = h.server;
    assert_int_equal(call(&h, "op_http_next_request", &arg, 1, &out, &next), REDD_OP_PARKED);
    for (int i = 0; i < 2; i++)
        tcp_disconnect(&c[i]);
    host_end(&h);
}

/** Requests of peers that leave before the guest comes cost nothing afterwards. */
static void test_peers_that_do_not_wait(void **state)
{
    (void)state;
    enum { WARM = 10, CONNECTIONS = 3000 };
    static const struct linger hard = {.l_onoff = 1, .l_linger = 0};
    static const char get[] = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    host h;
    redd_allocator_stats warm = {0};
    host_begin(&h);
    for (int i = 0; i < CONNECTIONS; i++) {
        uint64_t before = bed_memory(&h.b).allocations;
        int fd = tcp_socket(h.port, 0);
        assert_int_equal(send(fd, get, sizeof get - 1, MSG_NOSIGNAL), sizeof get - 1);
        while (bed_memory(&h.b).allocations == before) /* once warm: until it is in the queue */
            bed_turns(&h.b, 1);
        bed_turns(&h.b, i < WARM ? 10 : 1);
        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
        assert_int_equal(close(fd), 0);
        bed_turns(&h.b, i < WARM ? 10 : 3);
        if (i == WARM)
            warm = bed_memory(&h.b);
    }
    bed_turns(&h.b, 10);
    assert_int_equal(bed_memory(&h.b).blocks, warm.blocks);
    assert_int_equal(bed_memory(&h.b).bytes, warm.bytes);
    host_end(&h);
}

/** A guest that asks for requests learns that there will be none, and holds no stop up. */
static void test_graceful_stop_while_asking(void **state)
{
    (void)state;
    host h;
    redd_value out, arg;
    redd_op_call_id id;
    host_begin(&h);
    arg = h.server;
    assert_int_equal(call(&h, "op_http_next_request", &arg, 1, &out, &id), REDD_OP_PARKED);
    bed_detach(&h.b, REDD_STOP_GRACEFUL);
    bed_turns(&h.b, 50); /* and no time passes */
    assert_true(take_done(&h, id, &out));
    assert_int_equal(out.kind, REDD_NULL);
    assert_true(h.b.gone);
    host_end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_request),
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_closed_unanswered),
        cmocka_unit_test(test_bad_calls),
        cmocka_unit_test(test_close),
        cmocka_unit_test(test_peer_goes),
        cmocka_unit_test(test_stopped_in_work),
        cmocka_unit_test(test_peers_that_do_not_wait),
        cmocka_unit_test(test_graceful_stop_while_asking),
    };
    (void)alarm(60); /* a wait for what does not come ends the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
