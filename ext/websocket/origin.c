/* SPDX-License-Identifier: MIT */
#include "ext/websocket/origin.h"

typedef struct authority {
    redd_slice host; /* an IPv6 address keeps its brackets */
    uint32_t port;   /* 0: none was given */
} authority;

static bool parse_port(redd_slice s, uint32_t *port)
{
    *port = 0;
    if (s.len == 0 || s.len > 5)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] < '0' || s.data[i] > '9')
            return false;
        *port = *port * 10 + (uint32_t)(s.data[i] - '0');
    }
    return *port > 0 && *port <= 65535;
}

/* "host", "host:port", "[v6]:port"; anything else in it (path, user, space) makes it none. */
static bool parse_authority(redd_slice s, authority *a)
{
    size_t colon = s.len, i = 0;
    if (s.len && s.data[0] == '[')
        while (i < s.len && s.data[i] != ']')
            i++;
    for (; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        if (c <= ' ' || c == '/' || c == '?' || c == '#' || c == '@' || c == '\\' || c == ',' ||
            c == 0x7f)
            return false;
        if (c == ':' && colon == s.len)
            colon = i;
    }
    a->host = redd_slice_of(s.data, colon);
    a->port = 0;
    return colon > 0 &&
           (colon == s.len ||
            parse_port(redd_slice_of(s.data + colon + 1, s.len - colon - 1), &a->port));
}

typedef struct origin {
    redd_slice scheme;
    uint32_t default_port;
    authority authority;
} origin;

/* An http or https origin; what else there is ("null", files, extensions of browsers) has no host.
 */
static bool parse_origin(redd_slice s, origin *o)
{
    static const redd_slice schemes[] = {REDD_SLICE("http://"), REDD_SLICE("https://")};
    static const uint32_t ports[] = {80, 443};
    for (size_t i = 0; i < 2; i++) {
        size_t n = schemes[i].len;
        if (s.len <= n || !redd_slice_equal_nocase(redd_slice_of(s.data, n), schemes[i]))
            continue;
        o->scheme = schemes[i];
        o->default_port = ports[i];
        return parse_authority(redd_slice_of(s.data + n, s.len - n), &o->authority);
    }
    return false;
}

static uint32_t port_of(const authority *a, uint32_t default_port)
{
    return a->port ? a->port : default_port;
}

/* The request's host without a port means the default one of the origin's scheme: whether TLS was
 * taken off in front of us is not to be seen from here. */
static bool same_host(redd_slice text, redd_slice host)
{
    origin o;
    authority own;
    return parse_origin(text, &o) && parse_authority(host, &own) &&
           redd_slice_equal_nocase(o.authority.host, own.host) &&
           port_of(&o.authority, o.default_port) == port_of(&own, o.default_port);
}

static bool same_origin(redd_slice a, redd_slice b)
{
    origin oa, ob;
    if (!parse_origin(a, &oa) || !parse_origin(b, &ob))
        return redd_slice_equal_nocase(a, b);
    return oa.default_port == ob.default_port &&
           redd_slice_equal_nocase(oa.authority.host, ob.authority.host) &&
           port_of(&oa.authority, oa.default_port) == port_of(&ob.authority, ob.default_port);
}

bool redd__ws_origin_allowed(const redd_ws_options *o, redd_slice text, redd_slice host)
{
    switch (o->origin_policy) {
    case REDD_WS_ORIGIN_ANY:
        return true;
    case REDD_WS_ORIGIN_LIST:
        for (const char *const *p = o->origins; p && *p; p++)
            if (same_origin(text, redd_slice_str(*p)))
                return true;
        return false;
    default:
        return same_host(text, host);
    }
}
