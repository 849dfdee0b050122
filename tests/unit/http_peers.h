/* SPDX-License-Identifier: MIT */
/** Clients that come from an address of the test's choice. */
#ifndef REDD_TESTS_UNIT_HTTP_PEERS_H
#define REDD_TESTS_UNIT_HTTP_PEERS_H

#include "tests/unit/http_must.h"

/** Of every connection that is open now, and of those to come. */
static redd_address the_peer;

static inline void peer_tell(const redd_stream *s, redd_address *out)
{
    (void)s;
    *out = the_peer;
}

/** "unix" is a unix socket, "" a peer that cannot be asked any more. */
static inline void peer_set(const char *host)
{
    the_peer = (redd_address){.port = 40000, .ipv6 = strchr(host, ':') != NULL};
    the_peer.local = strcmp(host, "unix") == 0;
    if (!the_peer.local)
        memcpy(the_peer.host, host, strlen(host) + 1);
}

static inline int peer_try_open(bed *b, client *c, const char *host)
{
    redd_stream *ends[2];
    memset(c, 0, sizeof *c);
    c->bed = b;
    peer_set(host);
    int err = redd_stream_pair(b->w, CLIENT_CAPACITY, ends);
    if (err)
        return err;
    c->stream = ends[0];
    redd_stream_interest(c->stream, REDD_STREAM_READ | REDD_STREAM_WRITE);
    meter_attach(&c->meter, ends[1]);
    c->meter.vt.peer = peer_tell;
    err = redd_http_serve_stream(b->server, ends[1]);
    if (err)
        redd_stream_close(ends[1], true);
    return err;
}

static inline void peer_open(bed *b, client *c, const char *host)
{
    assert_int_equal(peer_try_open(b, c, host), 0);
    bed_turns(b, 2);
}

#endif
