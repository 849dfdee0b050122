/* SPDX-License-Identifier: MIT */
/** Out of memory: a whole conversation with every single allocation failing once, and with none
 * succeeding from there on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WS_MUST(condition) assert_true(condition)
#include "tests/unit/ws_fixture.h"

#define CAPACITY (64U << 10)

static const char *const protocols[] = {"chat", NULL};

/* Everything that takes memory: left-over bytes, fragments, a header cut in two, a long frame, a
 * blocked Pong, output of our own, a subprotocol, a reason. */
static void converse(peer *p)
{
    char *large = calloc(1, 300 << 10);
    bytes in = {0};
    bytes_text(&in, WS_REQUEST "Sec-WebSocket-Protocol: chat\r\n\r\n");
    put(&in, 0x81, "early", 5);
    peer_send(p, in.data, in.len);
    peer_settle(p);

    in.len = 0;
    put(&in, 0x01, "frag", 4);
    put(&in, 0x89, "ping", 4);
    put(&in, 0x80, "ments", 5);
    peer_send(p, in.data, 1);
    peer_send(p, in.data + 1, in.len - 1);
    peer_settle(p);

    in.len = 0;
    put(&in, 0x82, large, 300 << 10);
    peer_send(p, in.data, in.len);
    peer_settle(p);

    if (p->ws)
        (void)redd_ws_send(p->ws, REDD_WS_BINARY, redd_slice_of(large, 150 << 10));
    bed_turns(p->bed, 2);
    in.len = 0;
    put(&in, 0x89, "blocked", 7);
    redd_slice s = redd_slice_of(in.data, in.len);
    size_t n;
    (void)p->stream->vt->write(p->stream, &s, 1, &n);
    bed_turns(p->bed, 2);
    peer_settle(p);
    peer_frame(p, 0x88, "\x03\xe8so long", 9);
    bytes_free(&in);
    free(large);
}

/* True when all allocations succeeded. */
static bool run_with_failure(uint64_t n, bool sticky, bool *talked)
{
    bed b;
    peer p;
    bed_prepare(&b);
    redd_counting_allocator_fail_at(b.counting, n, sticky);
    memset(&p, 0, sizeof p);
    p.bed = &b;
    if (bed_try_begin(&b) == 0) {
        b.options.protocols = protocols;
        if (peer_connect(&b, &p, ACT_ECHO, CAPACITY) == 0)
            converse(&p);
        *talked = p.last.clean;
    }
    redd_allocator_stats stats;
    redd_counting_allocator_stats(b.counting, &stats);
    redd_counting_allocator_fail_at(b.counting, 0, false);
    if (b.w) {
        if (p.stream)
            peer_close(&p);
        assert_int_equal(redd_ws_count(b.w), 0);
    }
    assert_true(p.opens <= 1 && p.opens == p.closes);
    /* Half a message was never taken for a whole one. */
    assert_null(p.log.data ? strstr(p.log.data, "text 4 ") : NULL);
    peer_free(&p);
    bed_end(&b);
    return stats.failures == 0;
}

static void every_allocation_fails(void **state)
{
    (void)state;
    for (int sticky = 0; sticky < 2; sticky++) {
        bool talked = false;
        uint64_t n = 1;
        while (!run_with_failure(n, sticky, &talked)) {
            n++;
            assert_true(n < 1000);
        }
        assert_true(talked); /* the last run's conversation went through */
        assert_true(n > 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
