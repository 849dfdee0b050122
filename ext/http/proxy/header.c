/* SPDX-License-Identifier: MIT */
#include "ext/http/proxy/header.h"

#include "ext/http/proxy/address.h"

static bool begins_alike(redd_slice in, redd_slice with)
{
    size_t n = in.len < with.len ? in.len : with.len;
    return n == 0 || memcmp(in.data, with.data, n) == 0;
}

/* --- version 1: a line --- */

/* Cuts off the word up to the next space, or to the end. */
static redd_slice next_word(redd_slice *rest)
{
    const char *space = rest->len ? memchr(rest->data, ' ', rest->len) : NULL;
    size_t n = space ? (size_t)(space - rest->data) : rest->len, behind = space ? n + 1 : n;
    redd_slice word = redd_slice_of(rest->data, n);
    *rest = redd_slice_of(rest->data + behind, rest->len - behind);
    return word;
}

static bool parse_word(redd_slice word, bool ipv6, redd__ip *out)
{
    bool colon = word.len > 0 && memchr(word.data, ':', word.len) != NULL;
    return colon == ipv6 && redd__ip_parse(word, out);
}

/* "TCP4 source destination port port", each exactly one space from the next. */
static bool parse_line(redd_slice line, redd__proxy_header *out)
{
    static const redd_slice tcp4 = REDD_SLICE("TCP4"), tcp6 = REDD_SLICE("TCP6"),
                            unknown = REDD_SLICE("UNKNOWN");
    redd__ip source, destination;
    uint16_t from, to;
    redd_slice family = next_word(&line);
    if (redd_slice_equal(family, unknown))
        return true;
    bool ipv6 = redd_slice_equal(family, tcp6);
    if (!ipv6 && !redd_slice_equal(family, tcp4))
        return false;
    if (!parse_word(next_word(&line), ipv6, &source) ||
        !parse_word(next_word(&line), ipv6, &destination) ||
        !redd__port_parse(next_word(&line), &from) || !redd__port_parse(line, &to))
        return false;
    out->named = true;
    redd__ip_to_address(&source, from, &out->client);
    return true;
}

static redd__proxy_parsed parse_text(redd_slice in, size_t prefix, redd__proxy_header *out)
{
    size_t seen = in.len < REDD__PROXY_LINE_MAX ? in.len : REDD__PROXY_LINE_MAX, end = 0;
    while (end < seen && in.data[end] != '\r' && in.data[end] != '\n')
        end++;
    if (end + 1 >= seen) /* not both bytes of its end */
        return seen == REDD__PROXY_LINE_MAX || (end < seen && in.data[end] == '\n')
                   ? REDD__PROXY_BAD
                   : REDD__PROXY_MORE;
    if (in.data[end] != '\r' || in.data[end + 1] != '\n')
        return REDD__PROXY_BAD;
    out->len = end + 2;
    return parse_line(redd_slice_of(in.data + prefix, end - prefix), out) ? REDD__PROXY_DONE
                                                                          : REDD__PROXY_BAD;
}

/* --- version 2: binary --- */

#define FIXED      16 /* bytes before the address block */
#define IPV4_BLOCK 12
#define IPV6_BLOCK 36
#define UNIX_BLOCK 216
#define TYPE_SSL   0x20
#define CLIENT_SSL 0x01
#define SSL_MIN    5 /* bytes of that value before what it holds in turn */
#define TLV_HEAD   3

static unsigned byte_at(redd_slice in, size_t i)
{
    return (unsigned char)in.data[i];
}

static unsigned pair_at(redd_slice in, size_t i)
{
    return byte_at(in, i) << 8 | byte_at(in, i + 1);
}

/* The rest of the block is a row of types, lengths and values. */
static bool parse_extras(redd_slice in, redd__proxy_header *out)
{
    size_t i = 0;
    while (in.len - i >= TLV_HEAD) {
        size_t len = pair_at(in, i + 1);
        unsigned type = byte_at(in, i);
        i += TLV_HEAD;
        if (len > in.len - i)
            return false;
        if (type == TYPE_SSL && len >= SSL_MIN)
            out->https = byte_at(in, i) & CLIENT_SSL;
        i += len;
    }
    return i == in.len;
}

static bool parse_addresses(redd_slice block, unsigned family, redd__proxy_header *out)
{
    static const size_t sizes[] = {0, IPV4_BLOCK, IPV6_BLOCK, UNIX_BLOCK};
    redd__ip ip = {.ipv6 = false};
    size_t size = sizes[family];
    if (block.len < size)
        return false;
    out->named = true;
    if (family == 1) {
        memcpy(ip.bytes, block.data, 4);
        redd__ip_to_address(&ip, (uint16_t)pair_at(block, 8), &out->client);
    } else if (family == 2) {
        redd__ip_from_ipv6((const unsigned char *)block.data, &ip);
        redd__ip_to_address(&ip, (uint16_t)pair_at(block, 32), &out->client);
    } else {
        out->client.local = true;
    }
    return parse_extras(redd_slice_of(block.data + size, block.len - size), out);
}

/* Versions, commands, families and transports that are not assigned are refused; families and
 * transports that are no TCP connection's leave the peer to speak for itself. */
static redd__proxy_parsed parse_binary(redd_slice in, redd__proxy_header *out)
{
    unsigned command = in.len > 12 ? byte_at(in, 12) : 0x20;
    unsigned family = in.len > 13 ? byte_at(in, 13) >> 4 : 0;
    unsigned transport = in.len > 13 ? byte_at(in, 13) & 15 : 0;
    bool local = command == 0x20;
    if ((!local && command != 0x21) || (!local && (family > 3 || transport > 2)))
        return REDD__PROXY_BAD;
    if (in.len < FIXED)
        return REDD__PROXY_MORE;
    size_t len = pair_at(in, 14);
    if (FIXED + len > REDD__PROXY_BINARY_MAX)
        return REDD__PROXY_BAD;
    if (in.len < FIXED + len)
        return REDD__PROXY_MORE;
    out->len = FIXED + len;
    if (local || family == 0 || transport != 1)
        return REDD__PROXY_DONE;
    return parse_addresses(redd_slice_of(in.data + FIXED, len), family, out) ? REDD__PROXY_DONE
                                                                             : REDD__PROXY_BAD;
}

redd__proxy_parsed redd__proxy_parse(redd_slice in, redd__proxy_header *out)
{
    static const redd_slice line = REDD_SLICE("PROXY "),
                            signature = REDD_SLICE("\r\n\r\n\0\r\nQUIT\n");
    *out = (redd__proxy_header){.len = 0};
    bool text = begins_alike(in, line);
    if (!text && !begins_alike(in, signature))
        return REDD__PROXY_BAD;
    if (in.len < line.len)
        return REDD__PROXY_MORE;
    return text ? parse_text(in, line.len, out) : parse_binary(in, out);
}
