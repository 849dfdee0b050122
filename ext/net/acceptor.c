/* SPDX-License-Identifier: MIT */
#include "ext/net/listener.h"
#include "ext/net/tcp.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    REST_MS = 100,   /* from a failure to the next try */
    LOG_MS = 1000,   /* between two lines about failures */
    SKIPPED_MAX = 32 /* connections that broke off in the backlog, in one poll */
};

struct redd_acceptor {
    redd__watch watch;
    redd__net *net;
    redd_listener *listener;
    const redd_logger *logger;
    redd_waker *waker; /* counted */
    redd_timer rest;   /* active: nothing is accepted */
    uint64_t accepted;
    int fd;     /* the listener's */
    bool ready; /* no accept has said UV_EAGAIN since the last event */
};

static void go_on(redd_acceptor *a)
{
    a->ready = true;
    redd_waker_fire(&a->waker);
}

static void on_event(redd__watch *w, unsigned events)
{
    (void)events;
    redd_acceptor *a = (redd_acceptor *)(void *)((char *)w - offsetof(redd_acceptor, watch));
    if (!redd_timer_active(&a->rest))
        go_on(a);
}

static void on_rested(redd_timer *t, void *user)
{
    (void)t;
    go_on(user);
}

/** One line for all workers, at most once a second. */
static void log_failure(redd_acceptor *a, int error)
{
    redd_listener *l = a->listener;
    atomic_fetch_add(&l->failures, 1);
    uint64_t now = redd_timers_now(a->net->timers) + 1;
    uint64_t last = atomic_load(&l->logged_at);
    if (last != 0 && now < last + LOG_MS)
        return;
    if (!atomic_compare_exchange_strong(&l->logged_at, &last, now))
        return; /* another worker does */
    uint64_t n = atomic_exchange(&l->failures, 0);
    char at[sizeof(l->file.path) + 16];
    if (l->address.local)
        (void)snprintf(at, sizeof(at), "unix:%s", l->file.path);
    else
        (void)snprintf(at, sizeof(at), "%s port %u", l->address.host, l->address.port);
    redd_log(a->logger, REDD_LOG_WARN, "cannot accept on %s: %s (%" PRIu64 " %s); connections wait",
             at, redd_error_text(error), n, n == 1 ? "try" : "tries");
}

/** Connections stay in the backlog; libuv's own answer, to accept and drop them, loses them. */
static void rest(redd_acceptor *a, int error)
{
    a->ready = false;
    redd_timer_start(&a->rest, REST_MS);
    redd_metric_add(&a->net->meters->accept_failures, 1);
    log_failure(a, error);
}

/** The connection broke off before it was accepted: the next one may be good (accept(2)). */
static bool concerns_one_connection(int error)
{
    switch (error) {
    case UV_ECONNABORTED:
    case UV_EINTR:
    case UV_EPROTO:
    case UV_EPERM: /* a firewall's rule */
    case UV_ENETDOWN:
    case UV_ENETUNREACH:
    case UV_EHOSTUNREACH:
    case UV_EHOSTDOWN:
    case UV_ENOPROTOOPT:
    case UV_ENOTSUP:
        return true;
    default:
        return false;
    }
}

static int accept_one(redd_acceptor *a, redd_stream **out)
{
    redd__tcp *t = redd__tcp_get(a->net);
    if (!t)
        return UV_ENOMEM;
    /* cppcheck-suppress nullPointer ; nobody wants the peer's name yet */
    int fd = accept4(a->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    int rc = fd < 0 ? -errno : redd__tcp_open(a->net, t, fd);
    if (rc) {
        redd__tcp_put(a->net, t);
        if (fd >= 0)
            (void)close(fd);
        return rc;
    }
    a->accepted++;
    redd_metric_add(&a->net->meters->accepted, 1);
    *out = &t->base;
    return 0;
}

redd_poll redd_acceptor_poll(redd_acceptor *a, redd_waker *waker, redd_stream **out)
{
    for (int tries = 1; a->ready; tries++) {
        int rc = accept_one(a, out);
        if (rc == 0)
            return REDD_READY;
        if (rc == UV_EAGAIN)
            a->ready = false;
        else if (!concerns_one_connection(rc) || tries == SKIPPED_MAX)
            rest(a, rc);
    }
    redd_waker_keep(&a->waker, waker);
    return REDD_PENDING;
}

int redd_acceptor_open(redd_listener *l, redd_worker *w, redd_acceptor **out)
{
    /* Bound for more workers than came to be: nobody would accept from the other sockets. */
    if (l->n > redd_runtime_workers(redd_worker_runtime(w)))
        return REDD_ESTATE;
    redd__net *net = redd__net_of(w);
    redd_acceptor *a = redd_alloc_zero(net->alloc, sizeof(*a));
    if (!a)
        return UV_ENOMEM;
    a->watch.on_events = on_event;
    a->fd = l->fds[redd_worker_index(w) % l->n];
    int rc = redd__poller_add(&net->poller, &a->watch, a->fd, REDD_STREAM_READ);
    if (rc) {
        redd_free(net->alloc, a, sizeof(*a));
        return rc;
    }
    a->net = net;
    a->listener = l;
    a->logger = redd_worker_logger(w);
    redd_timer_init(&a->rest, net->timers, on_rested, a);
    a->ready = true;
    *out = a;
    return 0;
}

void redd_acceptor_close(redd_acceptor *a)
{
    if (!a)
        return;
    redd_timer_stop(&a->rest);
    redd_waker_keep(&a->waker, NULL);
    redd__poller_remove(&a->net->poller, &a->watch, a->fd);
    redd_free(a->net->alloc, a, sizeof(*a));
}

uint64_t redd_acceptor_accepted(const redd_acceptor *a)
{
    return a->accepted;
}
