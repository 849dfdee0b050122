/* SPDX-License-Identifier: MIT */
/** Frames: violations with their codes, legal oddities, and that the cuts of the input change
 * nothing, so that the fast lane and wslay's agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WS_MUST(condition) assert_true(condition)
#include "tests/unit/ws_fixture.h"

#define CAPACITY (256U << 10)

/** An input, what the server says of it and what it sends; the server echoes. */
typedef struct row {
    const char *id;
    frame frames[8];
    const char *log; /* after "open\n", until the client goes */
    const char *out;
    size_t out_len;
} row;

#define OUT(literal) (literal), sizeof(literal) - 1

#define SENT_1002 OUT("\x88\x02\x03\xea")
#define SENT_1007 OUT("\x88\x02\x03\xef")
#define SENT_1009 OUT("\x88\x02\x03\xf1")
#define LOG_1002  "close 1006 sent 1002 unclean REDD_EMALFORMED \n"
#define LOG_1007  "close 1006 sent 1007 unclean REDD_EMALFORMED \n"
#define LOG_1009  "close 1006 sent 1009 unclean REDD_ELIMIT \n"
#define BAD_CODE(name, hi, lo)                      \
    {                                               \
        name, {F(0x88, hi lo)}, LOG_1002, SENT_1002 \
    }
#define GOOD_CODE(name, hi, lo, number)                                         \
    {                                                                           \
        name, {F(0x88, hi lo)}, "close " number " sent " number " clean ok \n", \
            OUT("\x88\x02" hi lo)                                               \
    }
#define X10  "0123456789"
#define X125 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 "01234"
#define X126 X125 "5"

static const row rows[] = {
    /* violations of the frame format */
    {"unmasked", {{0x81, "abc", 3, FORM_MINIMAL, 0, true, false}}, LOG_1002, SENT_1002},
    {"unmasked-empty", {{0x81, "", 0, FORM_MINIMAL, 0, true, false}}, LOG_1002, SENT_1002},
    {"http",
     {{'G', "ET / HTTP/1.1\r\n\r\n", 17, FORM_MINIMAL, 0, true, false}},
     LOG_1002,
     SENT_1002},
    {"rsv1", {F(0xc1, "abc")}, LOG_1002, SENT_1002},
    {"rsv2", {F(0xa1, "abc")}, LOG_1002, SENT_1002},
    {"rsv3", {F(0x92, "abc")}, LOG_1002, SENT_1002},
    {"rsv1-continuation", {F(0x01, "a"), F(0xc0, "b")}, LOG_1002, SENT_1002},
    {"rsv1-ping", {F(0xc9, "")}, LOG_1002, SENT_1002},
    {"rsv1-close", {F(0xc8, "\x03\xe8")}, LOG_1002, SENT_1002},
    {"opcode-3", {F(0x83, "a")}, LOG_1002, SENT_1002},
    {"opcode-7", {F(0x87, "")}, LOG_1002, SENT_1002},
    {"opcode-11", {F(0x8b, "a")}, LOG_1002, SENT_1002},
    {"opcode-15", {F(0x8f, "")}, LOG_1002, SENT_1002},
    {"ping-126", {F(0x89, X126)}, LOG_1002, SENT_1002},
    {"pong-126", {F(0x8a, X126)}, LOG_1002, SENT_1002},
    {"close-126", {F(0x88, "\x03\xe8" X10 X126)}, LOG_1002, SENT_1002},
    {"ping-fragment", {F(0x09, "a"), F(0x80, "b")}, LOG_1002, SENT_1002},
    {"close-fragment", {F(0x08, "\x03\xe8")}, LOG_1002, SENT_1002},
    {"control-length-16", {{0x89, "abc", 3, FORM_16, 0, false, false}}, LOG_1002, SENT_1002},
    {"control-length-64", {{0x89, "abc", 3, FORM_64, 0, false, false}}, LOG_1002, SENT_1002},
    {"length-16-of-3", {{0x81, "abc", 3, FORM_16, 0, false, false}}, LOG_1002, SENT_1002},
    {"length-16-of-125", {{0x82, X125, 125, FORM_16, 0, false, false}}, LOG_1002, SENT_1002},
    {"length-64-of-3", {{0x81, "abc", 3, FORM_64, 0, false, false}}, LOG_1002, SENT_1002},
    {"length-64-of-126", {{0x82, X126, 126, FORM_64, 0, false, false}}, LOG_1002, SENT_1002},
    {"length-top-bit",
     {{0x82, "", 0, FORM_HEADER_ONLY, UINT64_C(1) << 63, false, false}},
     LOG_1002,
     SENT_1002},
    {"length-all-bits",
     {{0x82, "", 0, FORM_HEADER_ONLY, UINT64_MAX, false, false}},
     LOG_1002,
     SENT_1002},
    /* sizes, judged at the header */
    {"length-2e62",
     {{0x82, "", 0, FORM_HEADER_ONLY, UINT64_C(1) << 62, false, false}},
     LOG_1009,
     SENT_1009},
    {"length-1g",
     {{0x81, "", 0, FORM_HEADER_ONLY, UINT64_C(1) << 30, false, false}},
     LOG_1009,
     SENT_1009},
    {"length-4g+5",
     {{0x82, "", 0, FORM_HEADER_ONLY, (UINT64_C(1) << 32) + 5, false, false}},
     LOG_1009,
     SENT_1009},
    {"length-of-fragment",
     {F(0x01, "abc"), {0x80, "", 0, FORM_HEADER_ONLY, UINT64_MAX >> 1, false, false}},
     LOG_1009,
     SENT_1009},
    /* order of fragments */
    {"continuation-first", {F(0x80, "a")}, LOG_1002, SENT_1002},
    {"continuation-first-open", {F(0x00, "a")}, LOG_1002, SENT_1002},
    {"continuation-after-end",
     {F(0x01, "a"), F(0x80, "b"), F(0x80, "c")},
     "text 2 ab\n" LOG_1002,
     OUT("\x81\x02"
         "ab\x88\x02\x03\xea")},
    {"text-inside", {F(0x01, "a"), F(0x81, "b")}, LOG_1002, SENT_1002},
    {"binary-inside", {F(0x02, "a"), F(0x02, "b")}, LOG_1002, SENT_1002},
    {"order-before-size",
     {F(0x01, "a"), {0x81, "", 0, FORM_HEADER_ONLY, UINT64_C(1) << 40, false, false}},
     LOG_1002,
     SENT_1002},
    /* UTF-8 */
    {"utf8-ff", {F(0x81, "ab\xff")}, LOG_1007, SENT_1007},
    {"utf8-continuation", {F(0x81, "\x80")}, LOG_1007, SENT_1007},
    {"utf8-overlong-2", {F(0x81, "\xc0\xaf")}, LOG_1007, SENT_1007},
    {"utf8-overlong-3", {F(0x81, "\xe0\x80\xaf")}, LOG_1007, SENT_1007},
    {"utf8-overlong-4", {F(0x81, "\xf0\x80\x80\xaf")}, LOG_1007, SENT_1007},
    {"utf8-surrogate", {F(0x81, "\xed\xa0\x80")}, LOG_1007, SENT_1007},
    {"utf8-beyond", {F(0x81, "\xf4\x90\x80\x80")}, LOG_1007, SENT_1007},
    {"utf8-cut", {F(0x81, "\xe2\x82")}, LOG_1007, SENT_1007},
    {"utf8-cut-by-end", {F(0x01, "\xe2"), F(0x80, "\x82")}, LOG_1007, SENT_1007},
    {"utf8-late",
     {F(0x81, X125 "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80" X10)},
     LOG_1007,
     SENT_1007},
    {"utf8-bad-in-open-fragment", {F(0x01, "ab\xff")}, LOG_1007, SENT_1007},
    {"utf8-bad-across-fragments", {F(0x01, "\xf4"), F(0x00, "\x90")}, LOG_1007, SENT_1007},
    {"utf8-not-in-binary", {F(0x82, "\xff\xfe")}, "binary 2 \xff\xfe\n", OUT("\x82\x02\xff\xfe")},
    /* Close */
    {"close-empty", {F(0x88, "")}, "close 1005 sent 0 clean ok \n", OUT("\x88\x00")},
    {"close-1-byte", {F(0x88, "\x03")}, LOG_1002, SENT_1002},
    {"close-reason",
     {F(0x88, "\x03\xe8tsch\xc3\xbcss")},
     "close 1000 sent 1000 clean ok tsch\xc3\xbcss\n",
     OUT("\x88\x02\x03\xe8")},
    {"close-reason-123",
     {F(0x88, "\x03\xe8" X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 "012")},
     "close 1000 sent 1000 clean ok " X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 "012\n",
     OUT("\x88\x02\x03\xe8")},
    {"close-utf8",
     {F(0x88, "\x03\xe8"
              "a\xc3(")},
     LOG_1007,
     SENT_1007},
    {"close-utf8-cut",
     {F(0x88, "\x03\xe8"
              "a\xc3")},
     LOG_1007,
     SENT_1007},
    BAD_CODE("close-0", "\x00", "\x00"),
    BAD_CODE("close-999", "\x03", "\xe7"),
    BAD_CODE("close-1004", "\x03", "\xec"),
    BAD_CODE("close-1005", "\x03", "\xed"),
    BAD_CODE("close-1006", "\x03", "\xee"),
    BAD_CODE("close-1015", "\x03", "\xf7"),
    BAD_CODE("close-1016", "\x03", "\xf8"),
    BAD_CODE("close-2999", "\x0b", "\xb7"),
    BAD_CODE("close-5000", "\x13", "\x88"),
    BAD_CODE("close-65535", "\xff", "\xff"),
    GOOD_CODE("close-1000", "\x03", "\xe8", "1000"),
    GOOD_CODE("close-1003", "\x03", "\xeb", "1003"),
    GOOD_CODE("close-1007", "\x03", "\xef", "1007"),
    GOOD_CODE("close-1011", "\x03", "\xf3", "1011"),
    GOOD_CODE("close-1012", "\x03", "\xf4", "1012"),
    GOOD_CODE("close-1013", "\x03", "\xf5", "1013"),
    GOOD_CODE("close-1014", "\x03", "\xf6", "1014"),
    GOOD_CODE("close-3000", "\x0b", "\xb8", "3000"),
    GOOD_CODE("close-4999", "\x13", "\x87", "4999"),
    {"close-then-data",
     {F(0x88, "\x03\xe8"), F(0x81, "late"), F(0x89, "late")},
     "close 1000 sent 1000 clean ok \n",
     OUT("\x88\x02\x03\xe8")},
    {"close-twice",
     {F(0x88, "\x03\xe8"), F(0x88, "\x03\xe9")},
     "close 1000 sent 1000 clean ok \n",
     OUT("\x88\x02\x03\xe8")},
    {"close-inside",
     {F(0x01, "half"), F(0x88, "\x03\xe9")},
     "close 1001 sent 1001 clean ok \n",
     OUT("\x88\x02\x03\xe9")},
    {"violation-then-data", {F(0x83, "x"), F(0x81, "late")}, LOG_1002, SENT_1002},
    {"first-cause", {F(0x81, "\xff"), F(0x83, "x")}, LOG_1007, SENT_1007},
    {"before-violation",
     {F(0x81, "kept"), F(0x89, "p"), F(0x83, "x")},
     "text 4 kept\n" LOG_1002,
     OUT("\x81\x04kept\x8a\x01p\x88\x02\x03\xea")},
    /* legal oddities */
    {"empty", {F(0x81, ""), F(0x82, "")}, "text 0 \nbinary 0 \n", OUT("\x81\x00\x82\x00")},
    {"fragments",
     {F(0x01, "Hel"), F(0x00, "lo "), F(0x80, "you")},
     "text 9 Hello you\n",
     OUT("\x81\x09Hello you")},
    {"fragments-empty",
     {F(0x01, ""), F(0x00, ""), F(0x00, "a"), F(0x00, ""), F(0x80, "")},
     "text 1 a\n",
     OUT("\x81\x01"
         "a")},
    {"fragments-all-empty", {F(0x02, ""), F(0x80, "")}, "binary 0 \n", OUT("\x82\x00")},
    {"utf8-split",
     {F(0x01, "\xe2"), F(0x00, "\x82"), F(0x00, ""), F(0x80, "\xac")},
     "text 3 \xe2\x82\xac\n",
     OUT("\x81\x03\xe2\x82\xac")},
    {"utf8-split-4",
     {F(0x01, "a\xf0\x9f"), F(0x80, "\x90\x9f"
                                    "b")},
     "text 6 a\xf0\x9f\x90\x9f"
     "b\n",
     OUT("\x81\x06"
         "a\xf0\x9f\x90\x9f"
         "b")},
    {"utf8-nul", {F(0x81, "\0")}, "text 1 \0\n", OUT("\x81\x01\0")},
    {"utf8-last",
     {F(0x81, "\xf4\x8f\xbf\xbf\xef\xbf\xbf\xed\x9f\xbf\xee\x80\x80")},
     "text 13 \xf4\x8f\xbf\xbf\xef\xbf\xbf\xed\x9f\xbf\xee\x80\x80\n",
     OUT("\x81\x0d\xf4\x8f\xbf\xbf\xef\xbf\xbf\xed\x9f\xbf\xee\x80\x80")},
    {"mask-0",
     {{0x81, "plain", 5, FORM_MINIMAL, 0, false, true}},
     "text 5 plain\n",
     OUT("\x81\x05plain")},
    {"ping-empty", {F(0x89, "")}, "", OUT("\x8a\x00")},
    {"ping-125", {F(0x89, X125)}, "", OUT("\x8a\x7d" X125)},
    {"ping-inside",
     {F(0x01, "a"), F(0x89, "p1"), F(0x00, "b"), F(0x89, "p2"), F(0x80, "c")},
     "text 3 abc\n",
     OUT("\x8a\x02p1\x8a\x02p2\x81\x03"
         "abc")},
    {"ping-in-character",
     {F(0x01, "\xe2\x82"), F(0x89, "\xff"), F(0x80, "\xac")},
     "text 3 \xe2\x82\xac\n",
     OUT("\x8a\x01\xff\x81\x03\xe2\x82\xac")},
    {"pong-unasked", {F(0x8a, "so what")}, "pong 7 so what\n", OUT("")},
    {"length-126", {F(0x82, X126)}, "binary 126 #573bad33f122804e\n", OUT("\x82\x7e\x00\x7e" X126)},
    {"several",
     {F(0x81, "one"), F(0x82, "two"), F(0x81, "three"), F(0x8a, ""), F(0x81, "four")},
     "text 3 one\nbinary 3 two\ntext 5 three\npong 0 \ntext 4 four\n",
     OUT("\x81\x03one\x82\x03two\x81\x05three\x81\x04"
         "four")},
};

static void make_input(const row *r, bytes *in)
{
    for (size_t i = 0; i < 8 && r->frames[i].payload; i++)
        put_frame(in, &r->frames[i]);
}

/** Feeds `in` cut at `cut` (0: whole; SIZE_MAX: into single bytes) and keeps events and output. */
static void run(bed *b, const bytes *in, size_t cut, bytes *log, bytes *out, bool *eof)
{
    peer p;
    peer_open(b, &p, ACT_ECHO, CAPACITY);
    if (cut == SIZE_MAX) {
        for (size_t i = 0; i < in->len; i++)
            peer_send(&p, in->data + i, 1);
    } else {
        peer_send(&p, in->data, cut);
        peer_send(&p, in->data + cut, in->len - cut);
    }
    peer_settle(&p);
    *log = p.log;
    *out = p.got;
    *eof = p.eof;
    assert_false(p.reset);
    memset(&p.log, 0, sizeof p.log);
    memset(&p.got, 0, sizeof p.got);
    peer_close(&p);
    peer_free(&p);
    assert_int_equal(redd_ws_count(b->w), 0);
}

static void check_row(bed *b, const row *r, const bytes *in, size_t cut)
{
    bytes log, out;
    bool eof;
    run(b, in, cut, &log, &out, &eof);
    char want[1024];
    int n = snprintf(want, sizeof want, "open\n%s", r->log);
    assert_true(n > 0 && (size_t)n < sizeof want);
    bool closed = strstr(r->log, "close ") != NULL;
    /* utf8-nul has a NUL inside, so the log's text is compared up to there. */
    if (strncmp(log.data, want, strlen(want)) != 0 || out.len != r->out_len ||
        (out.len && memcmp(out.data, r->out, out.len) != 0) || eof != closed)
        fail_msg("%s, cut at %zu: got %zu bytes, end %d, and\n%swanted %zu bytes and\n%s", r->id,
                 cut, out.len, eof, log.data, r->out_len, want);
    bytes_free(&log);
    bytes_free(&out);
}

static void rows_hold_at_every_cut(void **state)
{
    (void)state;
    bed b;
    bed_begin(&b);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bytes in = {0};
        make_input(&rows[i], &in);
        for (size_t cut = 0; cut < in.len; cut++)
            check_row(&b, &rows[i], &in, cut);
        check_row(&b, &rows[i], &in, SIZE_MAX);
        bytes_free(&in);
    }
    bed_end(&b);
}

/* --- the two lanes --- */

static uint64_t next_random(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

/** A run of frames, mostly legal, with characters of every length. */
static void random_input(uint64_t *s, bytes *in)
{
    static const unsigned firsts[] = {0x81, 0x82, 0x81, 0x82, 0x01, 0x02, 0x00, 0x80,
                                      0x00, 0x80, 0x89, 0x8a, 0x88, 0x83, 0xc1};
    static const char text[] = "ab\xc3\xa9"
                               "c\xe2\x82\xac"
                               "d\xf0\x9f\x90\x9f"
                               "e";
    size_t frames = 1 + next_random(s) % 6;
    for (size_t i = 0; i < frames; i++) {
        char payload[400];
        size_t len = next_random(s) % 8 ? next_random(s) % 12 : next_random(s) % sizeof payload;
        for (size_t k = 0; k < len; k++)
            payload[k] = text[k % (sizeof text - 1)];
        if (len && next_random(s) % 16 == 0)
            payload[next_random(s) % len] = (char)next_random(s);
        /* The control frames and faults at the end of the table come less often. */
        size_t kinds = sizeof firsts / sizeof *firsts;
        frame f = {.first = firsts[next_random(s) % (next_random(s) % 3 ? 10 : kinds)],
                   .payload = payload,
                   .len = len};
        if (f.first == 0x88) {
            payload[0] = '\x03';
            payload[1] = '\xe8';
            f.len = 2;
        }
        put_frame(in, &f);
    }
}

static void cuts_change_nothing(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252U;
    bed b;
    bed_begin(&b);
    for (int round = 0; round < 80; round++) {
        bytes in = {0}, log, out;
        bool eof;
        random_input(&seed, &in);
        run(&b, &in, 0, &log, &out, &eof);
        for (size_t i = 0; i <= 24; i++) {
            bytes log2, out2;
            bool eof2;
            size_t cut = i == 24 ? SIZE_MAX : next_random(&seed) % (in.len + 1);
            run(&b, &in, cut, &log2, &out2, &eof2);
            if (!bytes_equal(&log, &log2) || !bytes_equal(&out, &out2) || eof != eof2)
                fail_msg("round %d, cut at %zu of %zu:\n%s\nbut whole:\n%s", round, cut, in.len,
                         log2.data, log.data);
            bytes_free(&log2);
            bytes_free(&out2);
        }
        bytes_free(&in);
        bytes_free(&log);
        bytes_free(&out);
    }
    bed_end(&b);
}

/* --- glued to the handshake --- */

static void early_frames_are_kept(void **state)
{
    (void)state;
    bed b;
    bed_begin(&b);
    bytes in = {0};
    bytes_text(&in, WS_HANDSHAKE);
    put(&in, 0x81, "first", 5);
    put(&in, 0x01, "sec", 3);
    put(&in, 0x89, "p", 1);
    put(&in, 0x80, "ond", 3);
    put(&in, 0x88, "\x03\xe8", 2);
    for (size_t cut = 0; cut < in.len; cut++) {
        peer p;
        assert_int_equal(peer_connect(&b, &p, ACT_ECHO, CAPACITY), 0);
        peer_send(&p, in.data, cut);
        peer_send(&p, in.data + cut, in.len - cut);
        peer_settle(&p);
        assert_string_equal(p.log.data,
                            "open\ntext 5 first\ntext 6 second\nclose 1000 sent 1000 clean ok \n");
        static const char want[] = WS_ANSWER "\x81\x05"
                                             "first\x8a\x01p\x81\x06second\x88\x02\x03\xe8";
        assert_int_equal(p.got.len, sizeof want - 1);
        assert_memory_equal(p.got.data, want, sizeof want - 1);
        assert_true(p.eof);
        peer_close(&p);
        peer_free(&p);
    }
    bytes_free(&in);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_hold_at_every_cut),
        cmocka_unit_test(cuts_change_nothing),
        cmocka_unit_test(early_frames_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
