/* SPDX-License-Identifier: MIT */
/** The HTTP fixture's server behind a listening socket, and its clients over TCP. */
#ifndef REDD_TESTS_UNIT_HTTP_TCP_H
#define REDD_TESTS_UNIT_HTTP_TCP_H

#include "tests/unit/http_fixture.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/** Turns the loop until `condition`, which may come true at any time of a turn. */
#define UNTIL(bed, condition)                                                           \
    while (!(condition)) {                                                              \
        struct pollfd until_fd = {.fd = uv_backend_fd(&(bed)->loop), .events = POLLIN}; \
        bed_turns((bed), 1);                                                            \
        (void)poll(&until_fd, 1, 1);                                                    \
    }

/** A worker, and a free port of 127.0.0.1 for a server. */
static inline uint16_t tcp_listen(bed *b, redd_listener **l)
{
    redd_listen_options options = REDD_LISTEN_OPTIONS_INIT;
    redd_address address;
    options.host = "127.0.0.1";
    bed_prepare(b);
    HTTP_MUST(bed_try_begin(b) == 0);
    HTTP_MUST(redd_listener_bind(b->rt, &options, l) == 0);
    redd_listener_address(*l, &address);
    return address.port;
}

/** A worker and a server that listens on a free port of 127.0.0.1. */
static inline uint16_t tcp_begin(bed *b, redd_listener **l, redd_http_handler_fn handler,
                                 void *user)
{
    uint16_t port = tcp_listen(b, l);
    HTTP_MUST(bed_try_serve(b, *l, handler, user) == 0);
    return port;
}

static inline void tcp_end(bed *b, redd_listener *l)
{
    if (b->server)
        redd_http_server_close(b->server, REDD_STOP_GRACEFUL);
    UNTIL(b, !b->server);
    redd_listener_free(l);
    bed_end(b);
}

/** A connected socket; `receive` > 0 is the size of its receive buffer. */
static inline int tcp_socket(uint16_t port, int receive)
{
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_port = htons(port),
                               .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    HTTP_MUST(fd >= 0);
    if (receive > 0)
        HTTP_MUST(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive, sizeof receive) == 0);
    HTTP_MUST(connect(fd, (struct sockaddr *)&name, sizeof name) == 0);
    return fd;
}

/** A client of the server on that port, without a meter. */
static inline void tcp_connect(bed *b, client *c, uint16_t port)
{
    memset(c, 0, sizeof *c);
    c->bed = b;
    HTTP_MUST(redd_stream_from_fd(b->w, tcp_socket(port, 0), &c->stream) == 0);
    redd_stream_interest(c->stream, REDD_STREAM_READ);
}

static inline void tcp_disconnect(client *c)
{
    redd_stream_close(c->stream, false);
    c->stream = NULL;
    bytes_free(&c->got);
}

#endif
