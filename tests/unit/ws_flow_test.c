/* SPDX-License-Identifier: MIT */
/** Flow: limits, memory that follows what was really sent, large messages, arguments of sends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WS_MUST(condition) assert_true(condition)
#include "tests/unit/ws_fixture.h"

#define CAPACITY (256U << 10)
#define KIB      1024U
#define MIB      (1024U * 1024U)

static const redd_slice nothing = {NULL, 0};

static void drop_got(peer *p)
{
    p->got.len = 0;
}

/* --- limits --- */

static void message_limit(void **state)
{
    (void)state;
    bed b;
    bed_begin(&b);
    b.options.max_message = 1000;
    char *data = calloc(1, 1001);
    peer p;
    bytes in = {0};

    peer_open(&b, &p, ACT_ECHO, CAPACITY); /* exactly the limit, in one and in three frames */
    put(&in, 0x82, data, 1000);
    put(&in, 0x02, data, 400);
    put(&in, 0x00, data, 600);
    put(&in, 0x80, data, 0);
    peer_send(&p, in.data, in.len);
    peer_settle(&p);
    assert_int_equal(p.messages, 2);
    assert_int_equal(p.closes, 0);
    peer_close(&p);
    peer_free(&p);

    size_t sizes[][2] = {{1001, 0}, {400, 601}, {1000, 1}};
    for (size_t i = 0; i < 3; i++) {
        peer_open(&b, &p, ACT_ECHO, CAPACITY);
        in.len = 0;
        put(&in, 0x02, data, sizes[i][0]);
        put(&in, 0x80, data, sizes[i][1]);
        peer_send(&p, in.data, in.len);
        peer_settle(&p);
        assert_int_equal(p.messages, 0);
        assert_int_equal(p.last.sent, 1009);
        assert_int_equal(p.last.status, REDD_ELIMIT);
        assert_true(ENDS_WITH(&p, "\x88\x02\x03\xf1"));
        peer_close(&p);
        peer_free(&p);
    }
    free(data);
    bytes_free(&in);
    bed_end(&b);
}

/* Who only announces gets no memory. */
static void announced_is_not_allocated(void **state)
{
    (void)state;
    enum { CLIENTS = 50 };
    bed b;
    bed_begin(&b);
    peer p[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        peer_open(&b, &p[i], ACT_ECHO, 4 * KIB);
    uint64_t before = memory(&b);
    for (int i = 0; i < CLIENTS; i++) {
        bytes in = {0};
        frame f = {.first = 0x82, .payload = "", .form = FORM_HEADER_ONLY, .claim = 16 * MIB};
        put_frame(&in, &f);
        bytes_add(&in, "only this", 9);
        peer_send(&p[i], in.data, in.len);
        bytes_free(&in);
    }
    peer_settle(&p[0]);
    assert_true(memory(&b) - before < CLIENTS * 4 * KIB);
    for (int i = 0; i < CLIENTS; i++) {
        assert_int_equal(p[i].closes, 0);
        peer_close(&p[i]);
        peer_free(&p[i]);
    }
    bed_end(&b);
}

/* What came decides, however it was cut, and whatever else wakes the connection. */
static void memory_follows_what_came(void **state)
{
    (void)state;
    bed b;
    peer p;
    bytes in = {0};
    char *data = calloc(1, 2 * MIB);
    frame f = {.first = 0x82, .payload = "", .form = FORM_HEADER_ONLY, .claim = 2 * MIB};
    bed_begin(&b);
    peer_open(&b, &p, ACT_NOTHING, CAPACITY);
    uint64_t before = memory(&b);
    put_frame(&in, &f);
    peer_send(&p, in.data, in.len); /* masked with the fixture's key */
    peer_settle(&p);
    assert_int_equal(redd_ws_send(p.ws, REDD_WS_TEXT, redd_slice_str("hi")), 0);
    peer_settle(&p);
    assert_int_equal(memory(&b), before);
    static const size_t steps[] = {1, 1, 100, 20000, 1, 100000, 300000, 1};
    size_t came = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        peer_send(&p, data, steps[i]);
        peer_settle(&p);
        came += steps[i];
        /* Four times, in blocks of powers of two. */
        assert_true(memory(&b) - before <= 8 * came + 4 * KIB);
    }
    peer_send(&p, data, 2 * MIB - came);
    peer_settle(&p);
    assert_int_equal(p.messages, 1);
    bytes_free(&in);
    free(data);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

static void fragment_limit(void **state)
{
    (void)state;
    bed b;
    bed_begin(&b);
    b.options.max_fragments = 100;
    for (unsigned n = 100; n <= 101; n++) {
        peer p;
        bytes in = {0};
        peer_open(&b, &p, ACT_ECHO, CAPACITY);
        put(&in, 0x01, "", 0);
        for (unsigned i = 2; i < n; i++)
            put(&in, 0x00, i % 2 ? "a" : "", i % 2);
        put(&in, 0x80, "", 0);
        peer_send(&p, in.data, in.len);
        peer_settle(&p);
        assert_int_equal(p.messages, n == 100);
        if (n > 100) {
            assert_int_equal(p.last.sent, 1008);
            assert_int_equal(p.last.status, REDD_ELIMIT);
            assert_true(ENDS_WITH(&p, "\x88\x02\x03\xf0"));
        }
        peer_close(&p);
        peer_free(&p);
        bytes_free(&in);
    }
    bed_end(&b);
}

/* The count is one message's: a healthy connection never runs into the limit. */
static void fragments_are_counted_per_message(void **state)
{
    (void)state;
    bed b;
    bed_begin(&b);
    b.options.max_fragments = 2;
    peer p;
    bytes in = {0};
    peer_open(&b, &p, ACT_NOTHING, CAPACITY);
    for (int i = 0; i < 5000; i++) {
        put(&in, 0x01, "a", 1);
        put(&in, 0x80, "b", 1);
    }
    peer_send(&p, in.data, in.len);
    peer_settle(&p);
    assert_int_equal(p.messages, 5000);
    assert_int_equal(p.closes, 0);
    peer_close(&p);
    peer_free(&p);
    bytes_free(&in);
    bed_end(&b);
}

/* --- large messages --- */

static void large_messages(void **state)
{
    (void)state;
    static const size_t sizes[] = {65535, 65536, 200 * KIB, 5 * MIB + 3};
    bed b;
    bed_begin(&b);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (unsigned fragmented = 0; fragmented < 2; fragmented++) {
            size_t n = sizes[i];
            char *data = malloc(n);
            for (size_t k = 0; k < n; k++)
                data[k] = (char)('a' + k % 23);
            peer p;
            bytes in = {0};
            peer_open(&b, &p, ACT_ECHO, CAPACITY);
            uint64_t before = memory(&b);
            if (fragmented) {
                put(&in, 0x01, data, n / 3);
                put(&in, 0x89, "in between", 10);
                put(&in, 0x80, data + n / 3, n - n / 3);
            } else {
                put(&in, 0x81, data, n);
            }
            peer_send(&p, in.data, in.len);
            peer_settle(&p);
            assert_int_equal(p.messages, 1);
            assert_int_equal(p.sent < 0, 0);
            assert_true(p.got.len > n && memcmp(p.got.data + p.got.len - n, data, n) == 0);
            assert_true(memory(&b) - before < 17 * MIB); /* some is kept for the next one, */
            peer_close(&p);
            peer_settle(&p);
            assert_true(memory(&b) < before); /* as long as there may be one */
            peer_free(&p);
            bytes_free(&in);
            free(data);
        }
    }
    bed_end(&b);
}

/* Bad text inside a frame that is far from complete is told at once. */
static void bad_text_in_a_large_frame(void **state)
{
    (void)state;
    bed b;
    bed_begin(&b);
    size_t n = 2 * MIB;
    char *data = malloc(n);
    memset(data, 'x', n);
    data[700 * KIB] = (char)0xff;
    peer p;
    bytes in = {0};
    peer_open(&b, &p, ACT_ECHO, CAPACITY);
    put(&in, 0x81, data, n);
    peer_send(&p, in.data, 701 * KIB);
    peer_settle(&p);
    assert_int_equal(p.last.sent, 1007);
    peer_close(&p);
    peer_free(&p);
    bytes_free(&in);
    free(data);
    bed_end(&b);
}

/* --- sending --- */

/* Several messages from outside of the connection's turn leave together. */
static void sends_from_outside_leave_together(void **state)
{
    (void)state;
    bed b;
    bed_begin(&b);
    peer p;
    peer_open(&b, &p, ACT_NOTHING, CAPACITY);
    for (int i = 0; i < 3; i++)
        assert_int_equal(redd_ws_send(p.ws, REDD_WS_TEXT, redd_slice_str("hi")), 0);
    peer_take(&p);
    assert_int_equal(p.got.len, 0); /* nothing before the turn */
    assert_int_equal(redd_ws_queued(p.ws), 12);
    peer_settle(&p);
    assert_true(ENDS_WITH(&p, "\x81\x02hi\x81\x02hi\x81\x02hi"));
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

static void arguments(void **state)
{
    (void)state;
    bed b;
    bed_begin(&b);
    char data[126] = {0};
    peer p;
    peer_open(&b, &p, ACT_NOTHING, CAPACITY);
    assert_int_equal(redd_ws_send(p.ws, REDD_WS_TEXT, redd_slice_str("\xff")), UV_EINVAL);
    assert_int_equal(redd_ws_send(p.ws, REDD_WS_TEXT, redd_slice_str("\xe2\x82")), UV_EINVAL);
    assert_int_equal(redd_ws_ping(p.ws, redd_slice_of(data, 126)), UV_EINVAL);
    assert_int_equal(redd_ws_close(p.ws, 0, redd_slice_str("reason")), UV_EINVAL);
    assert_int_equal(redd_ws_close(p.ws, 1000, redd_slice_str("\xff")), UV_EINVAL);
    assert_int_equal(redd_ws_close(p.ws, 1000, redd_slice_of(data, 124)), UV_EINVAL);
    static const uint16_t never[] = {1, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        assert_int_equal(redd_ws_close(p.ws, never[i], nothing), UV_EINVAL);
    peer_settle(&p);
    assert_int_equal(p.got.len, 0);
    assert_int_equal(redd_ws_ping(p.ws, redd_slice_of(data, 125)), 0);
    peer_settle(&p);
    assert_int_equal(p.got.len, 127);
    drop_got(&p);
    static const size_t sizes[] = {0, 1, 125, 126, 65535, 65536};
    char *large = calloc(1, 65536);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(redd_ws_send(p.ws, REDD_WS_BINARY, redd_slice_of(large, sizes[i])), 0);
        peer_settle(&p);
        size_t header = sizes[i] < 126 ? 2 : sizes[i] < 65536 ? 4 : 10;
        assert_int_equal(p.got.len, header + sizes[i]);
        assert_int_equal((unsigned char)p.got.data[1], header == 2   ? sizes[i]
                                                       : header == 4 ? 126
                                                                     : 127);
        drop_got(&p);
    }
    free(large);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_limit),
        cmocka_unit_test(announced_is_not_allocated),
        cmocka_unit_test(memory_follows_what_came),
        cmocka_unit_test(fragment_limit),
        cmocka_unit_test(fragments_are_counted_per_message),
        cmocka_unit_test(large_messages),
        cmocka_unit_test(bad_text_in_a_large_frame),
        cmocka_unit_test(sends_from_outside_leave_together),
        cmocka_unit_test(arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
