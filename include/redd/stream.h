/* SPDX-License-Identifier: MIT */
/** Byte streams behind one table of functions: TCP, in-memory pair, and whatever wraps them. */
#ifndef REDD_STREAM_H
#define REDD_STREAM_H

#include <redd/worker.h>

#include <errno.h>

REDD_BEGIN_DECLS

typedef struct redd_stream redd_stream;

/** UV_EAGAIN without <uv.h>. */
#define REDD_STREAM_AGAIN (-EAGAIN)

typedef enum redd_stream_events {
    REDD_STREAM_READ = 1,
    REDD_STREAM_WRITE = 2,
    REDD_STREAM_HANGUP = 4, /* the peer reset the connection, or closed its sending side */
    REDD_STREAM_RESET = 8   /* the connection is broken; told whatever the interest is */
} redd_stream_events;

typedef struct redd_address {
    char host[46]; /* numeric, "" when the peer has none, as over a unix socket */
    uint16_t port;
    bool ipv6;
    bool local; /* a unix socket's: no network lies between */
} redd_address;

/** Every function runs on the stream's worker; none blocks. */
typedef struct redd_stream_vt {
    const char *name;
    /** Reads up to `cap` > 0 bytes with at most one system call. 0 with *n > 0; 0 with *n = 0: the
     *  peer has ended; UV_EAGAIN: nothing now. Clears READ in `ready` unless more is surely there.
     */
    int (*read)(redd_stream *s, void *buf, size_t cap, size_t *n);
    /** Writes a prefix of the slices with at most one system call. UV_EAGAIN: no room now. A short
     *  write clears WRITE in `ready`. */
    int (*write)(redd_stream *s, const redd_slice *v, size_t nv, size_t *n);
    /** Events that wake the waker from now on, instead of the former ones. HANGUP without READ
     * tells of the peer's end without reading. */
    void (*interest)(redd_stream *s, unsigned events);
    /** Ends the sending side behind what was written. */
    int (*shutdown)(redd_stream *s);
    /** Ends both sides and frees the stream. `reset`: drop unsent bytes and tell the peer by RST
     * where there is one. */
    void (*close)(redd_stream *s, bool reset);
    void (*peer)(const redd_stream *s, redd_address *out);
    /** Writes up to `length` bytes of a file from `offset` with at most one system call, as write;
     *  *n = 0: the file ends there. NULL: the stream has no such way. */
    int (*send_file)(redd_stream *s, int fd, uint64_t offset, size_t length, size_t *n);
} redd_stream_vt;

/** First member of every concrete stream. `ready` holds the events that are known to be possible;
 *  a stream is born with WRITE. When events of its interest come, it adds them to `ready` and wakes
 *  `waker`. Every stream must be closed before its worker ends. */
struct redd_stream {
    const redd_stream_vt *vt;
    redd_waker *waker; /* counted; NULL: nobody waits */
    uint8_t ready;
    uint8_t interest;
};

/** As the table's read; UV_EAGAIN without a system call while READ is not ready. */
static inline int redd_stream_read(redd_stream *s, void *buf, size_t cap, size_t *n)
{
    *n = 0;
    if (!(s->ready & REDD_STREAM_READ))
        return REDD_STREAM_AGAIN;
    return s->vt->read(s, buf, cap, n);
}
static inline int redd_stream_write(redd_stream *s, const redd_slice *v, size_t nv, size_t *n)
{
    *n = 0;
    if (!(s->ready & REDD_STREAM_WRITE))
        return REDD_STREAM_AGAIN;
    return s->vt->write(s, v, nv, n);
}
/** As the table's send_file, which must be there. */
static inline int redd_stream_send_file(redd_stream *s, int fd, uint64_t offset, size_t length,
                                        size_t *n)
{
    *n = 0;
    if (!(s->ready & REDD_STREAM_WRITE))
        return REDD_STREAM_AGAIN;
    return s->vt->send_file(s, fd, offset, length, n);
}
/** Costs nothing when nothing changes. */
static inline void redd_stream_interest(redd_stream *s, unsigned events)
{
    if (s->interest != events)
        s->vt->interest(s, events);
}
/** The one waker that the stream wakes. */
static inline void redd_stream_wake(redd_stream *s, redd_waker *w)
{
    redd_waker_keep(&s->waker, w);
}
static inline int redd_stream_shutdown(redd_stream *s)
{
    return s->vt->shutdown(s);
}
/** NULL is allowed. Drops the waker. */
static inline void redd_stream_close(redd_stream *s, bool reset)
{
    if (s) {
        redd_waker_keep(&s->waker, NULL);
        s->vt->close(s, reset);
    }
}
static inline void redd_stream_peer(const redd_stream *s, redd_address *out)
{
    s->vt->peer(s, out);
}

/** A connected, non-blocking socket as a stream; owns `fd` on success. UV_ENOMEM. */
REDD_API int redd_stream_from_fd(redd_worker *w, int fd, redd_stream **out);

/** Two ends joined in memory, each direction holding at most `capacity` bytes; both on `w`. Reads
 *  give what is there at that moment, so that a test decides where its input is cut. UV_ENOMEM. */
REDD_API int redd_stream_pair(redd_worker *w, size_t capacity, redd_stream *out[2]);

/** The worker's one read buffer (at least 64 KiB), for bytes that are used up before control
 * returns to the loop. */
REDD_API char *redd_read_buffer(redd_worker *w, size_t *size);

/** The extension "net". */
REDD_API extern const redd_extension redd_net_extension;

REDD_END_DECLS

#endif
