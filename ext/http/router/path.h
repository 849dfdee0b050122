/* SPDX-License-Identifier: MIT */
/** Paths as segments of bytes that may be percent-encoded (RFC 3986 2.1, 3.3): compared as what
 *  they stand for, without a decoded copy. */
#ifndef REDD_HTTP_ROUTER_PATH_H
#define REDD_HTTP_ROUTER_PATH_H

#include <redd/slice.h>

/** What a hexadecimal digit stands for; 16 for any other byte. */
static inline unsigned redd__http_hex(char c)
{
    unsigned digit = (unsigned char)c - (unsigned)'0', letter = ((unsigned char)c | 0x20U) - 'a';
    if (digit < 10)
        return digit;
    return letter < 6 ? letter + 10 : 16;
}

/** Each "%" begins an escape. */
static inline bool redd__http_escapes_are_valid(redd_slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] != '%')
            continue;
        if (s.len - i < 3 || (redd__http_hex(s.data[i + 1]) | redd__http_hex(s.data[i + 2])) > 15)
            return false;
        i += 2;
    }
    return true;
}

/** The byte that stands at `*p`, where escapes are valid; moves `*p` past it. */
static inline char redd__http_next_byte(const char **p)
{
    const char *at = *p;
    if (*at != '%') {
        *p = at + 1;
        return *at;
    }
    *p = at + 3;
    return (char)(unsigned char)(redd__http_hex(at[1]) << 4 | redd__http_hex(at[2]));
}

/** The bytes between the slash at `p` and the next one, or the end. An encoded slash is no slash.
 */
static inline redd_slice redd__http_segment(const char *p, const char *end)
{
    const char *start = p + 1, *next = memchr(start, '/', (size_t)(end - start));
    return redd_slice_of(start, (size_t)((next ? next : end) - start));
}

/** What a segment of a pattern is: ':' and '*' are its first byte unless they are encoded. */
static inline bool redd__http_is_parameter(redd_slice segment)
{
    return segment.len > 0 && segment.data[0] == ':';
}
static inline bool redd__http_is_rest(redd_slice segment)
{
    return segment.len > 0 && segment.data[0] == '*';
}
static inline redd_slice redd__http_parameter_name(redd_slice segment)
{
    return redd_slice_of(segment.data + 1, segment.len - 1);
}

#endif
