/* SPDX-License-Identifier: MIT */
/** Listening sockets: bound once for a whole runtime, accepted from on each worker. */
#ifndef REDD_LISTENER_H
#define REDD_LISTENER_H

#include <redd/stream.h>

REDD_BEGIN_DECLS

typedef struct redd_listener redd_listener;
typedef struct redd_acceptor redd_acceptor;

typedef enum redd_balance {
    REDD_BALANCE_AUTO = 0,  /* reuseport where the system spreads over such sockets, else shared */
    REDD_BALANCE_REUSEPORT, /* one socket with SO_REUSEPORT per worker */
    REDD_BALANCE_SHARED     /* one socket for all; whoever is free accepts */
} redd_balance;

typedef struct redd_listen_options {
    uint32_t struct_size;
    const char *host; /* numeric IPv4 or IPv6, or a name; NULL: "0.0.0.0" */
    uint16_t port;    /* 0: a free one, the same for all workers */
    int backlog;      /* 0: 511 */
    redd_balance balance;
    bool ipv6_only; /* an IPv6 wildcard takes IPv4 too unless set */
    /** A unix socket in this path instead of host and port: shared by all workers. A socket that
     *  nobody listens on is replaced; one that is alive is UV_EADDRINUSE, any other file UV_EEXIST.
     *  Removed at the end, unless it is another one by then. Servers that start at the same path
     *  take turns by a lock on its folder, which must be readable: UV_EBUSY when somebody holds it
     *  for a second. */
    const char *path; /* at most 107 bytes; "@name": an abstract one, without a file */
    unsigned mode;    /* of that path, whatever the umask; 0: 0660 */
} redd_listen_options;
#define REDD_LISTEN_OPTIONS_INIT                   \
    {                                              \
        .struct_size = sizeof(redd_listen_options) \
    }

/** Binds and listens for every worker of `rt`: before redd_runtime_run, or after
 * redd_runtime_attach, which makes one worker whatever the options say. A port that
 * another process holds is UV_EADDRINUSE, also under SO_REUSEPORT. UV_EADDRNOTAVAIL, UV_EACCES,
 * UV_EAI_* as the system says; UV_ENOTSUP for a balance that the system lacks. */
REDD_API int redd_listener_bind(redd_runtime *rt, const redd_listen_options *options,
                                redd_listener **out);
/** Listens on a socket that the process was given (a service manager's, by LISTEN_FDS), shared by
 * all workers; owns it on success. UV_ENOTSOCK; UV_EINVAL: not a listening stream socket. */
REDD_API int redd_listener_adopt(redd_runtime *rt, int fd, redd_listener **out);
/** Closes the sockets. Every acceptor must be closed. NULL is allowed. */
REDD_API void redd_listener_free(redd_listener *l);
/** The bound address; of a unix socket the host is "". Any thread. */
REDD_API void redd_listener_address(const redd_listener *l, redd_address *out);
/** The path of a unix socket, else "". Any thread. */
REDD_API const char *redd_listener_path(const redd_listener *l);
/** What AUTO became. Any thread. */
REDD_API redd_balance redd_listener_balance(const redd_listener *l);

/** This worker's way in. Nothing is accepted before the first poll. UV_ENOMEM; UV_E* when the
 * socket cannot be watched; REDD_ESTATE: `l` was bound for more workers than the runtime has, that
 * is, before redd_runtime_attach. */
REDD_API int redd_acceptor_open(redd_listener *l, redd_worker *w, redd_acceptor **out);
/** READY: one connection (TCP_NODELAY set) in `*out`. Failures to accept never end the acceptor:
 * out of descriptors or memory, it rests for a moment and logs at most once a second. */
REDD_API redd_poll redd_acceptor_poll(redd_acceptor *a, redd_waker *waker, redd_stream **out);
/** NULL is allowed. The socket stays open in the listener, with its backlog. */
REDD_API void redd_acceptor_close(redd_acceptor *a);
/** Connections accepted so far. */
REDD_API uint64_t redd_acceptor_accepted(const redd_acceptor *a);

REDD_END_DECLS

#endif
