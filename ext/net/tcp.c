/* SPDX-License-Identifier: MIT */
#include "ext/net/tcp.h"
#include "ext/net/address.h"

#include <assert.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static_assert(REDD_STREAM_AGAIN == UV_EAGAIN, "the header's number is libuv's");
static_assert((int)REDD_STREAM_READ == UV_READABLE && (int)REDD_STREAM_WRITE == UV_WRITABLE &&
                  (int)REDD_STREAM_HANGUP == UV_DISCONNECT,
              "events pass to and from libuv as they are");
static_assert(offsetof(redd_slice, data) == offsetof(struct iovec, iov_base) &&
                  offsetof(redd_slice, len) == offsetof(struct iovec, iov_len) &&
                  sizeof(redd_slice) == sizeof(struct iovec),
              "slices pass to sendmsg as they are");

enum {
    ALL_EVENTS = REDD_STREAM_READ | REDD_STREAM_WRITE | REDD_STREAM_HANGUP,
    /** An event that nobody acts on is told at most this often before it is muted. One turn of
     *  libuv's loop may tell it 48 times, before any task could run. */
    IGNORED_MAX = 200
};

static redd__tcp *tcp_of(redd_stream *s)
{
    return (redd__tcp *)(void *)s;
}

static redd__net *net_of(const redd__tcp *t)
{
    return t->poll.data;
}

static unsigned wanted(const redd__tcp *t)
{
    unsigned events = t->base.interest & ~(unsigned)t->muted;
    if (events & REDD_STREAM_READ)
        events &= ~(unsigned)REDD_STREAM_HANGUP; /* the end will be read */
    return events;
}

static void on_poll(uv_poll_t *poll, int status, int events);

static void arm(redd__tcp *t, unsigned events)
{
    t->armed = (uint8_t)events;
    int rc = events ? uv_poll_start(&t->poll, (int)events, on_poll) : uv_poll_stop(&t->poll);
    assert(rc == 0); /* only a second handle for the same descriptor is refused */
    (void)rc;
}

/** Each change costs two calls of epoll_ctl. So what is watched too much is given up only when it
 *  comes: a reader that pauses between two requests costs nothing. A watch for READ sees the end
 *  come, too. */
static void cover_interest(redd__tcp *t)
{
    unsigned want = wanted(t);
    unsigned missing = want & ~(unsigned)t->armed;
    if (t->armed & REDD_STREAM_READ)
        missing &= ~(unsigned)REDD_STREAM_HANGUP;
    if (missing)
        arm(t, want);
}

static void wake(redd__tcp *t)
{
    if (t->base.waker)
        redd_waker_wake(t->base.waker);
}

/** libuv says UV_EBADF for any EPOLLERR and has stopped watching; the next read or write gives the
 *  real error. */
static void on_failure(redd__tcp *t)
{
    t->failed = true;
    t->muted = ALL_EVENTS;
    t->base.ready |= ALL_EVENTS;
    arm(t, 0);
    if (t->base.interest)
        wake(t);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    redd__tcp *t = (redd__tcp *)(void *)((char *)poll - offsetof(redd__tcp, poll));
    if (status < 0) {
        on_failure(t);
        return;
    }
    unsigned news = (unsigned)events & wanted(t);
    t->base.ready |= (uint8_t)news;
    if (++t->ignored >= IGNORED_MAX)
        t->muted |= (uint8_t)news;
    t->muted |= (uint8_t)(news & REDD_STREAM_HANGUP); /* it stays true: once is enough */
    unsigned want = wanted(t);
    if ((unsigned)events & ~want)
        arm(t, want);
    if (news)
        wake(t);
}

/** The system has no more of `event` for now: watch for it again. */
static void exhausted(redd__tcp *t, unsigned event)
{
    t->base.ready &= (uint8_t)~event;
    if (t->muted & event) {
        t->muted &= (uint8_t)~event;
        cover_interest(t);
    }
}

static int again(redd__tcp *t, unsigned event)
{
    t->failed = false;
    exhausted(t, event);
    return UV_EAGAIN;
}

static int tcp_read(redd_stream *s, void *buf, size_t cap, size_t *n)
{
    redd__tcp *t = tcp_of(s);
    ssize_t got;
    do
        got = recv(t->fd, buf, cap, 0);
    while (got < 0 && errno == EINTR);
    t->ignored = 0;
    if (got < 0)
        return errno == EAGAIN ? again(t, REDD_STREAM_READ) : -errno;
    *n = (size_t)got;
    if (got == 0)
        t->muted |= REDD_STREAM_READ; /* the end stays readable for ever */
    else if ((size_t)got < cap && !t->failed)
        exhausted(t, REDD_STREAM_READ);
    return 0;
}

static ssize_t send_slices(int fd, const redd_slice *v, size_t nv)
{
    if (nv == 1)
        return send(fd, v->data, v->len, MSG_NOSIGNAL);
    struct msghdr message = {
        .msg_iov = (struct iovec *)(uintptr_t)v,
        .msg_iovlen = nv < IOV_MAX ? nv : IOV_MAX,
    };
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

static int tcp_write(redd_stream *s, const redd_slice *v, size_t nv, size_t *n)
{
    redd__tcp *t = tcp_of(s);
    ssize_t put;
    do
        put = send_slices(t->fd, v, nv);
    while (put < 0 && errno == EINTR);
    t->ignored = 0;
    if (put < 0)
        return errno == EAGAIN ? again(t, REDD_STREAM_WRITE) : -errno;
    *n = (size_t)put;
    size_t total = 0;
    for (size_t i = 0; i < nv; i++)
        total += v[i].len;
    if ((size_t)put < total)
        exhausted(t, REDD_STREAM_WRITE);
    return 0;
}

static void tcp_interest(redd_stream *s, unsigned events)
{
    redd__tcp *t = tcp_of(s);
    unsigned anew = events & ~(unsigned)s->interest & (REDD_STREAM_READ | REDD_STREAM_WRITE);
    s->interest = (uint8_t)events;
    if (t->failed) { /* nothing is watched any more, and both calls have something to say */
        if (events & (REDD_STREAM_READ | REDD_STREAM_WRITE))
            wake(t);
        return;
    }
    t->ignored = 0;
    t->muted &= (uint8_t)~anew;
    cover_interest(t);
}

static int tcp_shutdown(redd_stream *s)
{
    return shutdown(tcp_of(s)->fd, SHUT_WR) == 0 ? 0 : -errno;
}

static void on_close(uv_handle_t *poll)
{
    redd__tcp *t = (redd__tcp *)(void *)((char *)poll - offsetof(redd__tcp, poll));
    redd__net *net = net_of(t);
    redd__tcp_put(net, t);
    redd__net_unref(net);
}

static void tcp_close(redd_stream *s, bool reset)
{
    redd__tcp *t = tcp_of(s);
    if (reset) {
        struct linger now = {.l_onoff = 1, .l_linger = 0};
        (void)setsockopt(t->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    }
    uv_close((uv_handle_t *)&t->poll, on_close);
    (void)close(t->fd); /* behind uv_close, which takes it out of the loop's epoll */
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
    int rc = uv_poll_init(net->loop, &t->poll, fd);
    if (rc)
        return rc;
    /* Tasks keep a worker's loop alive, not the sockets that they wait for. */
    uv_unref((uv_handle_t *)&t->poll);
    t->poll.data = redd__net_ref(net);
    t->base = (redd_stream){.vt = &tcp_vt, .ready = REDD_STREAM_WRITE};
    t->fd = fd;
    t->armed = t->muted = t->ignored = 0;
    t->failed = false;
    return 0;
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
