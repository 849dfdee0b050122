/* SPDX-License-Identifier: MIT */
/* Percent-encoding (RFC 3986 2.1), and the pairs of queries and urlencoded forms. */
#include "ext/http/router/path.h"

#include <redd/http_router.h>

#include <uv.h>

int redd_http_decode_percent(redd_slice s, bool form, char *buf, size_t size, size_t *len)
{
    const char *p = s.data, *end = s.data + s.len;
    size_t n = 0;
    if (!redd__http_escapes_are_valid(s))
        return UV_EINVAL;
    while (p < end) {
        if (n == size)
            return REDD_ELIMIT;
        bool blank = form && *p == '+';
        buf[n] = redd__http_next_byte(&p);
        if (blank)
            buf[n] = ' ';
        n++;
    }
    *len = n;
    return 0;
}

/* Cuts what stands before `mark` off the front; all of it where there is none. */
static redd_slice cut(redd_slice *rest, char mark)
{
    const char *at = rest->len > 0 ? memchr(rest->data, mark, rest->len) : NULL;
    redd_slice before = *rest;
    if (!at) {
        *rest = redd_slice_of(NULL, 0);
        return before;
    }
    before.len = (size_t)(at - rest->data);
    *rest = redd_slice_of(at + 1, rest->len - before.len - 1);
    return before;
}

bool redd_http_next_pair(redd_slice *rest, redd_slice *name, redd_slice *value)
{
    while (rest->len > 0) {
        redd_slice pair = cut(rest, '&');
        if (pair.len == 0)
            continue;
        *name = cut(&pair, '=');
        *value = pair;
        return true;
    }
    return false;
}
