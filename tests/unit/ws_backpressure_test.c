/* SPDX-License-Identifier: MIT */
/** Backpressure: full queues, drain events, refusals, slow readers, floods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WS_MUST(condition) assert_true(condition)
#include "tests/unit/ws_fixture.h"

#define KIB 1024U
#define MIB (1024U * 1024U)

static const redd_slice nothing = {NULL, 0};

static void send_tells_full_dropped_and_drained(void **state)
{
    (void)state;
    bed b;
    bed_begin(&b);
    b.options.max_queued = 64 * KIB; /* full above 16 KiB, drained at 8 KiB */
    char data[1000] = {0};
    redd_slice message = redd_slice_of(data, sizeof data);
    peer p;
    peer_open(&b, &p, ACT_NOTHING, 4 * KIB);
    unsigned ok = 0, full = 0, dropped = 0;
    for (int i = 0; i < 100; i++) {
        int r = redd_ws_send(p.ws, REDD_WS_BINARY, message);
        if (r == 0) {
            ok++;
            assert_int_equal(full + dropped, 0);
        } else if (r == REDD_WS_FULL) {
            full++;
            assert_int_equal(dropped, 0);
        } else {
            assert_int_equal(r, REDD_ELIMIT);
            dropped++;
        }
    }
    assert_true(ok >= 16 && full > 40 && dropped > 20);
    assert_true(redd_ws_queued(p.ws) <= 64 * KIB + 1024);
    bed_turns(&b, 5);
    assert_int_equal(p.drains, 0); /* the peer has read nothing */
    assert_int_equal(redd_ws_ping(p.ws, nothing), REDD_WS_FULL);
    peer_settle(&p);
    assert_int_equal(p.drains, 1);
    assert_int_equal(p.got.len,
                     (ok + full) * 1004 + 2); /* sent is what was not reported as dropped */
    assert_int_equal(redd_ws_queued(p.ws), 0);
    assert_int_equal(redd_ws_send(p.ws, REDD_WS_BINARY, message), 0);
    peer_settle(&p);
    assert_int_equal(p.drains, 1);

    char *huge = calloc(1, 64 * KIB + 1); /* could never be sent: no drain event would help */
    assert_int_equal(redd_ws_send(p.ws, REDD_WS_BINARY, redd_slice_of(huge, 64 * KIB + 1)),
                     UV_EMSGSIZE);
    assert_int_equal(redd_ws_send(p.ws, REDD_WS_BINARY, redd_slice_of(huge, 64 * KIB)),
                     REDD_WS_FULL);
    peer_settle(&p);
    assert_int_equal(p.drains, 2);
    assert_int_equal(p.got.len, (ok + full) * 1004 + 2 + 1004 + 10 + 64 * KIB);
    free(huge);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

/* A refusal alone, without a FULL before it, owes a drain event, too. */
static void a_refused_message_is_called_back(void **state)
{
    (void)state;
    bed b;
    peer p;
    char *data = calloc(1, 64 * KIB);
    bed_begin(&b);
    b.options.max_queued = 64 * KIB;
    peer_open(&b, &p, ACT_NOTHING, 512);
    assert_int_equal(redd_ws_send(p.ws, REDD_WS_BINARY, redd_slice_of(data, 1500)), 0);
    assert_int_equal(redd_ws_send(p.ws, REDD_WS_BINARY, redd_slice_of(data, 64 * KIB)),
                     REDD_ELIMIT);
    bed_turns(&b, 3);
    peer_settle(&p);
    assert_int_equal(p.drains, 1);
    assert_int_equal(p.got.len, 1504);
    free(data);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

static char refused[60000];

static void try_again(redd_ws *ws, void *user)
{
    peer *p = user;
    if (p->drains++ == 0)
        p->sent = redd_ws_send(ws, REDD_WS_BINARY, redd_slice_of(refused, sizeof refused));
}

static void upgrade_retrying(redd_http_request *req, void *user)
{
    static const redd_ws_handlers retrying = {
        .struct_size = sizeof retrying,
        .open = on_open,
        .drain = try_again,
        .close = on_close,
    };
    bed *b = user;
    b->upgraded = redd_ws_upgrade(req, &b->options, &retrying, b->opening);
}

/* The drain event comes when there is room for what was refused: to try again then works, and the
 * worker does not turn in vain until then. */
static void a_drain_makes_room_for_what_was_refused(void **state)
{
    (void)state;
    bed b;
    peer p;
    bed_begin(&b);
    b.options.max_queued = 64 * KIB;
    assert_int_equal(redd_http_serve(b.w, NULL, NULL, upgrade_retrying, &b, &b.server), 0);
    peer_open(&b, &p, ACT_NOTHING, 512);
    assert_int_equal(redd_ws_send(p.ws, REDD_WS_BINARY, redd_slice_of(refused, 7000)), 0);
    assert_int_equal(redd_ws_send(p.ws, REDD_WS_BINARY, redd_slice_of(refused, sizeof refused)),
                     REDD_ELIMIT);
    bed_turns(&b, 10);
    assert_int_equal(p.drains, 0); /* 6.5 KiB wait */
    peer_settle(&p);
    assert_int_equal(p.sent, REDD_WS_FULL);
    assert_int_equal(p.drains, 2); /* the second one for that */
    assert_true(p.got.len > 7000 + sizeof refused);
    redd_ws_terminate(p.ws);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

/* Small limits are of use, too: half of it may wait before sends ask for a rest. */
static void a_small_queue_is_not_full_at_once(void **state)
{
    (void)state;
    bed b;
    peer p;
    char data[100] = {0};
    bed_begin(&b);
    b.options.max_queued = 1024;
    peer_open(&b, &p, ACT_NOTHING, 64);
    int last = 0;
    unsigned taken = 0;
    for (; last == 0 && taken < 20; taken++)
        last = redd_ws_send(p.ws, REDD_WS_BINARY, redd_slice_of(data, sizeof data));
    assert_int_equal(last, REDD_WS_FULL);
    assert_true(taken > 4 && redd_ws_queued(p.ws) > 512);
    peer_settle(&p);
    assert_int_equal(p.drains, 1);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

static void send_twice(redd_ws *ws, redd_ws_kind kind, redd_slice data, void *user)
{
    peer *p = user;
    for (int i = 0; i < 2; i++) {
        int sent = redd_ws_send(ws, kind, data);
        if (p->sent >= 0)
            p->sent = sent;
    }
}

static void upgrade_amplifying(redd_http_request *req, void *user)
{
    static const redd_ws_handlers amplifying = {
        .struct_size = sizeof amplifying,
        .open = on_open,
        .message = send_twice,
        .close = on_close,
    };
    bed *b = user;
    b->upgraded = redd_ws_upgrade(req, &b->options, &amplifying, b->opening);
}

/* A peer that has gone is no want of memory. */
static void a_failed_stream_is_a_closed_connection(void **state)
{
    (void)state;
    bed b;
    peer p;
    bytes in = {0};
    char data[1000] = {0};
    bed_begin(&b);
    assert_int_equal(redd_http_serve(b.w, NULL, NULL, upgrade_amplifying, &b, &b.server), 0);
    peer_open(&b, &p, ACT_NOTHING, 0);
    for (int i = 0; i < 60; i++)
        put(&in, 0x82, data, sizeof data);
    redd_slice s = redd_slice_of(in.data, in.len);
    size_t n = 0;
    assert_int_equal(p.stream->vt->write(p.stream, &s, 1, &n), 0);
    assert_int_equal(n, in.len);
    redd_stream_close(p.stream, false);
    p.stream = NULL;
    bed_turns(&b, 4);
    assert_int_equal(p.sent, REDD_ECLOSED);
    assert_int_equal(p.last.status, UV_EPIPE);
    bytes_free(&in);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

/* An echo server reads no more than it can answer. */
static void echo_to_a_slow_reader(void **state)
{
    (void)state;
    enum { MESSAGES = 4000 };
    bed b;
    bed_begin(&b);
    char data[1000];
    memset(data, 'e', sizeof data);
    peer p;
    bytes in = {0};
    peer_open(&b, &p, ACT_ECHO, 64 * KIB);
    uint64_t before = memory(&b);
    for (int i = 0; i < MESSAGES; i++)
        put(&in, 0x82, data, sizeof data);
    size_t off = 0;
    for (int stuck = 0; stuck < 50; stuck++) { /* until the server takes no more */
        redd_slice s = redd_slice_of(in.data + off, in.len - off);
        size_t n = 0;
        if (s.len && p.stream->vt->write(p.stream, &s, 1, &n) == 0 && n)
            stuck = 0;
        off += n;
        bed_turns(&b, 1);
    }
    assert_true(off < in.len);
    assert_true(memory(&b) - before < 2 * MIB); /* 512 KiB of queue, grown by doubling */
    assert_int_equal(p.closes, 0);
    peer_send(&p, in.data + off, in.len - off); /* this reads, too */
    peer_settle(&p);
    assert_int_equal(p.messages, MESSAGES);
    assert_int_equal(p.got.len, MESSAGES * 1004);
    assert_int_equal(memory(&b), before);
    peer_close(&p);
    peer_free(&p);
    bytes_free(&in);
    bed_end(&b);
}

/* While output waits, pings cost nothing: the newest is answered. */
static void ping_flood(void **state)
{
    (void)state;
    enum { PINGS = 200000 };
    bed b;
    bed_begin(&b);
    peer p;
    bytes in = {0};
    peer_open(&b, &p, ACT_NOTHING, 16 * KIB);
    uint64_t before = memory(&b);
    for (int i = 0; i < PINGS; i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "%d", i);
        put(&in, 0x89, text, strlen(text));
    }
    size_t off = 0;
    for (int stuck = 0; off < in.len && stuck < 50; stuck++) {
        redd_slice s = redd_slice_of(in.data + off, in.len - off);
        size_t n = 0;
        if (p.stream->vt->write(p.stream, &s, 1, &n) == 0 && n)
            stuck = 0;
        off += n;
        bed_turns(&b, 1);
        assert_true(memory(&b) - before < 256 * KIB);
    }
    assert_int_equal(off, in.len); /* all were read, and forgotten */
    peer_settle(&p);
    assert_true(p.got.len < 300 * KIB);
    assert_true(ENDS_WITH(&p, "\x8a\x06"
                              "199999"));
    peer_close(&p);
    peer_free(&p);
    bytes_free(&in);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(send_tells_full_dropped_and_drained),
        cmocka_unit_test(a_refused_message_is_called_back),
        cmocka_unit_test(a_drain_makes_room_for_what_was_refused),
        cmocka_unit_test(a_small_queue_is_not_full_at_once),
        cmocka_unit_test(a_failed_stream_is_a_closed_connection),
        cmocka_unit_test(echo_to_a_slow_reader),
        cmocka_unit_test(ping_flood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
