/* SPDX-License-Identifier: MIT */
#include "ext/http/authority.h"

/* What a registered name or an IPv4 address may have (RFC 3986 3.2.2), one bit per byte. */
static const uint32_t host_chars[8] = {0, 0x2bff6ff2, 0x87fffffe, 0x47fffffe, 0, 0, 0, 0};

static bool is_host_char(char c)
{
    unsigned char ch = (unsigned char)c;
    return host_chars[ch >> 5] >> (ch & 31) & 1;
}

static bool is_literal_char(char c)
{
    return c != '\0' && strchr("0123456789abcdefABCDEFvV:.", c) != NULL;
}

/* Length of the uri-host that `s` begins with, 0 for none. */
static size_t host_length(redd_slice s)
{
    size_t n = 0;
    if (s.len > 0 && s.data[0] == '[') {
        for (n = 1; n < s.len && is_literal_char(s.data[n]); n++)
            ;
        return n > 1 && n < s.len && s.data[n] == ']' ? n + 1 : 0;
    }
    while (n < s.len && is_host_char(s.data[n]))
        n++;
    return n;
}

bool redd__http_is_authority(redd_slice s)
{
    size_t i = host_length(s);
    if (i == 0 || i == s.len)
        return i > 0;
    if (s.data[i++] != ':')
        return false;
    unsigned port = 0;
    for (; i < s.len; i++) {
        unsigned digit = (unsigned)(s.data[i] - '0');
        port = port * 10 + digit;
        if (digit > 9 || port > 65535)
            return false;
    }
    return true;
}
