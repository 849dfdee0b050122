/* SPDX-License-Identifier: MIT */
/** Silence: who says nothing is asked, and then let go; who is slow is not. Messages that never
 * end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WS_MUST(condition) assert_true(condition)
#include "tests/unit/ws_fixture.h"

#define CAPACITY (256U << 10)

static void silence_is_pinged_then_ended(void **state)
{
    (void)state;
    bed b;
    peer p;
    bed_begin(&b);
    b.options.idle_timeout_ms = 10000;
    peer_open(&b, &p, ACT_ECHO, CAPACITY);
    peer_pass(&p, 4999);
    EXPECT_GOT(&p, "");
    peer_pass(&p, 1);
    EXPECT_GOT(&p, "\x89\x00");
    peer_pass(&p, 4000);
    SEND(&p, 0x8a, ""); /* a sign of life */
    peer_pass(&p, 4999);
    EXPECT_GOT(&p, "\x89\x00");
    peer_pass(&p, 1);
    EXPECT_GOT(&p, "\x89\x00\x89\x00");
    peer_pass(&p, 5000);
    EXPECT_GOT(&p, "\x89\x00\x89\x00\x88\x02\x03\xe9");
    assert_int_equal(p.closes, 0);
    SEND(&p, 0x88, "\x03\xe9");
    assert_string_equal(p.log.data, "open\npong 0 \nclose 1001 sent 1001 clean ETIMEDOUT \n");
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

static void activity_keeps_it_open(void **state)
{
    (void)state;
    bed b;
    peer p;
    bed_begin(&b);
    b.options.idle_timeout_ms = 10000;
    peer_open(&b, &p, ACT_NOTHING, CAPACITY);
    for (int i = 0; i < 20; i++) {
        peer_pass(&p, 4000);
        SEND(&p, 0x81, "still here");
    }
    EXPECT_GOT(&p, "");
    assert_int_equal(p.closes, 0);
    peer_close(&p);
    peer_free(&p);

    b.options.idle_timeout_ms = 0; /* never */
    peer_open(&b, &p, ACT_NOTHING, CAPACITY);
    peer_pass(&p, 100000000);
    EXPECT_GOT(&p, "");
    assert_int_equal(p.closes, 0);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

/* Bytes that lie ready when the time is over are a sign of life: a worker that was busy must not
 * punish its peers. Of a socket's bytes the loop has not even heard when the timers run. */
static void readable_bytes_are_read_first(void **state)
{
    (void)state;
    for (int socket = 0; socket < 2; socket++) {
        bed b;
        peer p;
        bytes in = {0};
        bed_begin(&b);
        b.options.idle_timeout_ms = 10000;
        peer_open(&b, &p, ACT_NOTHING, socket ? 0 : CAPACITY);
        peer_pass(&p, 5000);
        EXPECT_GOT(&p, "\x89\x00");
        put(&in, 0x8a, "", 0);
        redd_slice s = redd_slice_of(in.data, in.len);
        size_t n;
        assert_int_equal(p.stream->vt->write(p.stream, &s, 1, &n), 0);
        peer_pass(&p, 5000);
        EXPECT_GOT(&p, "\x89\x00");
        assert_string_equal(p.log.data, "open\npong 0 \n");
        bytes_free(&in);
        peer_close(&p);
        peer_free(&p);
        bed_end(&b);
    }
}

/* Who reads slowly is alive, also when the ping has to wait for its turn; who reads nothing is not.
 */
static void silence_of_a_slow_reader(void **state)
{
    (void)state;
    static const size_t limits[] = {64 << 10, 16 << 20}; /* reading stops, or goes on */
    char *data = calloc(1, 64 << 10);
    for (size_t k = 0; k < 2; k++) {
        bed b;
        peer p;
        bed_begin(&b);
        b.options.idle_timeout_ms = 10000;
        b.options.max_queued = limits[k];
        peer_open(&b, &p, ACT_NOTHING, 4096);
        assert_int_equal(redd_ws_send(p.ws, REDD_WS_BINARY, redd_slice_of(data, 64 << 10)),
                         k == 0 ? REDD_WS_FULL : 0);
        bed_turns(&b, 3);
        for (int i = 0; i < 8; i++) {
            char some[1024];
            size_t n;
            redd_clock_advance(b.clock, 4000);
            bed_turns(&b, 3);
            assert_int_equal(p.stream->vt->read(p.stream, some, sizeof some, &n), 0);
            bed_turns(&b, 3);
        }
        assert_int_equal(p.closes, 0);
        for (int i = 0; i < 8; i++) {
            redd_clock_advance(b.clock, 4000);
            bed_turns(&b, 3);
        }
        assert_string_equal(p.log.data, "open\nclose 1006 sent 1001 unclean ETIMEDOUT \n");
        peer_close(&p);
        peer_free(&p);
        bed_end(&b);
    }
    free(data);
}

/* --- messages --- */

/* Sends `data` in pieces of `step` bytes, `ms` apart, for as long as the server takes them; returns
 * the time that it took. */
static uint64_t drip(peer *p, const bytes *data, size_t step, uint64_t ms)
{
    uint64_t time = 0;
    for (size_t off = 0; off < data->len && p->closes == 0; off += step) {
        peer_send(p, data->data + off, step < data->len - off ? step : data->len - off);
        peer_pass(p, ms);
        time += ms;
    }
    return time;
}

/* A byte now and then is a sign of life, but no message. */
static void messages_have_to_come_to_an_end(void **state)
{
    (void)state;
    static const unsigned idle[] = {120000, 0};
    char data[1000] = {0};
    for (int way = 0; way < 6; way++) {
        bed b;
        peer p;
        bytes in = {0};
        bed_begin(&b);
        b.options.idle_timeout_ms = idle[way % 2];
        b.options.message_timeout_ms = 60000;
        peer_open(&b, &p, ACT_NOTHING, CAPACITY);
        if (way < 2) {
            put(&in, 0x82, data, sizeof data);
        } else if (way < 4) { /* a control frame in pieces */
            put(&in, 0x89, data, 100);
        } else { /* fragments, with pings between */
            put(&in, 0x02, "", 0);
            for (int i = 0; i < 100; i++)
                put(&in, i % 2 ? 0x00 : 0x89, "", 0);
        }
        uint64_t time = drip(&p, &in, 1, 5000);
        assert_in_range(time, 60000, 70000);
        assert_int_equal(p.last.sent, 1008);
        assert_int_equal(p.last.status, UV_ETIMEDOUT);
        assert_memory_equal(p.got.data + p.got.len - 4, "\x88\x02\x03\xf0", 4);
        assert_true(p.eof);
        bytes_free(&in);
        peer_close(&p);
        peer_free(&p);
        bed_end(&b);
    }
}

/* Who sends a kilobyte in a second may take its time; so may one who never stops, since each
 * message has its own. */
static void slow_messages_are_taken(void **state)
{
    (void)state;
    enum { LARGE = 400000, MANY = 300 };
    bed b;
    peer p;
    bytes in = {0};
    char *data = calloc(1, LARGE);
    bed_begin(&b);
    b.options.message_timeout_ms = 10000;
    peer_open(&b, &p, ACT_NOTHING, CAPACITY);
    put(&in, 0x82, data, LARGE);
    assert_true(drip(&p, &in, 2000, 2000) > 300000);
    assert_int_equal(p.messages, 1);
    in.len = 0;
    for (int i = 0; i < MANY; i++) /* reads end inside of the next one */
        put(&in, 0x82, data, 992);
    assert_true(drip(&p, &in, 1100, 9000) > 1000000);
    assert_int_equal(p.messages, 1 + MANY);
    peer_pass(&p, 50000); /* nothing is under way: silence is no fault yet */
    assert_int_equal(p.closes, 0);
    peer_close(&p);
    peer_free(&p);

    b.options.message_timeout_ms = 0; /* never */
    peer_open(&b, &p, ACT_NOTHING, CAPACITY);
    in.len = 0;
    put(&in, 0x82, data, 200);
    assert_true(drip(&p, &in, 1, 20000) > 4000000);
    assert_int_equal(p.messages, 1);
    peer_close(&p);
    peer_free(&p);
    bytes_free(&in);
    free(data);
    bed_end(&b);
}

/* While we do not read, a message makes no progress that the peer could be blamed for. */
static void backpressure_excuses_messages(void **state)
{
    (void)state;
    bed b;
    peer p;
    bytes in = {0};
    char *data = calloc(1, 64 << 10);
    bed_begin(&b);
    b.options.message_timeout_ms = 10000;
    b.options.max_queued = 128 << 10;
    peer_open(&b, &p, ACT_NOTHING, 4096);
    put(&in, 0x82, data, 1000);
    peer_send(&p, in.data, 500);
    bed_turns(&b, 3);
    assert_int_equal(redd_ws_send(p.ws, REDD_WS_BINARY, redd_slice_of(data, 64 << 10)),
                     REDD_WS_FULL);
    bed_turns(&b, 3);
    redd_slice s = redd_slice_of(in.data + 500, in.len - 500);
    size_t n;
    assert_int_equal(p.stream->vt->write(p.stream, &s, 1, &n), 0);
    assert_int_equal(n, s.len);
    for (int i = 0; i < 10; i++) {
        redd_clock_advance(b.clock, 5000);
        bed_turns(&b, 3);
    }
    peer_settle(&p);
    assert_int_equal(p.messages, 1);
    assert_int_equal(p.closes, 0);
    bytes_free(&in);
    free(data);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silence_is_pinged_then_ended),
        cmocka_unit_test(activity_keeps_it_open),
        cmocka_unit_test(readable_bytes_are_read_first),
        cmocka_unit_test(silence_of_a_slow_reader),
        cmocka_unit_test(messages_have_to_come_to_an_end),
        cmocka_unit_test(slow_messages_are_taken),
        cmocka_unit_test(backpressure_excuses_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
