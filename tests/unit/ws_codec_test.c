/* SPDX-License-Identifier: MIT */
/** Masks, UTF-8, headers and close codes against plain definitions of them. */
#include "ext/websocket/frame.h"
#include "ext/websocket/mask.h"
#include "ext/websocket/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

static uint32_t noise(uint32_t *s)
{
    *s = *s * 1664525U + 1013904223U;
    return *s >> 8;
}

/* Every length up to some vectors, at every alignment, in a block without a byte to spare. */
static void unmask_is_a_xor(void **state)
{
    (void)state;
    uint32_t s = 1;
    for (size_t n = 0; n < 300; n++) {
        for (size_t shift = 0; shift < 8; shift++) {
            unsigned char key[4] = {(unsigned char)noise(&s), (unsigned char)noise(&s),
                                    (unsigned char)noise(&s), (unsigned char)noise(&s)};
            char *block = malloc(n + shift + 1), *want = malloc(n + 1);
            bool ascii = true;
            for (size_t i = 0; i < n; i++) {
                want[i] = (char)(noise(&s) & 0x7f);
                if (noise(&s) % 200 == 0)
                    want[i] = (char)0x80;
                ascii = ascii && (unsigned char)want[i] < 0x80;
                block[shift + i] = (char)((unsigned char)want[i] ^ key[i % 4]);
            }
            block[shift + n] = 'z';
            uint32_t mask;
            memcpy(&mask, key, 4);
            size_t half = n ? noise(&s) % n : 0; /* in two pieces, by the rotated mask */
            bool a = redd__ws_unmask(block + shift, half, mask);
            bool b =
                redd__ws_unmask(block + shift + half, n - half, redd__ws_mask_after(mask, half));
            assert_int_equal(a && b, ascii);
            assert_memory_equal(block + shift, want, n);
            assert_int_equal(block[shift + n], 'z');
            free(block);
            free(want);
        }
    }
}

/* RFC 3629's definition: decode, then compare with the shortest form. */
static bool plain_utf8(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t len = p[i] < 0x80             ? 1
                     : (p[i] & 0xe0) == 0xc0 ? 2
                     : (p[i] & 0xf0) == 0xe0 ? 3
                     : (p[i] & 0xf8) == 0xf0 ? 4
                                             : 0;
        if (len == 0 || i + len > n)
            return false;
        uint32_t c = len == 1 ? p[i] : p[i] & (0xffU >> (len + 1));
        for (size_t k = 1; k < len; k++) {
            if ((p[i + k] & 0xc0) != 0x80)
                return false;
            c = c << 6 | (p[i + k] & 0x3fU);
        }
        static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
        if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
            return false;
        i += len;
    }
    return true;
}

static void utf8_of_every_short_sequence(void **state)
{
    (void)state;
    /* All of two bytes; for the longer ones the bytes at which anything changes. */
    static const unsigned char edges[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0,
                                          0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef,
                                          0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf7, 0xf8, 0xff};
    enum { N = sizeof edges };
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned c = 0; c < 256; c++) {
            unsigned char p[2] = {(unsigned char)a, (unsigned char)c};
            assert_int_equal(redd__ws_utf8_valid(redd_slice_of(p, 2)), plain_utf8(p, 2));
        }
    }
    for (unsigned i = 0; i < N * N * N * N; i++) {
        unsigned char p[5] = {edges[i % N], edges[i / N % N], edges[i / N / N % N],
                              edges[i / N / N / N], 'a'};
        for (size_t n = 1; n <= 5; n++)
            assert_int_equal(redd__ws_utf8_valid(redd_slice_of(p, n)), plain_utf8(p, n));
    }
}

/* Cut anywhere, a text fails at the same byte as byte by byte. */
static void utf8_in_pieces(void **state)
{
    (void)state;
    uint32_t s = 7;
    static const char good[] =
        "plain ascii of more than one vector \xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x9f and on";
    for (int round = 0; round < 2000; round++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        size_t n = sizeof good - 1;
        if (round % 2)
            text[noise(&s) % n] = (char)noise(&s);
        redd__ws_utf8 u = {0, 0, 0};
        size_t fails = n;
        for (size_t i = 0; i < n && fails == n; i++)
            if (!redd__ws_utf8_feed(&u, redd_slice_of(text + i, 1)))
                fails = i;
        bool valid = fails == n && u.need == 0;
        assert_int_equal(redd__ws_utf8_valid(redd_slice_of(text, n)), valid);
        for (size_t cut = 0; cut <= n; cut++) {
            redd__ws_utf8 v = {0, 0, 0};
            bool first = redd__ws_utf8_feed(&v, redd_slice_of(text, cut));
            assert_int_equal(first, cut <= fails);
            if (first)
                assert_int_equal(redd__ws_utf8_feed(&v, redd_slice_of(text + cut, n - cut)),
                                 fails == n);
        }
    }
}

static void headers(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {
        0, 1, 125, 126, 127, 65535, 65536, UINT64_C(1) << 32, (UINT64_C(1) << 63) - 1};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uint8_t out[REDD__WS_MAX_HEADER + 4];
        size_t n = redd__ws_header_write(out, REDD__WS_BINARY, lengths[i]);
        assert_int_equal(n, redd__ws_header_room(lengths[i]));
        assert_int_equal(out[0], 0x82);
        out[1] |= 0x80; /* as a client's */
        for (uint8_t k = 0; k < 4; k++)
            out[n + k] = k;
        redd__ws_header h;
        assert_int_equal(redd__ws_header_size(out), n + 4);
        for (size_t cut = 0; cut < n + 4; cut++)
            assert_int_equal(redd__ws_header_read(out, cut, &h), 0);
        assert_int_equal(redd__ws_header_read(out, n + 4, &h), (int)n + 4);
        assert_true(h.length == lengths[i] && h.fin && h.opcode == REDD__WS_BINARY);
        assert_memory_equal(&h.mask, "\x00\x01\x02\x03", 4);
    }
}

/* RFC 6455 7.4 and the IANA registry, number by number. */
static void close_codes(void **state)
{
    (void)state;
    for (unsigned code = 0; code <= 65535; code++) {
        bool defined = (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014);
        assert_int_equal(redd__ws_close_code_valid(code), defined || (code >= 3000 && code < 5000));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unmask_is_a_xor), cmocka_unit_test(utf8_of_every_short_sequence),
        cmocka_unit_test(utf8_in_pieces),  cmocka_unit_test(headers),
        cmocka_unit_test(close_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
