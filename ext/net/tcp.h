/* SPDX-License-Identifier: MIT */
/** A connected socket as a stream. */
#ifndef REDD_NET_TCP_H
#define REDD_NET_TCP_H

#include "ext/net/net.h"

/** From the worker's pool. */
typedef struct redd__tcp {
    redd_stream base;
    redd__watch watch; /* of all events, from open to close */
    redd__net *net;
    int fd;
    uint8_t latent; /* events that came while nobody had an interest in them */
    bool ended;     /* the peer's end or an error came: it is there to be read, behind the rest */
} redd__tcp;

/** A block without a socket, or NULL. Taken before accept, so that want of memory leaves the
 *  connection in the backlog. */
redd__tcp *redd__tcp_get(redd__net *net);
/** Gives a block back that was never opened. */
void redd__tcp_put(redd__net *net, redd__tcp *t);
/** Makes the block a stream, which owns `fd`; on an error both stay the caller's. */
int redd__tcp_open(redd__net *net, redd__tcp *t, int fd);

#endif
