/* SPDX-License-Identifier: MIT */
/** Socket addresses to and from text. */
#ifndef REDD_NET_ADDRESS_H
#define REDD_NET_ADDRESS_H

#include <redd/stream.h>

#include <netdb.h>
#include <sys/socket.h>

/** IPv4 in IPv6 is given as IPv4; what is neither has host "". */
void redd__address_from(const struct sockaddr_storage *name, redd_address *out);

/** Addresses to bind to, for freeaddrinfo; blocks for a name that is not numeric. UV_EAI_*. */
int redd__address_resolve(const char *host, uint16_t port, struct addrinfo **out);

#endif
