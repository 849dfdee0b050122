/* SPDX-License-Identifier: MIT */
/** A connected socket as a stream, on one uv_poll_t. */
#ifndef REDD_NET_TCP_H
#define REDD_NET_TCP_H

#include "ext/net/net.h"

/** One block per connection, from the worker's pool; the close callback of `poll` gives it back. */
typedef struct redd__tcp {
    redd_stream base;
    uv_poll_t poll; /* its data is the redd__net */
    int fd;
    uint8_t armed;   /* what `poll` watches: covers interest & ~muted, and perhaps more */
    uint8_t muted;   /* events that are not watched for, since they would only repeat themselves */
    uint8_t ignored; /* events told since the last read or write */
    bool failed;     /* the poll ended with an error that a read or write has yet to name */
} redd__tcp;

/** A block without a socket, or NULL. Taken before accept, so that want of memory leaves the
 *  connection in the backlog. */
redd__tcp *redd__tcp_get(redd__net *net);
/** Gives a block back that was never opened. */
void redd__tcp_put(redd__net *net, redd__tcp *t);
/** Makes the block a stream, which owns `fd`; on an error both stay the caller's. */
int redd__tcp_open(redd__net *net, redd__tcp *t, int fd);

#endif
