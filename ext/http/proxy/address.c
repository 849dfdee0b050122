/* SPDX-License-Identifier: MIT */
#include "ext/http/proxy/address.h"

#include <arpa/inet.h>

void redd__ip_from_ipv6(const unsigned char *bytes, redd__ip *out)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    memset(out, 0, sizeof *out);
    out->ipv6 = memcmp(bytes, mapped, sizeof mapped) != 0;
    if (out->ipv6)
        memcpy(out->bytes, bytes, 16);
    else
        memcpy(out->bytes, bytes + sizeof mapped, 4);
}

bool redd__ip_parse(redd_slice text, redd__ip *out)
{
    char copy[INET6_ADDRSTRLEN];
    unsigned char bytes[16];
    if (text.len == 0 || text.len >= sizeof copy || memchr(text.data, '\0', text.len))
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, copy, out->bytes) == 1)
        return true;
    if (inet_pton(AF_INET6, copy, bytes) != 1)
        return false;
    redd__ip_from_ipv6(bytes, out);
    return true;
}

void redd__ip_to_address(const redd__ip *ip, uint16_t port, redd_address *out)
{
    *out = (redd_address){.port = port, .ipv6 = ip->ipv6};
    (void)inet_ntop(ip->ipv6 ? AF_INET6 : AF_INET, ip->bytes, out->host, sizeof out->host);
}

bool redd__port_parse(redd_slice text, uint16_t *out)
{
    unsigned n = 0;
    if (text.len == 0 || text.len > 5 || (text.len > 1 && text.data[0] == '0'))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)(text.data[i] - '0');
        if (digit > 9)
            return false;
        n = n * 10 + digit;
    }
    *out = (uint16_t)n;
    return n <= UINT16_MAX;
}
