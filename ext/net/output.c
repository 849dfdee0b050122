/* SPDX-License-Identifier: MIT */
#include "ext/net/cork.h"
#include "ext/net/net.h"

#include <assert.h>

enum {
    LARGE = 16 * 1024, /* from here on a call of its own costs less than a copy */
    CHUNKS_KEPT = 64
};

void redd__cork_init(struct redd_cork *c, const redd_allocator *alloc)
{
    c->owner = NULL;
    c->used = 0;
    c->alloc = alloc;
    redd_pool_init(&c->chunks, alloc, REDD__CHUNK_SIZE, CHUNKS_KEPT);
}

void redd__cork_fini(struct redd_cork *c)
{
    assert(!c->owner);
    redd_pool_fini(&c->chunks);
}

static bool corked(const redd_output *o)
{
    return o->cork->owner == o;
}

static void uncork(redd_output *o)
{
    o->cork->owner = NULL;
    o->cork->used = 0;
}

/* --- own memory --- */

static size_t own(const redd_output *o)
{
    return o->len - o->off;
}

/** A piece is taken whatever its size while nothing waits, so that `max` never makes one impossible
 *  to send. */
static bool fits(const redd_output *o, size_t n)
{
    size_t waiting = own(o);
    return waiting == 0 || (waiting <= o->max && n <= o->max - waiting);
}

static void release(redd_output *o)
{
    if (o->cap == REDD__CHUNK_SIZE)
        redd_pool_put(&o->cork->chunks, o->data);
    else
        redd_free(o->cork->alloc, o->data, o->cap);
    o->data = NULL;
    o->off = o->len = o->cap = 0;
}

static int enlarge(redd_output *o, size_t need)
{
    if (need > SIZE_MAX / 2)
        return UV_ENOMEM;
    size_t cap = o->cap * 2;
    if (cap < need)
        cap = (need + REDD__CHUNK_SIZE - 1) / REDD__CHUNK_SIZE * REDD__CHUNK_SIZE;
    char *data =
        cap == REDD__CHUNK_SIZE ? redd_pool_get(&o->cork->chunks) : redd_alloc(o->cork->alloc, cap);
    if (!data)
        return UV_ENOMEM;
    size_t waiting = own(o);
    if (waiting)
        memcpy(data, o->data + o->off, waiting);
    if (o->data)
        release(o);
    o->data = data;
    o->len = waiting;
    o->cap = cap;
    return 0;
}

/** Room for `extra` bytes behind `len`. */
static int grow(redd_output *o, size_t extra)
{
    if (extra <= o->cap - o->len)
        return 0;
    size_t waiting = own(o);
    if (extra > SIZE_MAX - waiting)
        return UV_ENOMEM;
    /* Moving down what is less than half of the memory costs less than what it saves. */
    if (waiting + extra > o->cap || waiting > o->cap / 2)
        return enlarge(o, waiting + extra);
    memmove(o->data, o->data + o->off, waiting);
    o->off = 0;
    o->len = waiting;
    return 0;
}

static int append(redd_output *o, redd_slice s)
{
    int rc = grow(o, s.len);
    if (rc)
        return rc;
    memcpy(o->data + o->len, s.data, s.len);
    o->len += s.len;
    return 0;
}

/* --- sending --- */

/** A stream that has failed, or bytes that had to be dropped: nothing can follow them. */
static int fail(redd_output *o, int error)
{
    if (corked(o))
        uncork(o);
    if (o->data)
        release(o);
    o->error = error;
    return error;
}

/** One write. 0 with what the stream took, perhaps nothing; else its error, and `o` has failed. */
static int send_slices(redd_output *o, const redd_slice *v, size_t nv, size_t *n)
{
    int rc = redd_stream_write(o->stream, v, nv, n);
    if (rc == 0 || rc == UV_EAGAIN)
        return 0;
    return fail(o, rc);
}

/** The cork stays with `o` when the stream took it all; else the rest is in own memory. */
static int flush_cork(redd_output *o)
{
    struct redd_cork *c = o->cork;
    if (c->used == 0)
        return 0;
    redd_slice head = redd_slice_of(c->buffer, c->used);
    size_t n;
    int rc = send_slices(o, &head, 1, &n);
    if (rc)
        return rc;
    if (n == c->used) {
        c->used = 0;
        return 0;
    }
    if (append(o, redd_slice_of(c->buffer + n, c->used - n)) != 0)
        return fail(o, UV_ENOMEM);
    uncork(o);
    return UV_EAGAIN;
}

static int flush_own(redd_output *o)
{
    if (own(o) > 0) {
        redd_slice head = redd_slice_of(o->data + o->off, own(o));
        size_t n;
        int rc = send_slices(o, &head, 1, &n);
        if (rc)
            return rc;
        o->off += n;
        if (own(o) > 0)
            return UV_EAGAIN;
    }
    if (o->data)
        release(o);
    return 0;
}

/** What stands before the next piece: the cork's bytes, or those in own memory. */
static redd_slice waiting_head(const redd_output *o)
{
    if (corked(o))
        return redd_slice_of(o->cork->buffer, o->cork->used);
    return o->data ? redd_slice_of(o->data + o->off, own(o)) : redd_slice_of(NULL, 0);
}

/** The stream took the first `n` bytes of the head, and nothing behind it. */
static void consume_head(redd_output *o, size_t n)
{
    struct redd_cork *c = o->cork;
    if (!corked(o)) {
        o->off += n;
        return;
    }
    memmove(c->buffer, c->buffer + n, c->used - n);
    c->used -= n;
}

/** Moves the cork's bytes to own memory with `extra` bytes of room behind them. */
static int leave_cork(redd_output *o, size_t extra)
{
    struct redd_cork *c = o->cork;
    int rc = grow(o, c->used + extra);
    if (rc)
        return rc;
    memcpy(o->data, c->buffer, c->used);
    o->len = c->used;
    uncork(o);
    return 0;
}

/** Writes what waits and `s` in one call, from where they are. */
static int write_large(redd_output *o, redd_slice s)
{
    if (!corked(o) && !fits(o, s.len))
        return REDD_ELIMIT;
    redd_slice v[2] = {waiting_head(o), s};
    size_t head = v[0].len, n;
    int rc = head ? send_slices(o, v, 2, &n) : send_slices(o, v + 1, 1, &n);
    if (rc)
        return rc;
    size_t taken = n > head ? n - head : 0;
    consume_head(o, n - taken);
    if (taken == s.len)
        return corked(o) ? 0 : flush_own(o);
    redd_slice rest = redd_slice_of(s.data + taken, s.len - taken);
    rc = corked(o) ? leave_cork(o, rest.len) : grow(o, rest.len);
    if (rc)
        return taken ? fail(o, rc) : rc; /* half a piece cannot be refused any more */
    return append(o, rest);
}

/* --- public --- */

void redd_output_init(redd_output *o, redd_worker *w, redd_stream *stream, size_t max)
{
    *o = (redd_output){.stream = stream, .cork = &redd__net_of(w)->cork, .max = max};
}

void redd_output_fini(redd_output *o)
{
    if (corked(o))
        uncork(o);
    if (o->data)
        release(o);
}

int redd_output_move(redd_output *to, redd_output *from)
{
    if (corked(from)) {
        int rc = from->cork->used ? leave_cork(from, 0) : 0;
        if (rc)
            return rc;
        if (corked(from))
            uncork(from);
    }
    *to = *from;
    from->data = NULL;
    from->off = from->len = from->cap = 0;
    return 0;
}

void redd_output_cork(redd_output *o)
{
    struct redd_cork *c = o->cork;
    if (c->owner == o || o->error || own(o) > 0)
        return;
    if (c->owner)
        (void)redd_output_uncork(c->owner); /* which remembers its error */
    if (o->data)
        release(o);
    c->owner = o;
}

int redd_output_uncork(redd_output *o)
{
    int rc = redd_output_flush(o);
    if (corked(o))
        uncork(o);
    return rc;
}

int redd_output_flush(redd_output *o)
{
    if (o->error)
        return o->error;
    return corked(o) ? flush_cork(o) : flush_own(o);
}

static char *reserve_own(redd_output *o, size_t n)
{
    if (!fits(o, n) || grow(o, n) != 0)
        return NULL;
    return o->data + o->len;
}

char *redd_output_reserve(redd_output *o, size_t n)
{
    struct redd_cork *c = o->cork;
    assert(n > 0);
    if (corked(o)) {
        if (n <= REDD__CORK_SIZE - c->used)
            return c->buffer + c->used;
        (void)flush_cork(o);
        if (corked(o) && n <= REDD__CORK_SIZE)
            return c->buffer;
        if (corked(o))
            uncork(o);
    }
    return o->error ? NULL : reserve_own(o, n);
}

void redd_output_commit(redd_output *o, size_t n)
{
    size_t *end = corked(o) ? &o->cork->used : &o->len;
    assert(n <= (corked(o) ? REDD__CORK_SIZE : o->cap) - *end);
    *end += n;
}

int redd_output_write(redd_output *o, redd_slice s)
{
    if (o->error || s.len == 0)
        return o->error;
    if (s.len >= LARGE)
        return write_large(o, s);
    char *room = redd_output_reserve(o, s.len);
    if (!room)
        return o->error ? o->error : fits(o, s.len) ? UV_ENOMEM : REDD_ELIMIT;
    memcpy(room, s.data, s.len);
    redd_output_commit(o, s.len);
    return 0;
}

size_t redd_output_queued(const redd_output *o)
{
    return corked(o) ? o->cork->used : own(o);
}
