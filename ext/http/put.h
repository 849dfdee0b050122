/* SPDX-License-Identifier: MIT */
/** Writing text piece by piece into memory that is known to be large enough: each function returns
 *  the end of what it wrote. Header only. */
#ifndef REDD_HTTP_PUT_H
#define REDD_HTTP_PUT_H

#include <redd/slice.h>

static inline char *redd__put(char *p, const char *text, size_t len)
{
    memcpy(p, text, len);
    return p + len;
}

/** A string literal. */
#define REDD__PUT(p, literal) redd__put((p), "" literal, sizeof(literal) - 1)

static inline char *redd__put_slice(char *p, redd_slice s)
{
    return s.len > 0 ? redd__put(p, s.data, s.len) : p;
}

/** At most 20 digits. */
static inline char *redd__put_number(char *p, uint64_t n)
{
    char digits[20];
    size_t i = sizeof digits;
    do {
        digits[--i] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    return redd__put(p, digits + i, sizeof digits - i);
}

/** At most 16 digits, in lower case. */
static inline char *redd__put_hex(char *p, uint64_t n)
{
    static const char hex[] = "0123456789abcdef";
    int shift = 60;
    while (shift > 0 && n >> shift == 0)
        shift -= 4;
    for (; shift >= 0; shift -= 4)
        *p++ = hex[n >> shift & 15];
    return p;
}

/** Exactly `width` digits, with zeros in front. */
static inline char *redd__put_padded(char *p, unsigned n, size_t width)
{
    for (size_t i = width; i-- > 0; n /= 10)
        p[i] = (char)('0' + n % 10);
    return p + width;
}

#endif
