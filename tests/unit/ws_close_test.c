/* SPDX-License-Identifier: MIT */
/** Ends: closing handshakes, timers, terminate, what the peer leaves undone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WS_MUST(condition) assert_true(condition)
#include "tests/unit/ws_fixture.h"

#define CAPACITY (256U << 10)

static const redd_slice nothing = {NULL, 0};

/* --- handshakes --- */

static size_t tasks(const bed *b)
{
    const redd_executor *ex = redd_worker_executor(b->w);
    return ex->vt->live(ex);
}

static void our_close_is_answered(void **state)
{
    (void)state;
    bed b;
    peer p;
    bed_begin(&b);
    size_t before = tasks(&b);
    peer_open(&b, &p, ACT_NOTHING, CAPACITY);
    assert_int_equal(redd_ws_close(p.ws, 4001, redd_slice_str("enough")), 0);
    assert_int_equal(redd_ws_close(p.ws, 1000, nothing), REDD_ECLOSED);
    assert_int_equal(redd_ws_send(p.ws, REDD_WS_TEXT, nothing), REDD_ECLOSED);
    assert_int_equal(redd_ws_ping(p.ws, nothing), REDD_ECLOSED);
    peer_settle(&p);
    EXPECT_GOT(&p, "\x88\x08\x0f\xa1"
                   "enough");
    assert_false(p.eof);
    SEND(&p, 0x81, "ignored");
    SEND(&p, 0x89, "ignored");
    SEND(&p, 0x01, "ignored");
    SEND(&p, 0x81, "not even an error");
    SEND(&p, 0x88, "\x0f\xa1");
    assert_string_equal(p.log.data, "open\nclose 4001 sent 4001 clean ok \n");
    EXPECT_GOT(&p, "\x88\x08\x0f\xa1"
                   "enough");
    assert_true(p.eof);                      /* the server closes first */
    assert_int_equal(tasks(&b), before + 1); /* it lingers, */
    peer_close(&p);
    assert_int_equal(tasks(&b), before); /* but not longer than the peer */
    peer_free(&p);
    bed_end(&b);
}

/* Of a message that will never be complete nothing is kept. */
static void a_close_drops_half_a_message(void **state)
{
    (void)state;
    bed b;
    peer p;
    redd_allocator_stats before, after;
    char *half = calloc(1, 100000);
    bed_begin(&b);
    peer_open(&b, &p, ACT_NOTHING, CAPACITY);
    redd_counting_allocator_stats(b.counting, &before);
    peer_frame(&p, 0x02, half, 100000);
    redd_counting_allocator_stats(b.counting, &after);
    assert_true(after.bytes >= before.bytes + 100000);
    assert_int_equal(redd_ws_close(p.ws, 1000, nothing), 0);
    peer_settle(&p);
    redd_counting_allocator_stats(b.counting, &after);
    assert_true(after.bytes < before.bytes + 8192);
    free(half);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

static void closes_without_a_code(void **state)
{
    (void)state;
    bed b;
    peer p;
    bed_begin(&b);
    peer_open(&b, &p, ACT_NOTHING, CAPACITY);
    assert_int_equal(redd_ws_close(p.ws, 0, nothing), 0);
    peer_settle(&p);
    EXPECT_GOT(&p, "\x88\x00");
    SEND(&p, 0x88, "");
    assert_string_equal(p.log.data, "open\nclose 1005 sent 0 clean ok \n");
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

/* Both sides close at the same moment: no second Close goes out. */
static void closes_that_cross(void **state)
{
    (void)state;
    bed b;
    peer p;
    bed_begin(&b);
    peer_open(&b, &p, ACT_CLOSE, CAPACITY);
    bytes in = {0};
    put(&in, 0x81, "close!", 6);
    put(&in, 0x88, "\x03\xe9", 2);
    peer_send(&p, in.data, in.len);
    peer_settle(&p);
    EXPECT_GOT(&p, "\x88\x05\x0f\xa0"
                   "bye");
    assert_string_equal(p.log.data, "open\ntext 6 close!\nclose 1001 sent 4000 clean ok \n");
    bytes_free(&in);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

static void what_was_queued_goes_out_first(void **state)
{
    (void)state;
    bed b;
    peer p;
    char data[20000];
    memset(data, 'q', sizeof data);
    bed_begin(&b);
    peer_open(&b, &p, ACT_NOTHING, 4096);
    assert_int_equal(redd_ws_send(p.ws, REDD_WS_TEXT, redd_slice_of(data, sizeof data)), 0);
    bytes in = {0};
    put(&in, 0x83, "", 0); /* a violation, while most of the message waits */
    redd_slice s = redd_slice_of(in.data, in.len);
    size_t n;
    assert_int_equal(p.stream->vt->write(p.stream, &s, 1, &n), 0);
    bed_turns(&b, 5);
    assert_int_equal(p.closes, 0); /* not before its output is gone */
    peer_settle(&p);
    assert_int_equal(p.got.len, 4 + sizeof data + 4);
    assert_memory_equal(p.got.data + 4 + sizeof data, "\x88\x02\x03\xea", 4);
    assert_true(p.eof);
    assert_int_equal(p.closes, 1);
    bytes_free(&in);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

/* The Close is given its time once it is out: a slow reader sees it. Before, its reading counts,
 * and nothing else. */
static void close_behind_a_slow_reader(void **state)
{
    (void)state;
    bed b;
    peer p;
    char *data = calloc(1, 100000);
    bed_begin(&b);
    b.options.close_timeout_ms = 5000;
    for (int stalls = 0; stalls < 2; stalls++) {
        peer_open(&b, &p, ACT_NOTHING, 4096);
        assert_int_equal(redd_ws_send(p.ws, REDD_WS_BINARY, redd_slice_of(data, 100000)), 0);
        assert_int_equal(redd_ws_close(p.ws, 1000, nothing), 0);
        bytes in = {0};
        for (int i = 0; i < (stalls ? 5 : 40); i++) {
            char some[4096];
            size_t n = 0;
            redd_clock_advance(b.clock, 2000);
            bed_turns(&b, 2);
            if (p.stream->vt->read(p.stream, some, sizeof some, &n) == 0)
                bytes_add(&in, some, n);
            bed_turns(&b, 2);
        }
        assert_int_equal(p.closes, stalls ? 0 : 1); /* the Close has had its 5 s */
        if (stalls) {
            SEND(&p, 0x81, "talking instead of reading");
            p.got.len = 0; /* it read once more */
            redd_clock_advance(b.clock, 4999);
            bed_turns(&b, 3);
            assert_int_equal(p.closes, 0);
            redd_clock_advance(b.clock, 1);
            bed_turns(&b, 3);
        } else {
            assert_int_equal(in.len, 10 + 100000 + 4);
            assert_memory_equal(in.data + in.len - 4, "\x88\x02\x03\xe8", 4);
        }
        assert_string_equal(p.log.data, "open\nclose 1006 sent 1000 unclean ETIMEDOUT \n");
        bytes_free(&in);
        peer_close(&p);
        peer_free(&p);
    }
    free(data);
    bed_end(&b);
}

/* A full queue cannot keep the Close back. */
static void close_behind_a_full_queue(void **state)
{
    (void)state;
    bed b;
    peer p;
    char data[1000] = {0};
    bed_begin(&b);
    b.options.max_queued = 16 << 10;
    peer_open(&b, &p, ACT_NOTHING, 4096);
    while (redd_ws_send(p.ws, REDD_WS_BINARY, redd_slice_of(data, sizeof data)) != REDD_ELIMIT)
        bed_turns(&b, 1);
    assert_int_equal(redd_ws_close(p.ws, 1000, nothing), 0);
    peer_settle(&p);
    assert_memory_equal(p.got.data + p.got.len - 4, "\x88\x02\x03\xe8", 4);
    SEND(&p, 0x88, "\x03\xe8");
    assert_true(p.last.clean);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

/* --- what peers leave undone --- */

static void end_without_a_close(void **state)
{
    (void)state;
    static const char *const cuts[] = {"", "\x81", "\x81\x85", "\x81\x85\x01\x02\x03\x04half",
                                       "\x89"};
    bed b;
    peer p;
    bed_begin(&b);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        peer_open(&b, &p, ACT_ECHO, CAPACITY);
        peer_send(&p, cuts[i], strlen(cuts[i]));
        peer_settle(&p);
        assert_int_equal(redd_stream_shutdown(p.stream), 0);
        peer_settle(&p);
        assert_string_equal(p.log.data, "open\nclose 1006 sent 0 unclean EOF \n");
        EXPECT_GOT(&p, "");
        assert_true(p.eof);
        peer_close(&p);
        peer_free(&p);
    }
    bed_end(&b);
}

static void reset_by_the_peer(void **state)
{
    (void)state;
    bed b;
    peer p;
    bed_begin(&b);
    peer_open(&b, &p, ACT_ECHO, CAPACITY);
    redd_stream_close(p.stream, true);
    p.stream = NULL;
    bed_turns(&b, 4);
    assert_string_equal(p.log.data, "open\nclose 1006 sent 0 unclean ECONNRESET \n");
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

static void our_close_is_never_answered(void **state)
{
    (void)state;
    bed b;
    peer p;
    bed_begin(&b);
    b.options.close_timeout_ms = 3000;
    peer_open(&b, &p, ACT_NOTHING, CAPACITY);
    assert_int_equal(redd_ws_close(p.ws, 1000, nothing), 0);
    peer_settle(&p);
    peer_pass(&p, 2999);
    SEND(&p, 0x81, "talking on does not help");
    assert_int_equal(p.closes, 0);
    peer_pass(&p, 1);
    assert_string_equal(p.log.data, "open\nclose 1006 sent 1000 unclean ETIMEDOUT \n");
    assert_true(p.reset || p.eof);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

/* A peer that neither reads nor goes is not waited for beyond the timer, in any phase. */
static void ends_that_hang(void **state)
{
    (void)state;
    bed b;
    peer p;
    char data[20000] = {0};
    bed_begin(&b);
    peer_open(&b, &p, ACT_NOTHING, 4096); /* output that does not leave */
    assert_int_equal(redd_ws_send(p.ws, REDD_WS_BINARY, redd_slice_of(data, sizeof data)), 0);
    bytes in = {0};
    put(&in, 0x88, "\x03\xe8", 2);
    redd_slice s = redd_slice_of(in.data, in.len);
    size_t n;
    assert_int_equal(p.stream->vt->write(p.stream, &s, 1, &n), 0);
    bed_turns(&b, 4);
    assert_int_equal(p.closes, 0);
    redd_clock_advance(b.clock, 5000);
    bed_turns(&b, 4);
    assert_string_equal(p.log.data, "open\nclose 1000 sent 1000 unclean ETIMEDOUT \n");
    peer_close(&p);
    peer_free(&p);
    bytes_free(&in);

    peer_open(&b, &p, ACT_NOTHING, CAPACITY); /* a peer that stays after the handshake */
    SEND(&p, 0x88, "\x03\xe8");
    assert_string_equal(p.log.data, "open\nclose 1000 sent 1000 clean ok \n");
    assert_true(p.eof);
    assert_int_equal(redd_ws_count(b.w), 0);
    p.eof = false;
    SEND(&p, 0x81, "discarded");
    peer_pass(&p, 5000);
    size_t put_n;
    assert_int_equal(p.stream->vt->write(p.stream, &s, 1, &put_n), UV_EPIPE);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

/* --- from inside of callbacks --- */

static void ends_from_callbacks(void **state)
{
    (void)state;
    bed b;
    peer p;
    bed_begin(&b);
    assert_int_equal(peer_connect(&b, &p, ACT_OPEN_TERMINATE, CAPACITY), 0);
    peer_send(&p, WS_HANDSHAKE, sizeof WS_HANDSHAKE - 1);
    peer_settle(&p);
    assert_string_equal(p.log.data, "open\nclose 1006 sent 0 unclean ECANCELED \n");
    peer_close(&p);
    peer_free(&p);

    peer_open(&b, &p, ACT_OPEN_CLOSE, CAPACITY);
    EXPECT_GOT(&p, "\x88\x02\x03\xe8");
    SEND(&p, 0x81, "too late");
    SEND(&p, 0x88, "\x03\xe8");
    assert_string_equal(p.log.data, "open\nclose 1000 sent 1000 clean ok \n");
    peer_close(&p);
    peer_free(&p);

    peer_open(&b, &p, ACT_OPEN_SEND, CAPACITY);
    EXPECT_GOT(&p, "\x81\x07welcome");
    peer_close(&p);
    peer_free(&p);

    peer_open(&b, &p, ACT_TERMINATE, CAPACITY);
    bytes in = {0};
    put(&in, 0x81, "one", 3);
    put(&in, 0x81, "two", 3);
    put(&in, 0x01, "thr", 3);
    peer_send(&p, in.data, in.len);
    peer_settle(&p);
    assert_string_equal(p.log.data, "open\ntext 3 one\nclose 1006 sent 0 unclean ECANCELED \n");
    assert_true(p.reset);
    bytes_free(&in);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

static void terminate_from_outside(void **state)
{
    (void)state;
    bed b;
    peer p;
    bed_begin(&b);
    peer_open(&b, &p, ACT_NOTHING, CAPACITY);
    redd_ws_terminate(p.ws);
    redd_ws_terminate(p.ws);
    assert_int_equal(p.closes, 0); /* soon, but not inside the call */
    peer_settle(&p);
    assert_string_equal(p.log.data, "open\nclose 1006 sent 0 unclean ECANCELED \n");
    assert_true(p.reset);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

static void a_reference_outlives_the_connection(void **state)
{
    (void)state;
    bed b;
    peer p;
    redd_address a;
    bed_begin(&b);
    peer_open(&b, &p, ACT_NOTHING, CAPACITY);
    redd_ws *ws = redd_ws_ref(p.ws);
    peer_close(&p);
    assert_int_equal(redd_ws_send(ws, REDD_WS_TEXT, nothing), REDD_ECLOSED);
    assert_int_equal(redd_ws_ping(ws, nothing), REDD_ECLOSED);
    assert_int_equal(redd_ws_close(ws, 1000, nothing), REDD_ECLOSED);
    redd_ws_terminate(ws);
    assert_int_equal(redd_ws_queued(ws), 0);
    assert_int_equal(redd_ws_protocol(ws).len, 0);
    redd_ws_peer(ws, &a);
    redd_ws_unref(ws);
    redd_ws_unref(NULL);
    peer_free(&p);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_close_is_answered),
        cmocka_unit_test(a_close_drops_half_a_message),
        cmocka_unit_test(closes_without_a_code),
        cmocka_unit_test(closes_that_cross),
        cmocka_unit_test(what_was_queued_goes_out_first),
        cmocka_unit_test(close_behind_a_full_queue),
        cmocka_unit_test(close_behind_a_slow_reader),
        cmocka_unit_test(end_without_a_close),
        cmocka_unit_test(reset_by_the_peer),
        cmocka_unit_test(our_close_is_never_answered),
        cmocka_unit_test(ends_that_hang),
        cmocka_unit_test(ends_from_callbacks),
        cmocka_unit_test(terminate_from_outside),
        cmocka_unit_test(a_reference_outlives_the_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
