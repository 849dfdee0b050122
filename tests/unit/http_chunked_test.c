/* SPDX-License-Identifier: MIT */
/** The decoder of chunked bodies by itself: every byte at every place, and every cut. */
#include "ext/http/chunked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const redd__http_chunk_limits wide = {.body = UINT64_MAX, .extensions = UINT64_MAX};

typedef struct result {
    redd__http_chunk_event event; /* the last one */
    size_t left;                  /* bytes of the input that were not taken */
    char body[256];
    size_t len;
} result;

/* Up to an event that ends the body, or the end of the input. */
static void feed(redd__http_chunked *d, redd_slice in, const redd__http_chunk_limits *limits,
                 result *r)
{
    redd_slice piece;
    for (;;) {
        r->event = redd__http_chunked_next(d, &in, limits, &piece);
        r->left = in.len;
        if (r->event != REDD__HTTP_CHUNK_DATA)
            return;
        assert_true(piece.len > 0 && piece.len <= sizeof r->body - r->len);
        memcpy(r->body + r->len, piece.data, piece.len);
        r->len += piece.len;
    }
}

static result decode(redd_slice in, const redd__http_chunk_limits *limits)
{
    redd__http_chunked d = {0};
    result r = {.len = 0};
    feed(&d, in, limits, &r);
    return r;
}

static result decode_cut(redd_slice in, size_t cut)
{
    redd__http_chunked d = {0};
    result r = {.len = 0};
    feed(&d, redd_slice_of(in.data, cut), &wide, &r);
    if (r.event == REDD__HTTP_CHUNK_MORE) {
        assert_int_equal(r.left, 0);
        feed(&d, redd_slice_of(in.data + cut, in.len - cut), &wide, &r);
    } else {
        r.left += in.len - cut;
    }
    return r;
}

static result decode_bytewise(redd_slice in)
{
    redd__http_chunked d = {0};
    result r = {.event = REDD__HTTP_CHUNK_MORE};
    size_t i = 0;
    while (i < in.len && r.event == REDD__HTTP_CHUNK_MORE)
        feed(&d, redd_slice_of(in.data + i++, 1), &wide, &r);
    r.left += in.len - i;
    return r;
}

static void expect_same(const result *a, const result *b)
{
    assert_int_equal(a->event, b->event);
    assert_int_equal(a->len, b->len);
    assert_memory_equal(a->body, b->body, a->len);
    if (a->event != REDD__HTTP_CHUNK_BAD)
        assert_int_equal(a->left, b->left);
}

/* The same, however it is cut. */
static result check(redd_slice in)
{
    result whole = decode(in, &wide), bytewise = decode_bytewise(in);
    expect_same(&whole, &bytewise);
    for (size_t cut = 0; cut <= in.len; cut++) {
        result r = decode_cut(in, cut);
        expect_same(&whole, &r);
    }
    return whole;
}

static void expect(const char *text, redd__http_chunk_event event, const char *body, size_t left)
{
    result r = check(redd_slice_str(text));
    assert_int_equal(r.event, event);
    assert_int_equal(r.len, strlen(body));
    assert_memory_equal(r.body, body, r.len);
    if (event != REDD__HTTP_CHUNK_BAD)
        assert_int_equal(r.left, left);
}

static void test_bodies(void **state)
{
    (void)state;
    expect("0\r\n\r\n", REDD__HTTP_CHUNK_END, "", 0);
    expect("5\r\nhello\r\n0\r\n\r\n", REDD__HTTP_CHUNK_END, "hello", 0);
    expect("5\r\nhello\r\n1\r\n!\r\n000\r\n\r\nGET /", REDD__HTTP_CHUNK_END, "hello!", 5);
    expect("A\r\n0123456789\r\nb\r\nabcdefghijk\r\n0\r\n\r\n", REDD__HTTP_CHUNK_END,
           "0123456789abcdefghijk", 0);
    expect("2\r\n\r\n\r\n0\r\n\r\n", REDD__HTTP_CHUNK_END, "\r\n", 0);
    expect("1;a = \"\\\"\\\\;\r\"\r\n", REDD__HTTP_CHUNK_BAD, "", 0);
    expect("1 ;\ta = \"\\\"\\\\;\" ; b\r\nx\r\n0;c=d\r\n\r\n", REDD__HTTP_CHUNK_END, "x", 0);
    expect("5\r\nhello\r\n0\r\nA: b\r\n\r\n", REDD__HTTP_CHUNK_TRAILERS, "hello", 8);
    expect("5\r\nhello\r\n0\r\n\n", REDD__HTTP_CHUNK_TRAILERS, "hello", 1);
    expect("5\r\nhel", REDD__HTTP_CHUNK_MORE, "hel", 0);
    expect("5\r\nhello!", REDD__HTTP_CHUNK_BAD, "hello", 0);
    expect("5\r\nhello\r\n0\r\n\rx", REDD__HTTP_CHUNK_BAD, "hello", 0);
    expect("", REDD__HTTP_CHUNK_MORE, "", 0);
}

/* The grammar once more, as a list of what may stand at each place of this. */
static const char sample[] = "1f;n=v;m=\"q\\p\"\r\n";

static bool in_set(unsigned ch, const char *set)
{
    return ch != 0 && strchr(set, (int)ch) != NULL;
}

static bool is_tchar(unsigned ch)
{
    return (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
           in_set(ch, "!#$%&'*+-.^_`|~");
}

static bool is_text(unsigned ch)
{
    return ch == '\t' || (ch >= 0x20 && ch != 0x7f);
}

/* Whether a sample with `ch` at this place can still become a chunk. */
static bool may_stand(size_t place, unsigned ch)
{
    bool hex = (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'f') || (ch >= 'A' && ch <= 'F');
    switch (place) {
    case 0: /* 1 */
        return hex;
    case 1: /* f */
        return hex || in_set(ch, " \t");
    case 2: /* ; */
    case 6: /* ; */
        return ch == ';';
    case 3: /* n */
    case 5: /* v */
    case 7: /* m */
        return is_tchar(ch);
    case 4: /* = */
        return is_tchar(ch) || in_set(ch, "=;");
    case 8: /* = */
        return ch == '=';
    case 9: /* the opening quote */
        return ch == '"';
    case 10: /* q */
    case 11: /* the backslash */
        return is_text(ch) && ch != '"';
    case 12: /* p */
        return is_text(ch);
    case 13: /* the closing quote */
        return ch == '"';
    case 14:
        return ch == '\r';
    default:
        return ch == '\n';
    }
}

static void test_every_byte_at_every_place(void **state)
{
    (void)state;
    char text[sizeof sample];
    for (size_t place = 0; place < sizeof sample - 1; place++)
        for (unsigned ch = 0; ch < 256; ch++) {
            memcpy(text, sample, sizeof text);
            text[place] = (char)ch;
            result r = check(redd_slice_of(text, sizeof sample - 1));
            bool good = r.event == REDD__HTTP_CHUNK_MORE;
            if (good != may_stand(place, ch))
                fail_msg("byte %u at place %zu: %s", ch, place, good ? "taken" : "refused");
        }
}

static void test_every_byte_of_the_framing(void **state)
{
    (void)state;
    static const char body[] = "1\r\nx\r\n0\r\n\r\n";
    char text[sizeof body];
    for (size_t place = 4; place < sizeof body - 1; place++)
        for (unsigned ch = 0; ch < 256; ch++) {
            memcpy(text, body, sizeof text);
            text[place] = (char)ch;
            result r = check(redd_slice_of(text, sizeof body - 1));
            bool same = ch == (unsigned char)body[place];
            bool trailer = place == 9 && !same;                         /* judged elsewhere */
            bool size = place == 6 && r.event == REDD__HTTP_CHUNK_MORE; /* another chunk */
            assert_int_equal(r.event == REDD__HTTP_CHUNK_END, same);
            assert_int_equal(r.event == REDD__HTTP_CHUNK_BAD, !same && !trailer && !size);
        }
}

static void test_sizes(void **state)
{
    (void)state;
    expect("0000000000000001\r\nx\r\n0\r\n\r\n", REDD__HTTP_CHUNK_END, "x", 0);
    expect("00000000000000001\r\nx\r\n0\r\n\r\n", REDD__HTTP_CHUNK_BAD, "", 0);
    expect("ffffffffffffffff\r\nx", REDD__HTTP_CHUNK_MORE, "x", 0);
    expect("10000000000000000\r\nx", REDD__HTTP_CHUNK_BAD, "", 0);
    /* Sums do not wrap. */
    result r = decode(redd_slice_str("1\r\nx\r\nffffffffffffffff\r\n"), &wide);
    assert_int_equal(r.event, REDD__HTTP_CHUNK_LIMIT);
    r = decode(redd_slice_str("2\r\nxy\r\nfffffffffffffffd\r\nz"), &wide);
    assert_int_equal(r.event, REDD__HTTP_CHUNK_MORE);
    assert_int_equal(r.len, 3);
}

static void test_limits(void **state)
{
    (void)state;
    const redd__http_chunk_limits narrow = {.body = 5, .extensions = 6};
    static const struct {
        const char *text;
        redd__http_chunk_event event;
    } rows[] = {
        {"5\r\nhello\r\n0\r\n\r\n", REDD__HTTP_CHUNK_END},
        {"6\r\nhello!\r\n0\r\n\r\n", REDD__HTTP_CHUNK_LIMIT},
        {"3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", REDD__HTTP_CHUNK_END},
        {"3\r\nhel\r\n3\r\nlo!\r\n0\r\n\r\n", REDD__HTTP_CHUNK_LIMIT},
        {"5;abcde\r\nhello\r\n0\r\n\r\n", REDD__HTTP_CHUNK_END},
        {"5;abcdef\r\nhello\r\n0\r\n\r\n", REDD__HTTP_CHUNK_LIMIT},
        {"1;ab\r\nh\r\n1;ab\r\ni\r\n0\r\n\r\n", REDD__HTTP_CHUNK_END},
        {"1;ab\r\nh\r\n1;ab\r\ni\r\n0;a\r\n\r\n", REDD__HTTP_CHUNK_LIMIT},
        {"5 ;  a \r\n", REDD__HTTP_CHUNK_BAD},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(decode(redd_slice_str(rows[i].text), &narrow).event, rows[i].event);
}

/** A limit that was lowered below what has come already. */
static void test_lowered_limit(void **state)
{
    (void)state;
    const redd__http_chunk_limits lower = {.body = 2, .extensions = 0};
    redd__http_chunked d = {0};
    result r = {.len = 0};
    feed(&d, redd_slice_str("5\r\nhello\r\n"), &wide, &r);
    assert_int_equal(r.event, REDD__HTTP_CHUNK_MORE);
    feed(&d, redd_slice_str("1\r\n"), &lower, &r);
    assert_int_equal(r.event, REDD__HTTP_CHUNK_LIMIT);
}

/** Once malformed or in its trailers, it stays so. */
static void test_it_stays(void **state)
{
    (void)state;
    redd__http_chunked d = {0};
    result r = {.len = 0};
    feed(&d, redd_slice_str("g"), &wide, &r);
    feed(&d, redd_slice_str("5\r\nhello\r\n"), &wide, &r);
    assert_int_equal(r.event, REDD__HTTP_CHUNK_BAD);
    assert_int_equal(r.len, 0);
    d = (redd__http_chunked){0};
    feed(&d, redd_slice_str("0\r\nA: b\r\n"), &wide, &r);
    feed(&d, redd_slice_str("\r\n"), &wide, &r);
    assert_int_equal(r.event, REDD__HTTP_CHUNK_TRAILERS);
    assert_int_equal(r.left, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_every_byte_at_every_place),
        cmocka_unit_test(test_every_byte_of_the_framing),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_lowered_limit),
        cmocka_unit_test(test_it_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
