/* SPDX-License-Identifier: MIT */
#include "ext/websocket/utf8.h"

#define TOP_BITS UINT64_C(0x8080808080808080)

/* Past the ASCII bytes at `p`, by words while there are whole ones. */
static const uint8_t *skip_ascii(const uint8_t *p, const uint8_t *end)
{
    while (end - p >= 16) {
        uint64_t v[2];
        memcpy(v, p, sizeof v);
        if ((v[0] | v[1]) & TOP_BITS)
            break;
        p += 16;
    }
    while (p < end && *p < 0x80)
        p++;
    return p;
}

/* Length of the well-formed character of two to four bytes at `p`, of which four may be read; else
 * 0. Each test takes the marker bits of all its bytes at once, then the bits that tell overlong
 * forms, surrogates and what lies beyond U+10FFFF. */
static size_t whole_character(const uint8_t *p)
{
    uint32_t v = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    if ((v & 0xc0e0) == 0x80c0)
        return v & 0x1e ? 2 : 0;
    if ((v & 0xc0c0f0) == 0x8080e0)
        return (v & 0x200f) != 0 && (v & 0x200f) != 0x200d ? 3 : 0;
    if ((v & 0xc0c0c0f8) != 0x808080f0)
        return 0;
    bool low_planes = (v & 7) < 4 || (v & 0x3007) == 4;
    return (v & 0x3007) != 0 && low_planes ? 4 : 0;
}

/* Begins a character with a byte that is not ASCII. The ranges keep out overlong forms, surrogates
 * and what lies beyond U+10FFFF. */
static bool lead(redd__ws_utf8 *u, uint8_t c)
{
    if (c < 0xc2 || c > 0xf4)
        return false;
    u->need = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    u->low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    u->high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    return true;
}

bool redd__ws_utf8_feed(redd__ws_utf8 *state, redd_slice piece)
{
    if (piece.len == 0)
        return true; /* `data` may be NULL */
    const uint8_t *p = (const uint8_t *)piece.data;
    const uint8_t *end = p + piece.len;
    redd__ws_utf8 u = *state;
    while (p < end) {
        if (u.need == 0) {
            if (*p < 0x80) {
                p = skip_ascii(p, end);
                continue;
            }
            size_t whole = end - p >= 4 ? whole_character(p) : 0;
            if (whole) {
                p += whole;
                continue;
            }
            if (!lead(&u, *p++)) /* finds the byte that is wrong, or the end that is missing */
                return false;
        } else {
            if (*p < u.low || *p > u.high)
                return false;
            p++;
            u.need--;
            u.low = 0x80;
            u.high = 0xbf;
        }
    }
    *state = u;
    return true;
}
