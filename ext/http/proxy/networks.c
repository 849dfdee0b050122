/* SPDX-License-Identifier: MIT */
#include "ext/http/proxy/networks.h"

#include <uv.h>

typedef struct network {
    redd__ip ip;
    unsigned bits;
} network;

struct redd__networks {
    const redd_allocator *alloc;
    size_t size;
    bool local; /* "unix" */
    size_t n;
    network items[];
};

static bool same_bits(const unsigned char *a, const unsigned char *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(a, b, whole) != 0)
        return false;
    return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

/* An address that is no network's name is more likely a slip than meant: 10.1.2.3/8. */
static bool ends_with_zeros(const network *n)
{
    for (unsigned i = n->bits; i < redd__ip_bits(&n->ip); i++)
        if (n->ip.bytes[i / 8] >> (7 - i % 8) & 1)
            return false;
    return true;
}

/* The prefix of an IPv4 address that was written as IPv6 counts from the front of the latter. */
static bool parse_bits(redd_slice text, bool mapped, network *out)
{
    uint16_t bits;
    if (!redd__port_parse(text, &bits) || (mapped && bits < 96))
        return false;
    out->bits = mapped ? bits - 96U : bits;
    return out->bits <= redd__ip_bits(&out->ip) && ends_with_zeros(out);
}

static bool parse_network(redd_slice part, network *out)
{
    const char *slash = memchr(part.data, '/', part.len);
    size_t len = slash ? (size_t)(slash - part.data) : part.len;
    if (!redd__ip_parse(redd_slice_of(part.data, len), &out->ip))
        return false;
    out->bits = redd__ip_bits(&out->ip);
    bool mapped = !out->ip.ipv6 && memchr(part.data, ':', len);
    return !slash || parse_bits(redd_slice_of(slash + 1, part.len - len - 1), mapped, out);
}

static bool parse_part(redd__networks *n, redd_slice part)
{
    static const redd_slice local = REDD_SLICE("unix");
    if (redd_slice_equal(part, local)) {
        n->local = true;
        return true;
    }
    return parse_network(part, &n->items[n->n++]);
}

static size_t count_parts(redd_slice text)
{
    size_t n = 0;
    for (redd_slice part; redd_slice_next_element(&text, &part);)
        n++;
    return n;
}

int redd__networks_parse(const redd_allocator *a, const char *text, const redd_logger *logger,
                         redd__networks **out)
{
    redd_slice rest = redd_slice_str(text), part;
    size_t parts = count_parts(rest), size = sizeof(redd__networks) + parts * sizeof(network);
    *out = NULL;
    if (parts == 0)
        return 0;
    redd__networks *n = redd_alloc_zero(a, size);
    if (!n)
        return UV_ENOMEM;
    n->alloc = a;
    n->size = size;
    while (redd_slice_next_element(&rest, &part)) {
        if (parse_part(n, part))
            continue;
        redd_log(logger, REDD_LOG_ERROR,
                 "http.trusted: \"%.*s\" is no network; expected an address, an address/bits with "
                 "zeros behind its bits, or unix",
                 (int)part.len, part.data);
        redd__networks_free(n);
        return UV_EINVAL;
    }
    *out = n;
    return 0;
}

void redd__networks_free(redd__networks *n)
{
    if (n)
        redd_free(n->alloc, n, n->size);
}

bool redd__networks_have(const redd__networks *n, const redd__ip *ip)
{
    for (size_t i = 0; n && i < n->n; i++) {
        const network *item = &n->items[i];
        if (item->ip.ipv6 == ip->ipv6 && same_bits(item->ip.bytes, ip->bytes, item->bits))
            return true;
    }
    return false;
}

bool redd__networks_have_address(const redd__networks *n, const redd_address *address)
{
    redd__ip ip;
    if (!n)
        return false;
    if (address->local)
        return n->local;
    return redd__ip_parse(redd_slice_str(address->host), &ip) && redd__networks_have(n, &ip);
}
