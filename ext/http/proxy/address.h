/* SPDX-License-Identifier: MIT */
/** Addresses as proxies and configurations write them. */
#ifndef REDD_HTTP_PROXY_ADDRESS_H
#define REDD_HTTP_PROXY_ADDRESS_H

#include <redd/stream.h>

/** An IPv4 or IPv6 address in network byte order; IPv4 in IPv6 (RFC 4291 2.5.5.2) counts as IPv4.
 */
typedef struct redd__ip {
    bool ipv6;
    unsigned char bytes[16]; /* of IPv4 the first four */
} redd__ip;

static inline unsigned redd__ip_bits(const redd__ip *ip)
{
    return ip->ipv6 ? 128 : 32;
}

/** Nothing but the address, in the usual notation. */
bool redd__ip_parse(redd_slice text, redd__ip *out);
/** From 16 bytes. */
void redd__ip_from_ipv6(const unsigned char *bytes, redd__ip *out);
/** The canonical text. */
void redd__ip_to_address(const redd__ip *ip, uint16_t port, redd_address *out);

/** Decimal digits, at most 65535, nothing in front. */
bool redd__port_parse(redd_slice text, uint16_t *out);

#endif
