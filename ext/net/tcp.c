/* SPDX-License-Identifier: MIT */
#include "ext/net/tcp.h"
#include "ext/net/address.h"

#include <assert.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static_assert(REDD_STREAM_AGAIN == UV_EAGAIN, "the header's number is libuv's");
static_assert(offsetof(redd_slice, data) == offsetof(struct iovec, iov_base) &&
                  offsetof(redd_slice, len) == offsetof(struct iovec, iov_len) &&
                  sizeof(redd_slice) == sizeof(struct iovec),
              "slices pass to sendmsg as they are");

enum { ALL_EVENTS = REDD_STREAM_READ | REDD_STREAM_WRITE | REDD_STREAM_HANGUP };

static redd__tcp *tcp_of(redd_stream *s)
{
    return (redd__tcp *)(void *)s;
}

/** Passes on what is of interest and keeps the rest: no event comes twice. */
static void tell(redd__tcp *t, unsigned events)
{
    unsigned told = events & t->base.interest;
    if (t->base.interest & REDD_STREAM_READ)
        told &= ~(unsigned)REDD_STREAM_HANGUP; /* the end will be read */
    if (events & REDD_STREAM_RESET)
        told = ALL_EVENTS | REDD_STREAM_RESET; /* told whole: any call will name the error */
    t->latent = (uint8_t)((t->latent | events) & ALL_EVENTS & ~told);
    t->base.ready |= (uint8_t)told;
    if (told && t->base.waker)
        redd_waker_wake(t->base.waker);
}

static void on_events(redd__watch *w, unsigned events)
{
    redd__tcp *t = (redd__tcp *)(void *)((char *)w - offsetof(redd__tcp, watch));
    if (events & REDD_STREAM_HANGUP)
        t->ended = true;
    /* epoll tells all that is possible with each event; only readability renews itself. */
    unsigned known = t->base.ready & (REDD_STREAM_WRITE | REDD_STREAM_HANGUP);
    events &= ~known;
    if (events)
        tell(t, events);
}

/** The system has no more of `event` for now, and will say when it has. */
static void exhausted(redd__tcp *t, unsigned event)
{
    t->base.ready &= (uint8_t)~event;
    t->latent &= (uint8_t)~event;
}

static int failed(redd__tcp *t, unsigned event)
{
    if (errno == EAGAIN)
        exhausted(t, event);
    return -errno;
}

static int tcp_read(redd_stream *s, void *buf, size_t cap, size_t *n)
{
    redd__tcp *t = tcp_of(s);
    ssize_t got;
    do
        got = recv(t->fd, buf, cap, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return failed(t, REDD_STREAM_READ);
    *n = (size_t)got;
    redd_metric_add(&t->net->meters->received, got);
    if ((size_t)got < cap && !t->ended)
        exhausted(t, REDD_STREAM_READ); /* whatever comes from now on is an event */
    return 0;
}

static ssize_t send_slices(int fd, const redd_slice *v, size_t nv)
{
    if (nv == 1)
        return send(fd, v->data, v->len, MSG_NOSIGNAL | MSG_DONTWAIT);
    struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)v, .msg_iovlen = nv};
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int tcp_write(redd_stream *s, const redd_slice *v, size_t nv, size_t *n)
{
    redd__tcp *t = tcp_of(s);
    ssize_t put;
    if (nv > IOV_MAX)
        nv = IOV_MAX;
    do
        put = send_slices(t->fd, v, nv);
    while (put < 0 && errno == EINTR);
    if (put < 0)
        return failed(t, REDD_STREAM_WRITE);
    *n = (size_t)put;
    size_t total = 0;
    for (size_t i = 0; i < nv; i++)
        total += v[i].len;
    if ((size_t)put < total)
        exhausted(t, REDD_STREAM_WRITE);
    redd_metric_add(&t->net->meters->sent, put);
    return 0;
}

static int tcp_send_file(redd_stream *s, int fd, uint64_t offset, size_t length, size_t *n)
{
    off_t at = (off_t)offset;
    ssize_t put;
    do
        put = sendfile(tcp_of(s)->fd, fd, &at, length);
    while (put < 0 && errno == EINTR);
    if (put < 0)
        return failed(tcp_of(s), REDD_STREAM_WRITE);
    redd_metric_add(&tcp_of(s)->net->meters->sent, put);
    *n = (size_t)put; /* a short one may be the end of the file: the next call tells */
    return 0;
}

static void tcp_interest(redd_stream *s, unsigned events)
{
    redd__tcp *t = tcp_of(s);
    unsigned anew = events & ~(unsigned)s->interest;
    s->interest = (uint8_t)events;
    unsigned possible = t->latent | (s->ready & anew); /* what is asked for anew is told anew */
    if (possible & events)
        tell(t, possible);
}

static int tcp_shutdown(redd_stream *s)
{
    return shutdown(tcp_of(s)->fd, SHUT_WR) == 0 ? 0 : -errno;
}

static void tcp_close(redd_stream *s, bool reset)
{
    redd__tcp *t = tcp_of(s);
    if (reset) {
        struct linger now = {.l_onoff = 1, .l_linger = 0};
        (void)setsockopt(t->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    }
    redd__poller_remove(&t->net->poller, &t->watch, t->fd);
    (void)close(t->fd);
    redd__tcp_put(t->net, t);
}

static void tcp_peer(const redd_stream *s, redd_address *out)
{
    struct sockaddr_storage name;
    socklen_t len = sizeof(name);
    int fd = ((const redd__tcp *)(const void *)s)->fd;
    if (getpeername(fd, (struct sockaddr *)&name, &len) != 0)
        name.ss_family = AF_UNSPEC;
    redd__address_from(&name, out);
}

static const redd_stream_vt tcp_vt = {
    .name = "tcp",
    .read = tcp_read,
    .write = tcp_write,
    .interest = tcp_interest,
    .shutdown = tcp_shutdown,
    .close = tcp_close,
    .peer = tcp_peer,
    .send_file = tcp_send_file,
};

redd__tcp *redd__tcp_get(redd__net *net)
{
    return redd_pool_get(&net->streams);
}

void redd__tcp_put(redd__net *net, redd__tcp *t)
{
    redd_pool_put(&net->streams, t);
}

int redd__tcp_open(redd__net *net, redd__tcp *t, int fd)
{
    *t = (redd__tcp){
        .base = {.vt = &tcp_vt, .ready = REDD_STREAM_WRITE},
        .watch = {on_events},
        .net = net,
        .fd = fd,
    };
    return redd__poller_add(&net->poller, &t->watch, fd, ALL_EVENTS);
}

int redd_stream_from_fd(redd_worker *w, int fd, redd_stream **out)
{
    redd__net *net = redd__net_of(w);
    redd__tcp *t = redd__tcp_get(net);
    if (!t)
        return UV_ENOMEM;
    int rc = redd__tcp_open(net, t, fd);
    if (rc) {
        redd__tcp_put(net, t);
        return rc;
    }
    *out = &t->base;
    return 0;
}
