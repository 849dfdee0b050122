/* SPDX-License-Identifier: MIT */
/**
 * Tells a worker of its sockets' events: one epoll set, itself one handle in the worker's loop.
 *
 * Why not a uv_poll_t per socket: libuv watches level by level. It goes on telling an event until
 * it is acted upon, up to 48 times in one turn when more than 1,023 sockets are ready, and no task
 * can run in between; each change of what is watched costs two system calls, each connection seven
 * and 160 bytes. Here every event is told once, when it comes (EPOLLET), interest is a matter of
 * user space, and the price is one more epoll_wait per turn.
 */
#ifndef REDD_NET_POLLER_H
#define REDD_NET_POLLER_H

#include <redd/stream.h>

#include <sys/epoll.h>
#include <uv.h>

/** One socket's place, in its owner's memory. `on_events` may remove any watch, its own too. */
typedef struct redd__watch redd__watch;
struct redd__watch {
    void (*on_events)(redd__watch *w, unsigned events);
};

enum { REDD__POLLER_BATCH = 1024 };

typedef struct redd__poller {
    uv_poll_t handle; /* unreferenced: tasks keep a loop alive, not the sockets they wait for */
    int fd;
    int next, n; /* the part of `batch` that is still to be told */
    struct epoll_event batch[REDD__POLLER_BATCH];
} redd__poller;

int redd__poller_init(redd__poller *p, uv_loop_t *loop);
/** Every watch must be removed. `closed` gets the handle when the memory may go. */
void redd__poller_close(redd__poller *p, uv_close_cb closed);

/** Tells `w` of these events (redd_stream_events) of `fd` from now on, at first of those that are
 *  possible already. */
int redd__poller_add(redd__poller *p, redd__watch *w, int fd, unsigned events);
/** No event is told any more. Before `fd` is closed. */
void redd__poller_remove(redd__poller *p, redd__watch *w, int fd);

#endif
