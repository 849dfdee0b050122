/* SPDX-License-Identifier: MIT */
/** An HTTP server in memory: a worker on a loop of its own, a virtual clock, counted memory, and
 * clients that send raw bytes and see raw bytes. The includer defines HTTP_MUST(condition). */
#ifndef REDD_TESTS_UNIT_HTTP_FIXTURE_H
#define REDD_TESTS_UNIT_HTTP_FIXTURE_H

#include <redd/http.h>

#include <stdlib.h>
#include <uv.h>

/* --- growing bytes --- */

typedef struct bytes {
    char *data; /* with a NUL behind it, or NULL while empty */
    size_t len, cap;
} bytes;

static inline void bytes_add(bytes *b, const void *data, size_t len)
{
    if (!b->data || b->len + len + 1 > b->cap) {
        b->cap = (b->len + len + 1) * 2;
        b->data = realloc(b->data, b->cap);
        HTTP_MUST(b->data != NULL);
    }
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    b->data[b->len] = '\0';
}

static inline void bytes_text(bytes *b, const char *text)
{
    bytes_add(b, text, strlen(text));
}

static inline void bytes_fill(bytes *b, char ch, size_t n)
{
    while (n-- > 0)
        bytes_add(b, &ch, 1);
}

static inline void bytes_clear(bytes *b)
{
    b->len = 0;
    if (b->data)
        b->data[0] = '\0';
}

static inline void bytes_free(bytes *b)
{
    free(b->data);
    memset(b, 0, sizeof *b);
}

static inline bool bytes_are(const bytes *b, const void *data, size_t len)
{
    return b->len == len && (len == 0 || memcmp(b->data, data, len) == 0);
}

/* --- the server --- */

typedef struct bed {
    uv_loop_t loop;
    redd_counting_allocator *counting;
    redd_clock *clock;
    redd_runtime *rt;
    redd_worker *w;
    redd_http_server *server;
    redd_http_options options; /* the worker's; a test may change them before bed_serve */
    unsigned warnings;         /* lines logged */
    unsigned server_ends;
    bool gone;
} bed;

static inline void bed_log(redd_log_level level, redd_slice line, void *user)
{
    (void)level;
    (void)line;
    ((bed *)user)->warnings++;
}

static inline void bed_turns(bed *b, int n)
{
    while (n-- > 0)
        (void)uv_run(&b->loop, UV_RUN_NOWAIT);
}

static inline redd_allocator_stats bed_memory(const bed *b)
{
    redd_allocator_stats stats;
    redd_counting_allocator_stats(b->counting, &stats);
    return stats;
}

/** Up to a worker with the extensions. Errors are for scenarios that run out of memory. */
static inline int bed_try_begin(bed *b)
{
    redd_runtime_options o = REDD_RUNTIME_OPTIONS_INIT;
    o.workers = 1;
    o.allocator = redd_counting_allocator_hook(b->counting);
    o.clock = b->clock;
    o.logger = (redd_logger){.write = bed_log, .user = b, .level = REDD_LOG_WARN};
    int err = redd_runtime_new(&o, &b->rt);
    if (!err)
        err = redd_runtime_add(b->rt, &redd_net_extension);
    if (!err)
        err = redd_runtime_add(b->rt, &redd_http_extension);
    if (!err)
        err = redd_runtime_attach(b->rt, &b->loop, &b->w);
    if (!err)
        redd_http_options_init(b->w, &b->options);
    return err;
}

static inline void bed_prepare(bed *b)
{
    memset(b, 0, sizeof *b);
    HTTP_MUST(uv_loop_init(&b->loop) == 0);
    HTTP_MUST(redd_counting_allocator_new(NULL, &b->counting) == 0);
    HTTP_MUST(redd_virtual_clock_new(1780000000, &b->clock) == 0);
}

static inline void bed_on_server_end(void *user)
{
    bed *b = user;
    b->server_ends++;
    b->server = NULL;
}

static inline int bed_try_serve(bed *b, redd_listener *l, redd_http_handler_fn handler, void *user)
{
    int err = redd_http_serve(b->w, l, &b->options, handler, user, &b->server);
    if (!err)
        redd_http_server_on_end(b->server, bed_on_server_end, b);
    return err;
}

/** A worker, and a server on it that only clients of client_open feed. */
static inline void bed_begin(bed *b, redd_http_handler_fn handler, void *user)
{
    bed_prepare(b);
    HTTP_MUST(bed_try_begin(b) == 0);
    HTTP_MUST(bed_try_serve(b, NULL, handler, user) == 0);
}

/** Replaces the server by one with the options that now stand in the bed. */
static inline void bed_serve_anew(bed *b, redd_http_handler_fn handler, void *user)
{
    redd_http_server_close(b->server, REDD_STOP_FORCED);
    bed_turns(b, 2);
    HTTP_MUST(b->server == NULL);
    HTTP_MUST(bed_try_serve(b, NULL, handler, user) == 0);
}

static inline void bed_on_gone(void *user)
{
    ((bed *)user)->gone = true;
}

static inline void bed_detach(bed *b, redd_stop_mode mode)
{
    redd_worker_detach(b->w, mode, bed_on_gone, b);
}

/** Stops what still runs; checks that no handle and no byte is left. */
static inline void bed_end(bed *b)
{
    if (b->w && !b->gone) {
        bed_detach(b, REDD_STOP_FORCED);
        while (!b->gone)
            (void)uv_run(&b->loop, UV_RUN_ONCE);
    } else {
        (void)uv_run(&b->loop, UV_RUN_DEFAULT); /* an attach that failed closes its handles */
    }
    redd_runtime_free(b->rt);
    redd_clock_free(b->clock);
    HTTP_MUST(bed_memory(b).blocks == 0 && bed_memory(b).bytes == 0);
    redd_counting_allocator_free(b->counting);
    HTTP_MUST(uv_loop_close(&b->loop) == 0);
}

/* --- counting the calls of a stream --- */

/** A stream's functions with its reads and writes counted. The server's end of a client has one. */
typedef struct meter {
    redd_stream_vt vt; /* first: the stream points at it */
    const redd_stream_vt *inner;
    unsigned reads, writes; /* calls that moved bytes */
} meter;

static inline int meter_read(redd_stream *s, void *buf, size_t cap, size_t *n)
{
    meter *m = (meter *)(uintptr_t)s->vt;
    int rc = m->inner->read(s, buf, cap, n);
    m->reads += rc == 0 && *n > 0;
    return rc;
}

static inline int meter_write(redd_stream *s, const redd_slice *v, size_t nv, size_t *n)
{
    meter *m = (meter *)(uintptr_t)s->vt;
    int rc = m->inner->write(s, v, nv, n);
    m->writes += rc == 0;
    return rc;
}

static inline void meter_attach(meter *m, redd_stream *s)
{
    *m = (meter){.vt = *s->vt, .inner = s->vt};
    m->vt.read = meter_read;
    m->vt.write = meter_write;
    s->vt = &m->vt;
}

/* --- clients --- */

enum { CLIENT_CAPACITY = 64 * 1024 };

typedef struct client {
    bed *bed;
    redd_stream *stream; /* the client's end; NULL when closed */
    meter meter;         /* of the server's end */
    bytes got;           /* from the server */
    bool eof, reset;
} client;

/** A connected stream that the server takes for a new connection. Must stay where it is. */
static inline int client_try_open(bed *b, client *c, size_t capacity)
{
    redd_stream *ends[2];
    memset(c, 0, sizeof *c);
    c->bed = b;
    int err = redd_stream_pair(b->w, capacity, ends);
    if (err)
        return err;
    c->stream = ends[0];
    redd_stream_interest(c->stream, REDD_STREAM_READ | REDD_STREAM_WRITE);
    meter_attach(&c->meter, ends[1]);
    err = redd_http_serve_stream(b->server, ends[1]);
    if (err)
        redd_stream_close(ends[1], true);
    return err;
}

static inline void client_open_sized(bed *b, client *c, size_t capacity)
{
    HTTP_MUST(client_try_open(b, c, capacity) == 0);
    bed_turns(b, 2);
}

static inline void client_open(bed *b, client *c)
{
    client_open_sized(b, c, CLIENT_CAPACITY);
}

static inline bool client_ended(const client *c)
{
    return !c->stream || c->eof || c->reset;
}

/** Takes up to `max` bytes of what the server has sent, and notices its end. */
static inline size_t client_take(client *c, size_t max)
{
    char buf[16 * 1024];
    size_t n, taken = 0;
    while (!client_ended(c) && taken < max) {
        size_t cap = max - taken < sizeof buf ? max - taken : sizeof buf;
        int err = redd_stream_read(c->stream, buf, cap, &n);
        if (err == UV_EAGAIN)
            break;
        c->reset = err != 0;
        c->eof = !err && n == 0;
        bytes_add(&c->got, buf, err ? 0 : n);
        taken += n;
    }
    return taken;
}

/** Turns the loop, without reading, until the server has surely nothing to do any more. */
static inline void bed_settle(bed *b)
{
    bed_turns(b, 4);
}

/** Turns the loop and reads until nothing comes any more. */
static inline void client_settle(client *c)
{
    for (int quiet = 0; quiet < 3; quiet++) {
        bool was_ended = client_ended(c);
        bed_turns(c->bed, 1);
        if (client_take(c, SIZE_MAX) > 0 || client_ended(c) != was_ended)
            quiet = -1;
    }
}

/** Writes what the stream takes at once; returns how much. */
static inline size_t client_put(client *c, const void *data, size_t len)
{
    redd_slice s = redd_slice_of(data, len);
    size_t n = 0;
    if (len == 0 || !c->stream || redd_stream_write(c->stream, &s, 1, &n))
        return 0;
    return n;
}

/** Writes all as one segment (as few as the stream's capacity allows) and turns the loop until all
 * is quiet. Stops when the server has gone. */
static inline void client_send(client *c, const void *data, size_t len)
{
    size_t off = 0;
    do {
        size_t n = client_put(c, (const char *)data + off, len - off);
        off += n;
        client_settle(c);
        if (n == 0 && off < len)
            return;
    } while (off < len);
}

static inline void client_text(client *c, const char *text)
{
    client_send(c, text, strlen(text));
}

/** In segments of `size` bytes. */
static inline void client_send_cut(client *c, const char *data, size_t len, size_t size)
{
    for (size_t off = 0; off < len && !c->reset; off += size)
        client_send(c, data + off, len - off < size ? len - off : size);
}

/** Ends the sending side. */
static inline void client_finish(client *c)
{
    (void)redd_stream_shutdown(c->stream);
    client_settle(c);
}

static inline void client_go(client *c, bool reset)
{
    redd_stream_close(c->stream, reset);
    c->stream = NULL;
    bed_settle(c->bed);
}

/** Goes, if it has not gone, and drops what it got. */
static inline void client_close(client *c)
{
    if (c->stream)
        client_go(c, false);
    bytes_free(&c->got);
}

/** Lets virtual time pass, and the server act on it. */
static inline void client_wait(client *c, uint64_t ms)
{
    redd_clock_advance(c->bed->clock, ms);
    client_settle(c);
}

#endif
