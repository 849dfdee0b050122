/* SPDX-License-Identifier: MIT */
/** Stops of worker and server: drains, forced stops, upgrades that come in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WS_MUST(condition) assert_true(condition)
#include "tests/unit/ws_fixture.h"

#define CAPACITY (256U << 10)

static void until_gone(bed *b)
{
    for (int i = 0; i < 50 && !b->gone; i++)
        bed_turns(b, 1);
    assert_true(b->gone);
}

static void a_drain_closes_every_socket(void **state)
{
    (void)state;
    enum { PEERS = 5 };
    bed b;
    peer p[PEERS];
    bed_begin(&b);
    for (int i = 0; i < PEERS; i++)
        peer_open(&b, &p[i], ACT_ECHO, CAPACITY);
    bed_stop(&b, REDD_STOP_GRACEFUL);
    for (int i = 0; i < PEERS; i++) {
        peer_settle(&p[i]);
        EXPECT_GOT(&p[i], "\x88\x16\x03\xe9server shutting down");
        assert_false(b.gone);
        if (i < PEERS - 1) {
            SEND(&p[i], 0x88, "\x03\xe9");
            assert_string_equal(p[i].log.data, "open\nclose 1001 sent 1001 clean ok \n");
            peer_close(&p[i]);
        }
    }
    peer_pass(&p[PEERS - 1], 5000); /* who does not answer is not waited for */
    assert_string_equal(p[PEERS - 1].log.data, "open\nclose 1006 sent 1001 unclean ETIMEDOUT \n");
    peer_close(&p[PEERS - 1]);
    until_gone(&b);
    for (int i = 0; i < PEERS; i++)
        peer_free(&p[i]);
    bed_end(&b);
}

static void a_forced_stop_tells_each_socket(void **state)
{
    (void)state;
    bed b;
    peer idle, early;
    bed_begin(&b);
    peer_open(&b, &idle, ACT_ECHO, CAPACITY);
    assert_int_equal(peer_connect(&b, &early, ACT_ECHO, CAPACITY), 0); /* before its open event */
    redd_stream_close(early.stream, false);
    early.stream = NULL;
    redd_stream_close(idle.stream, false);
    idle.stream = NULL;
    bed_stop(&b, REDD_STOP_FORCED);
    until_gone(&b);
    assert_int_equal(idle.closes, 1);
    assert_int_equal(idle.last.code, 1006);
    assert_int_equal(early.opens, early.closes);
    peer_free(&idle);
    peer_free(&early);
    bed_end(&b);
}

static void upgrade_and_stop(redd_http_request *req, void *user)
{
    bed *b = user;
    on_request(req, b);
    bed_stop(b, REDD_STOP_FORCED);
}

/* Who ends before the open event is told of the end all the same: `user` was handed over. */
static void ends_before_the_open_event(void **state)
{
    (void)state;
    bed b;
    peer p;
    bed_prepare(&b);
    b.run_budget = 1; /* the handler's turn is not the socket's */
    assert_int_equal(bed_try_begin(&b), 0);
    assert_int_equal(redd_http_serve(b.w, NULL, NULL, upgrade_and_stop, &b, &b.server), 0);
    assert_int_equal(peer_connect(&b, &p, ACT_NOTHING, CAPACITY), 0);
    redd_slice s = redd_slice_str(WS_HANDSHAKE);
    size_t n;
    assert_int_equal(p.stream->vt->write(p.stream, &s, 1, &n), 0);
    for (int i = 0; i < 5 && !b.stopping; i++)
        bed_turns(&b, 1);
    assert_int_equal(b.upgraded, 0);
    redd_stream_close(p.stream, false);
    p.stream = NULL;
    until_gone(&b);
    assert_string_equal(p.log.data, "close 1006 sent 0 unclean ECANCELED \n");
    peer_free(&p);
    bed_end(&b);
}

/* An upgrade and a shutdown in either order: the 101 is followed by a Close, or there is none. */
static void upgrade_in_a_drain(void **state)
{
    (void)state;
    for (int turns_between = 0; turns_between < 4; turns_between++) {
        bed b;
        peer p;
        bed_begin(&b);
        assert_int_equal(peer_connect(&b, &p, ACT_ECHO, CAPACITY), 0);
        peer_send(&p, WS_REQUEST, sizeof WS_REQUEST - 1); /* the head is not whole yet */
        bed_stop(&b, REDD_STOP_GRACEFUL);
        bed_turns(&b, turns_between);
        peer_send(&p, "\r\n", 2);
        peer_settle(&p);
        if (p.opens) {
            assert_string_equal(p.got.data + p.got.len - 24,
                                "\x88\x16\x03\xe9server shutting down");
            peer_send(&p, "\x88\x82\x00\x00\x00\x00\x03\xe9", 8);
            peer_settle(&p);
            assert_string_equal(p.log.data, "open\nclose 1001 sent 1001 clean ok \n");
        } else if (p.got.len) {
            assert_int_equal(status_of(&p), 503);
        }
        assert_true(p.eof || p.reset);
        peer_close(&p);
        until_gone(&b);
        peer_free(&p);
        bed_end(&b);
    }
}

static void close_and_upgrade(redd_http_request *req, void *user)
{
    bed *b = user;
    redd_http_server_close(b->server, REDD_STOP_GRACEFUL);
    on_request(req, b);
}

/* A server may go while its worker stays: then, too, the request is answered. */
static void upgrade_on_a_closing_server(void **state)
{
    (void)state;
    bed b;
    peer p;
    bed_begin(&b);
    assert_int_equal(redd_http_serve(b.w, NULL, NULL, close_and_upgrade, &b, &b.server), 0);
    exchange(&b, &p, WS_HANDSHAKE);
    assert_int_equal(b.upgraded, REDD_WS_REFUSED);
    assert_int_equal(status_of(&p), 503);
    assert_non_null(strstr(p.got.data, "\r\nConnection: close\r\n"));
    assert_true(p.eof);
    assert_int_equal(p.opens + p.closes, 0);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drain_closes_every_socket),
        cmocka_unit_test(a_forced_stop_tells_each_socket),
        cmocka_unit_test(ends_before_the_open_event),
        cmocka_unit_test(upgrade_in_a_drain),
        cmocka_unit_test(upgrade_on_a_closing_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
