/* SPDX-License-Identifier: MIT */
#include "ext/net/address.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <uv.h>

static_assert(sizeof(((redd_address *)0)->host) >= INET6_ADDRSTRLEN, "every address has room");

static void from_ipv4(const struct in_addr *ip, in_port_t port, redd_address *out)
{
    (void)inet_ntop(AF_INET, ip, out->host, sizeof(out->host));
    out->port = ntohs(port);
}

static void from_ipv6(const struct sockaddr_in6 *in6, redd_address *out)
{
    if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
        struct in_addr ip;
        memcpy(&ip, in6->sin6_addr.s6_addr + 12, sizeof(ip));
        from_ipv4(&ip, in6->sin6_port, out);
        return;
    }
    (void)inet_ntop(AF_INET6, &in6->sin6_addr, out->host, sizeof(out->host));
    out->port = ntohs(in6->sin6_port);
    out->ipv6 = true;
}

void redd__address_from(const struct sockaddr_storage *name, redd_address *out)
{
    *out = (redd_address){.host = ""};
    const struct sockaddr_in *in = (const struct sockaddr_in *)name;
    if (name->ss_family == AF_INET)
        from_ipv4(&in->sin_addr, in->sin_port, out);
    else if (name->ss_family == AF_INET6)
        from_ipv6((const struct sockaddr_in6 *)name, out);
    out->local = name->ss_family == AF_UNIX;
}

/** getaddrinfo's numbers differ between systems; libuv's do not. */
static int resolver_error(int code)
{
    switch (code) {
    case EAI_AGAIN:
        return UV_EAI_AGAIN;
    case EAI_BADFLAGS:
        return UV_EAI_BADFLAGS;
    case EAI_FAIL:
        return UV_EAI_FAIL;
    case EAI_FAMILY:
        return UV_EAI_FAMILY;
    case EAI_MEMORY:
        return UV_EAI_MEMORY;
    case EAI_NONAME:
        return UV_EAI_NONAME;
    case EAI_SERVICE:
        return UV_EAI_SERVICE;
    case EAI_SOCKTYPE:
        return UV_EAI_SOCKTYPE;
    case EAI_SYSTEM:
        return -errno;
    default:
        return UV_EAI_NODATA; /* glibc's EAI_NODATA and EAI_ADDRFAMILY say the same */
    }
}

int redd__address_resolve(const char *host, uint16_t port, struct addrinfo **out)
{
    char service[sizeof("65535")];
    (void)snprintf(service, sizeof(service), "%u", (unsigned)port);
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_PASSIVE | AI_NUMERICSERV | AI_NUMERICHOST,
    };
    int code = getaddrinfo(host, service, &hints, out);
    if (code == EAI_NONAME) {
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
        code = getaddrinfo(host, service, &hints, out);
    }
    return code == 0 ? 0 : resolver_error(code);
}
