/* SPDX-License-Identifier: MIT */
/** The ops: a guest that pulls its events and calls everything by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WS_MUST(condition) assert_true(condition)
#include "tests/unit/ws_host.h"

static void a_conversation(void **state)
{
    (void)state;
    host h;
    peer p;
    redd_value out;
    host_begin(&h);
    redd_rid ws = open_peer(&h, &p);

    SEND(&p, 0x81, "text");
    SEND(&p, 0x82, "bin");
    SEND(&p, 0x8a, "pong");
    assert_int_equal(next_event(&h, ws), 0);
    assert_int_equal(call_ws(&h, "op_ws_get_buffer_as_string", ws, NONE, NONE, 0, &out), 0);
    expect_text(&out, REDD_STRING, "text");
    assert_int_equal(call_ws(&h, "op_ws_get_buffer", ws, NONE, NONE, 0, &out), 0);
    assert_int_equal(out.kind, REDD_NULL); /* it was taken */
    assert_int_equal(next_event(&h, ws), 1);
    assert_int_equal(call_ws(&h, "op_ws_get_buffer", ws, NONE, NONE, 0, &out), 0);
    expect_text(&out, REDD_BYTES, "bin");
    assert_int_equal(next_event(&h, ws), 2);

    assert_int_equal(call_ws(&h, "op_ws_next_event", ws, NONE, NONE, 0, &out), REDD_OP_PARKED);
    redd_value again;
    assert_int_equal(call_ws(&h, "op_ws_next_event", ws, NONE, NONE, 0, &again), REDD_ESTATE);
    bed_turns(&h.b, 3);
    assert_int_equal(h.done, 0);
    SEND(&p, 0x81, "later");
    assert_int_not_equal(h.done, 0);
    assert_int_equal(h.result.as.u32, 0);
    assert_int_equal(call_ws(&h, "op_ws_get_buffer_as_string", ws, NONE, NONE, 0, &out), 0);
    expect_text(&out, REDD_STRING, "later");

    assert_int_equal(call_ws(&h, "op_ws_send_text", ws, string(&h, "hi"), NONE, 1, &out), 0);
    assert_true(out.kind == REDD_BOOL && out.as.boolean);
    assert_int_equal(call_ws(&h, "op_ws_get_buffered_amount", ws, NONE, NONE, 0, &out), 0);
    assert_true(out.kind == REDD_F64 && out.as.f64 == 4);
    assert_int_equal(call_ws(&h, "op_ws_send_binary", ws, binary(&h, "\xff"), NONE, 1, &out), 0);
    assert_int_equal(call_ws(&h, "op_ws_send_ping", ws, NONE, NONE, 0, &out), 0);
    assert_int_equal(call_ws(&h, "op_ws_close", ws, redd_value_u32(1005), NONE, 2, &out),
                     UV_EINVAL);
    assert_int_equal(
        call_ws(&h, "op_ws_close", ws, redd_value_u32(4000), string(&h, "bye"), 2, &out), 0);
    assert_int_equal(call_ws(&h, "op_ws_send_text", ws, string(&h, "x"), NONE, 1, &out),
                     REDD_ECLOSED);
    peer_settle(&p);
    EXPECT_GOT(&p, "\x81\x02hi\x82\x01\xff\x89\x00\x88\x05\x0f\xa0"
                   "bye");
    SEND(&p, 0x88, "\x03\xe8well");
    assert_int_equal(next_event(&h, ws), 1000);
    assert_int_equal(call_ws(&h, "op_ws_get_error", ws, NONE, NONE, 0, &out), 0);
    expect_text(&out, REDD_STRING, "well");
    assert_int_equal(call_ws(&h, "op_ws_next_event", ws, NONE, NONE, 0, &out), REDD_ECLOSED);
    assert_int_equal(redd_resource_close(h.b.w, ws), 0);
    assert_int_equal(call_ws(&h, "op_ws_next_event", ws, NONE, NONE, 0, &out), REDD_ERESOURCE);
    close_host(&h, &p);
}

static void errors_come_before_the_close(void **state)
{
    (void)state;
    host h;
    peer p;
    redd_value out;
    host_begin(&h);
    redd_rid ws = open_peer(&h, &p);
    SEND(&p, 0x81, "kept");
    SEND(&p, 0x83, "bad");
    assert_int_equal(next_event(&h, ws), 0);
    assert_int_equal(next_event(&h, ws), 3);
    assert_int_equal(call_ws(&h, "op_ws_get_error", ws, NONE, NONE, 0, &out), 0);
    expect_text(&out, REDD_STRING, "the peer broke the protocol");
    assert_int_equal(next_event(&h, ws), 1006);
    assert_int_equal(redd_resource_close(h.b.w, ws), 0);
    close_host(&h, &p);
}

/* While nobody asks, little is kept and the peer is made to wait; nothing is lost. */
static void events_wait_and_so_does_the_peer(void **state)
{
    (void)state;
    enum { MESSAGES = 3000 };
    host h;
    peer p;
    redd_value out;
    host_begin(&h);
    redd_rid ws = open_peer(&h, &p);
    char data[1000];
    memset(data, 'm', sizeof data);
    bytes in = {0};
    for (int i = 0; i < MESSAGES; i++)
        put(&in, 0x82, data, sizeof data);
    size_t off = 0;
    for (int stuck = 0; stuck < 20; stuck++) {
        redd_slice s = redd_slice_of(in.data + off, in.len - off);
        size_t n = 0;
        if (p.stream->vt->write(p.stream, &s, 1, &n) == 0 && n)
            stuck = 0;
        off += n;
        bed_turns(&h.b, 1);
    }
    redd_allocator_stats stats;
    redd_counting_allocator_stats(h.b.counting, &stats);
    assert_true(off < in.len && stats.bytes < 2U << 20);
    for (int i = 0; i < 5; i++) { /* our silence is not the peer's */
        redd_clock_advance(h.b.clock, 100000);
        bed_turns(&h.b, 2);
    }
    peer_take(&p);
    assert_int_equal(p.got.len, 0);
    for (int taken = 0; taken < MESSAGES;) {
        redd_slice s = redd_slice_of(in.data + off, in.len - off);
        size_t n = 0;
        if (s.len && p.stream->vt->write(p.stream, &s, 1, &n) == 0)
            off += n;
        bed_turns(&h.b, 1);
        int r = call_ws(&h, "op_ws_next_event", ws, NONE, NONE, 0, &out);
        if (r == REDD_OP_PARKED) {
            while (!h.done)
                bed_turns(&h.b, 1);
            out = h.result;
        }
        assert_int_equal(out.as.u32, 1);
        taken++;
    }
    bytes_free(&in);
    assert_int_equal(redd_resource_close(h.b.w, ws), 0);
    close_host(&h, &p);
}

/* Takes `n` events that must come in order: binary, empty but for every 1000th, which has its
 * number in two bytes. */
static void take_numbered(host *h, redd_rid ws, unsigned n)
{
    redd_value out;
    for (unsigned i = 0; i < n; i++) {
        if (call_ws(h, "op_ws_next_event", ws, NONE, NONE, 0, &out) == REDD_OP_PARKED) {
            for (int turns = 0; !h->done; turns++) {
                assert_true(turns < 10);
                bed_turns(&h->b, 1);
            }
            out = h->result;
        }
        assert_int_equal(out.as.u32, 1);
        if (i % 1000)
            continue;
        assert_int_equal(call_ws(h, "op_ws_get_buffer", ws, NONE, NONE, 0, &out), 0);
        redd_slice s = redd_bytes_slice(out.as.bytes);
        assert_int_equal(s.len, 2);
        assert_int_equal((unsigned char)s.data[0] << 8 | (unsigned char)s.data[1], i);
        redd_value_drop(&out);
    }
}

static void put_numbered(bytes *in, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        put(in, 0x82, (char[2]){(char)(i >> 8), (char)i}, i % 1000 ? 0 : 2);
}

/* One read may bring thousands of messages: no more of them become events than the queue takes. */
static void a_burst_waits_as_bytes(void **state)
{
    (void)state;
    enum { MESSAGES = 20000 };
    host h;
    peer p;
    redd_value out;
    bytes in = {0};
    redd_allocator_stats before, after;
    host_begin(&h);
    redd_rid ws = open_peer(&h, &p);
    put_numbered(&in, MESSAGES);
    redd_counting_allocator_stats(h.b.counting, &before);
    redd_slice s = redd_slice_of(in.data, in.len);
    size_t n;
    assert_int_equal(p.stream->vt->write(p.stream, &s, 1, &n), 0);
    assert_int_equal(n, in.len);
    bed_turns(&h.b, 10);
    redd_counting_allocator_stats(h.b.counting, &after);
    assert_true(after.blocks - before.blocks < 200);
    assert_true(after.bytes - before.bytes < in.len + 16384); /* the stream holds bytes, too */
    take_numbered(&h, ws, MESSAGES);
    bed_turns(&h.b, 4);
    assert_int_equal(call_ws(&h, "op_ws_next_event", ws, NONE, NONE, 0, &out), REDD_OP_PARKED);
    SEND(&p, 0x88, "\x03\xe8");
    assert_int_equal(h.result.as.u32, 1000);
    bytes_free(&in);
    assert_int_equal(redd_resource_close(h.b.w, ws), 0);
    close_host(&h, &p);
}

/* As above, for what comes with the handshake; and a guest that closes finds the peer's Close
 * behind all that it has not looked at. */
static void a_burst_with_the_handshake(void **state)
{
    (void)state;
    enum { MESSAGES = 1500 };
    for (unsigned closes = 0; closes < 2; closes++) {
        host h;
        peer p;
        redd_value out;
        bytes in = {0};
        host_begin(&h);
        bytes_text(&in, WS_HANDSHAKE);
        put_numbered(&in, MESSAGES);
        put(&in, 0x88, "\x03\xe8", 2);
        connect_with(&h, &p, in.data, in.len);
        redd_rid ws = upgrade(&h, NULL).as.rid;
        peer_settle(&p);
        assert_int_equal(redd_ws_count(h.b.w), 1);
        if (closes)
            assert_int_equal(call_ws(&h, "op_ws_close", ws, redd_value_u32(4000), NONE, 2, &out),
                             0);
        else
            take_numbered(&h, ws, MESSAGES);
        peer_settle(&p);
        assert_true(p.eof);
        assert_int_equal(redd_ws_count(h.b.w), 0);
        for (unsigned left = closes ? 64 : 0; left > 0; left--)
            assert_int_equal(next_event(&h, ws), 1);
        assert_int_equal(next_event(&h, ws), 1000);
        bytes_free(&in);
        assert_int_equal(redd_resource_close(h.b.w, ws), 0);
        close_host(&h, &p);
    }
}

/* Bytes that nobody has checked are no string. */
static void binary_is_no_string(void **state)
{
    (void)state;
    host h;
    peer p;
    redd_value out;
    host_begin(&h);
    redd_rid ws = open_peer(&h, &p);
    SEND(&p, 0x82, "\xff\xfe");
    SEND(&p, 0x8a, "\xff");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(next_event(&h, ws), i ? 2 : 1);
        assert_int_equal(call_ws(&h, "op_ws_get_buffer_as_string", ws, NONE, NONE, 0, &out),
                         UV_EINVAL);
        assert_int_equal(call_ws(&h, "op_ws_get_buffer", ws, NONE, NONE, 0, &out), 0);
        expect_text(&out, REDD_BYTES, i ? "\xff" : "\xff\xfe");
        assert_int_equal(call_ws(&h, "op_ws_get_buffer_as_string", ws, NONE, NONE, 0, &out), 0);
        assert_int_equal(out.kind, REDD_NULL);
    }
    assert_int_equal(redd_resource_close(h.b.w, ws), 0);
    close_host(&h, &p);
}

static void letting_go_ends_the_connection(void **state)
{
    (void)state;
    host h;
    peer p;
    redd_value out;
    host_begin(&h);
    redd_rid ws = open_peer(&h, &p); /* with an event waiting, and a call parked */
    assert_int_equal(call_ws(&h, "op_ws_next_event", ws, NONE, NONE, 0, &out), REDD_OP_PARKED);
    assert_int_equal(redd_resource_close(h.b.w, ws), 0);
    peer_settle(&p);
    assert_true(p.reset);
    assert_int_not_equal(h.done, 0);
    assert_int_equal(h.result.as.u32, 3);
    peer_free(&p);

    connect_peer(&h, &p, WS_HANDSHAKE); /* before its open event */
    redd_value early = upgrade(&h, NULL);
    assert_int_equal(redd_resource_close(h.b.w, early.as.rid), 0);
    peer_settle(&p);
    assert_true(p.reset);
    assert_int_equal(redd_ws_count(h.b.w), 0);
    close_host(&h, &p);
}

/* A guest may close the handshake and let go of the socket before the connection's first turn: the
 * handshake goes on without it. */
static void closed_and_let_go_before_it_opens(void **state)
{
    (void)state;
    host h;
    peer p;
    redd_value out;
    host_begin(&h);
    connect_peer(&h, &p, WS_HANDSHAKE);
    redd_rid ws = upgrade(&h, NULL).as.rid;
    assert_int_equal(call_ws(&h, "op_ws_close", ws, redd_value_u32(1000), NONE, 2, &out), 0);
    assert_int_equal(redd_resource_close(h.b.w, ws), 0);
    peer_settle(&p);
    assert_int_equal(p.got.len, sizeof WS_ANSWER - 1 + 4);
    assert_memory_equal(p.got.data + sizeof WS_ANSWER - 1, "\x88\x02\x03\xe8", 4);
    SEND(&p, 0x88, "\x03\xe8");
    assert_true(p.eof);
    assert_int_equal(redd_ws_count(h.b.w), 0);
    close_host(&h, &p);
}

static void refusals_are_null(void **state)
{
    (void)state;
    host h;
    peer p;
    host_begin(&h);
    connect_peer(&h, &p, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    redd_value ws = upgrade(&h, NULL);
    assert_int_equal(ws.kind, REDD_NULL);
    peer_settle(&p);
    assert_memory_equal(p.got.data, "HTTP/1.1 426 ", 13);
    redd_stream_close(p.stream, false);
    p.stream = NULL;
    bed_turns(&h.b, 3);
    peer_free(&p);

    connect_peer(&h, &p, WS_REQUEST "Sec-WebSocket-Protocol: a, b\r\n\r\n");
    ws = upgrade(&h, "b");
    assert_int_equal(ws.kind, REDD_RESOURCE);
    peer_settle(&p);
    assert_non_null(strstr(p.got.data, "\r\nSec-WebSocket-Protocol: b\r\n"));
    assert_int_equal(redd_resource_close(h.b.w, ws.as.rid), 0);
    assert_int_equal(redd_resource_count(h.b.w), 0);
    close_host(&h, &p);
}

/* A stop drops what waits, in whatever order. */
static void stops_with_a_guest(void **state)
{
    (void)state;
    for (int parked = 0; parked < 2; parked++) {
        host h;
        peer p;
        redd_value out;
        host_begin(&h);
        redd_rid ws = open_peer(&h, &p);
        SEND(&p, 0x81, "one");
        SEND(&p, 0x81, "two");
        for (int i = 0; parked && i < 3; i++)
            assert_int_equal(call_ws(&h, "op_ws_next_event", ws, NONE, NONE, 0, &out),
                             i < 2 ? 0 : REDD_OP_PARKED);
        redd_stream_close(p.stream, false);
        p.stream = NULL;
        bed_stop(&h.b, REDD_STOP_FORCED);
        while (!h.b.gone)
            (void)uv_run(&h.b.loop, UV_RUN_ONCE);
        peer_free(&p);
        bed_end(&h.b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_conversation),
        cmocka_unit_test(errors_come_before_the_close),
        cmocka_unit_test(events_wait_and_so_does_the_peer),
        cmocka_unit_test(a_burst_waits_as_bytes),
        cmocka_unit_test(a_burst_with_the_handshake),
        cmocka_unit_test(binary_is_no_string),
        cmocka_unit_test(letting_go_ends_the_connection),
        cmocka_unit_test(closed_and_let_go_before_it_opens),
        cmocka_unit_test(refusals_are_null),
        cmocka_unit_test(stops_with_a_guest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
