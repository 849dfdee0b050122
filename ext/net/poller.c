/* SPDX-License-Identifier: MIT */
#include "ext/net/poller.h"

#include <assert.h>
#include <unistd.h>

static uint32_t to_epoll(unsigned events)
{
    uint32_t flags = EPOLLET;
    if (events & REDD_STREAM_READ)
        flags |= EPOLLIN;
    if (events & REDD_STREAM_WRITE)
        flags |= EPOLLOUT;
    if (events & REDD_STREAM_HANGUP)
        flags |= EPOLLRDHUP;
    return flags;
}

static unsigned from_epoll(uint32_t flags)
{
    unsigned events = 0;
    if (flags & EPOLLIN)
        events |= REDD_STREAM_READ;
    if (flags & EPOLLOUT)
        events |= REDD_STREAM_WRITE;
    if (flags & EPOLLRDHUP)
        events |= REDD_STREAM_HANGUP;
    if (flags & EPOLLERR)
        events |= REDD_STREAM_READ | REDD_STREAM_WRITE | REDD_STREAM_HANGUP | REDD_STREAM_RESET;
    return events;
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
    (void)status;
    (void)events;
    redd__poller *p = (redd__poller *)(void *)((char *)handle - offsetof(redd__poller, handle));
    /* Once per turn: what does not fit is told in the next, after tasks have run. */
    p->n = epoll_wait(p->fd, p->batch, REDD__POLLER_BATCH, 0);
    for (p->next = 0; p->next < p->n;) {
        struct epoll_event e = p->batch[p->next++];
        redd__watch *w = e.data.ptr;
        if (w)
            w->on_events(w, from_epoll(e.events));
    }
    p->n = 0;
}

int redd__poller_init(redd__poller *p, uv_loop_t *loop)
{
    p->next = p->n = 0;
    p->fd = epoll_create1(EPOLL_CLOEXEC);
    if (p->fd < 0)
        return -errno;
    int rc = uv_poll_init(loop, &p->handle, p->fd);
    if (rc) {
        (void)close(p->fd);
        return rc;
    }
    rc = uv_poll_start(&p->handle, UV_READABLE, on_readable);
    assert(rc == 0); /* only a second handle for the same descriptor is refused */
    uv_unref((uv_handle_t *)&p->handle);
    return 0;
}

void redd__poller_close(redd__poller *p, uv_close_cb closed)
{
    uv_close((uv_handle_t *)&p->handle, closed);
    (void)close(p->fd); /* behind uv_close, which takes it out of the loop's own set */
}

int redd__poller_add(redd__poller *p, redd__watch *w, int fd, unsigned events)
{
    struct epoll_event e = {.events = to_epoll(events), .data.ptr = w};
    return epoll_ctl(p->fd, EPOLL_CTL_ADD, fd, &e) == 0 ? 0 : -errno;
}

void redd__poller_remove(redd__poller *p, redd__watch *w, int fd)
{
    /* Closing would do, but for a descriptor that a child process inherited or a user duplicated.
     */
    (void)epoll_ctl(p->fd, EPOLL_CTL_DEL, fd, NULL);
    for (int i = p->next; i < p->n; i++)
        if (p->batch[i].data.ptr == w)
            p->batch[i].data.ptr = NULL;
}
