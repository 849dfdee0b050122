/* SPDX-License-Identifier: MIT */
/** Two streams joined in memory, which behave as two ends of one TCP connection do. */
#include <redd/stream.h>

#include <uv.h>

typedef struct pair pair;

typedef struct end {
    redd_stream base;
    struct end *peer;
    pair *pair;
    char *ring; /* bytes that wait to be read at this end */
    size_t start, len;
    int error;   /* what the next read or write reports, once: the peer's reset */
    bool ended;  /* this end has shut its sending side down */
    bool closed; /* never reset: `peer` stays valid until both ends are closed */
} end;

struct pair {
    const redd_allocator *alloc;
    size_t capacity; /* of each ring */
    end ends[2];
    char rings[];
};

static end *end_of(redd_stream *s)
{
    return (end *)(void *)s;
}

static size_t pair_size(size_t capacity)
{
    return sizeof(pair) + 2 * capacity;
}

/** What poll(2) would say of a socket in this state. */
static unsigned levels(const end *e)
{
    const end *peer = e->peer;
    bool hangup = e->error || peer->ended || peer->closed;
    unsigned events = hangup ? REDD_STREAM_HANGUP : 0;
    if (hangup || e->len > 0)
        events |= REDD_STREAM_READ;
    if (e->error || peer->closed || e->ended || peer->len < e->pair->capacity)
        events |= REDD_STREAM_WRITE;
    return events;
}

static void tell(end *e, unsigned events)
{
    events &= e->base.interest;
    if (e->base.interest & REDD_STREAM_READ)
        events &= ~(unsigned)REDD_STREAM_HANGUP; /* the end will be read */
    e->base.ready |= (uint8_t)events;
    if (events && e->base.waker)
        redd_waker_wake(e->base.waker);
}

/** A reset is told whole, whatever was asked for. */
static void tell_reset(end *e)
{
    e->error = UV_ECONNRESET;
    e->len = 0;
    e->base.ready |= REDD_STREAM_READ | REDD_STREAM_WRITE | REDD_STREAM_HANGUP | REDD_STREAM_RESET;
    if (e->base.waker)
        redd_waker_wake(e->base.waker);
}

/** Takes back the event that is no longer true. */
static void settle(end *e, unsigned event)
{
    if (!(levels(e) & event))
        e->base.ready &= (uint8_t)~event;
}

static int take_error(end *e)
{
    int error = e->error;
    e->error = 0;
    return error;
}

/* A ring's bytes may lie in two runs: at its end and at its beginning. */

static size_t ring_get(end *e, char *to, size_t n)
{
    size_t capacity = e->pair->capacity;
    n = n < e->len ? n : e->len;
    size_t first = n < capacity - e->start ? n : capacity - e->start;
    memcpy(to, e->ring + e->start, first);
    memcpy(to + first, e->ring, n - first);
    e->start = (e->start + n) % capacity;
    e->len -= n;
    return n;
}

static size_t ring_put(end *e, redd_slice s)
{
    size_t capacity = e->pair->capacity, room = capacity - e->len;
    size_t n = s.len < room ? s.len : room;
    if (n == 0)
        return 0;
    size_t at = (e->start + e->len) % capacity;
    size_t first = n < capacity - at ? n : capacity - at;
    memcpy(e->ring + at, s.data, first);
    memcpy(e->ring, s.data + first, n - first);
    e->len += n;
    return n;
}

static int pair_read(redd_stream *s, void *buf, size_t cap, size_t *n)
{
    end *e = end_of(s);
    if (e->error)
        return take_error(e);
    bool eof = e->peer->ended || e->peer->closed;
    *n = ring_get(e, buf, cap);
    settle(e, REDD_STREAM_READ);
    if (*n > 0 && !e->peer->closed)
        tell(e->peer, REDD_STREAM_WRITE);
    return *n > 0 || eof ? 0 : UV_EAGAIN;
}

static int pair_write(redd_stream *s, const redd_slice *v, size_t nv, size_t *n)
{
    end *e = end_of(s);
    if (e->error)
        return take_error(e);
    if (e->ended || e->peer->closed)
        return UV_EPIPE;
    size_t total = 0, put = 0;
    for (size_t i = 0; i < nv; i++) {
        total += v[i].len;
        put += ring_put(e->peer, v[i]);
    }
    settle(e, REDD_STREAM_WRITE);
    *n = put;
    if (put > 0)
        tell(e->peer, REDD_STREAM_READ);
    return put > 0 || total == 0 ? 0 : UV_EAGAIN;
}

static void pair_interest(redd_stream *s, unsigned events)
{
    end *e = end_of(s);
    unsigned anew = events & ~(unsigned)s->interest;
    s->interest = (uint8_t)events;
    tell(e, levels(e) & (anew | ~(unsigned)s->ready)); /* what is asked for anew is told anew */
}

static int pair_shutdown(redd_stream *s)
{
    end *e = end_of(s);
    if (e->peer->closed)
        return UV_ENOTCONN;
    e->ended = true;
    tell(e->peer, REDD_STREAM_READ | REDD_STREAM_HANGUP);
    return 0;
}

static void pair_close(redd_stream *s, bool reset)
{
    end *e = end_of(s), *peer = e->peer;
    e->closed = true;
    if (peer->closed) {
        redd_free(e->pair->alloc, e->pair, pair_size(e->pair->capacity));
        return;
    }
    if (reset)
        tell_reset(peer);
    else
        tell(peer, levels(peer));
}

static void pair_peer(const redd_stream *s, redd_address *out)
{
    (void)s;
    *out = (redd_address){.host = ""};
}

static const redd_stream_vt pair_vt = {
    .name = "pair",
    .read = pair_read,
    .write = pair_write,
    .interest = pair_interest,
    .shutdown = pair_shutdown,
    .close = pair_close,
    .peer = pair_peer,
};

int redd_stream_pair(redd_worker *w, size_t capacity, redd_stream *out[2])
{
    if (capacity == 0 || capacity > SIZE_MAX / 4)
        return UV_EINVAL;
    const redd_allocator *alloc = redd_worker_allocator(w);
    pair *p = redd_alloc(alloc, pair_size(capacity));
    if (!p)
        return UV_ENOMEM;
    p->alloc = alloc;
    p->capacity = capacity;
    for (size_t i = 0; i < 2; i++) {
        p->ends[i] = (end){
            .base = {.vt = &pair_vt, .ready = REDD_STREAM_WRITE},
            .peer = &p->ends[1 - i],
            .pair = p,
            .ring = p->rings + i * capacity,
        };
        out[i] = &p->ends[i].base;
    }
    return 0;
}
