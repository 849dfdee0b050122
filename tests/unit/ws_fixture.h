/* SPDX-License-Identifier: MIT */
/** A WebSocket server in memory: a worker on a loop of its own, a virtual clock, counted memory,
 * and peers that send raw bytes and see raw bytes. The includer defines WS_MUST(condition). */
#ifndef REDD_TESTS_UNIT_WS_FIXTURE_H
#define REDD_TESTS_UNIT_WS_FIXTURE_H

#include <redd/redd.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <uv.h>

/* --- growing bytes --- */

typedef struct bytes {
    char *data;
    size_t len, cap;
} bytes;

static inline void bytes_add(bytes *b, const void *data, size_t len)
{
    if (!b->data || b->len + len + 1 > b->cap) {
        b->cap = (b->len + len + 1) * 2;
        b->data = realloc(b->data, b->cap);
        WS_MUST(b->data);
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

static inline void bytes_free(bytes *b)
{
    free(b->data);
    memset(b, 0, sizeof *b);
}

static inline bool bytes_equal(const bytes *a, const bytes *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* --- what a client writes --- */

typedef enum form { FORM_MINIMAL = 0, FORM_16, FORM_64, FORM_HEADER_ONLY } form;

/** One client frame: `first` is its first byte. FORM_HEADER_ONLY announces `claim` in 64 bits and
 * sends no payload. */
typedef struct frame {
    unsigned first;
    const char *payload;
    size_t len;
    form form;
    uint64_t claim;
    bool unmasked, zero_mask;
} frame;

#define F(first_byte, literal)                                                      \
    {                                                                               \
        (first_byte), (literal), sizeof(literal) - 1, FORM_MINIMAL, 0, false, false \
    }

static inline void put_length(bytes *b, const frame *f, unsigned mask_bit)
{
    uint64_t n = f->form == FORM_HEADER_ONLY ? f->claim : f->len;
    size_t size = n > 0xffff ? 8 : n > 125 ? 2 : 0;
    if (f->form == FORM_16)
        size = 2;
    if (f->form == FORM_64 || f->form == FORM_HEADER_ONLY)
        size = 8;
    char head[9] = {(char)((size == 8 ? 127 : size == 2 ? 126 : n) | mask_bit)};
    for (size_t i = 0; i < size; i++)
        head[1 + i] = (char)(n >> (8 * (size - 1 - i)) & 0xff);
    bytes_add(b, head, 1 + size);
}

static inline void put_frame(bytes *b, const frame *f)
{
    static const unsigned char key[4] = {0x37, 0xfa, 0x21, 0x3d};
    char first = (char)f->first;
    bytes_add(b, &first, 1);
    put_length(b, f, f->unmasked ? 0 : 0x80);
    if (!f->unmasked)
        bytes_add(b, f->zero_mask ? (const unsigned char[4]){0} : key, 4);
    if (f->form == FORM_HEADER_ONLY)
        return;
    bytes_add(b, f->payload, f->len);
    if (!f->unmasked && !f->zero_mask)
        for (size_t i = 0; i < f->len; i++)
            b->data[b->len - f->len + i] =
                (char)((unsigned char)b->data[b->len - f->len + i] ^ key[i % 4]);
}

static inline void put(bytes *b, unsigned first, const void *payload, size_t len)
{
    frame f = {.first = first, .payload = payload, .len = len};
    put_frame(b, &f);
}

/* --- the server --- */

typedef struct bed {
    uv_loop_t loop;
    redd_counting_allocator *counting;
    redd_clock *clock;
    redd_runtime *rt;
    redd_worker *w;
    redd_http_server *server;
    redd_ws_options options; /* of each upgrade */
    struct peer *opening;    /* who gets the next connection */
    int upgraded;            /* what the last redd_ws_upgrade returned */
    unsigned run_budget;     /* polls per turn of the loop; 0: the usual */
    bool stopping, gone;
} bed;

/** What the server does with a peer's connection. */
typedef enum act {
    ACT_NOTHING = 0,
    ACT_ECHO,      /* sends each message back */
    ACT_CLOSE,     /* closes with 4000 "bye" on the first message */
    ACT_TERMINATE, /* terminates on the first message */
    ACT_OPEN_TERMINATE,
    ACT_OPEN_CLOSE,
    ACT_OPEN_SEND
} act;

typedef struct peer {
    bed *bed;
    redd_stream *stream; /* the client's end */
    redd_ws *ws;         /* from open to close */
    act act;
    bytes log; /* the server's events, one a line */
    bytes got; /* raw bytes from the server */
    bool eof, reset;
    int sent; /* what the last send of the server returned */
    unsigned opens, closes, drains, messages;
    redd_ws_close_event last;
} peer;

static inline void log_slice(bytes *log, const char *what, redd_slice s)
{
    char line[64];
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < s.len; i++)
        hash = (hash ^ (unsigned char)s.data[i]) * UINT64_C(1099511628211);
    (void)snprintf(line, sizeof line, "%s %zu ", what, s.len);
    bytes_text(log, line);
    if (s.len <= 64) {
        bytes_add(log, s.data, s.len);
    } else {
        (void)snprintf(line, sizeof line, "#%llx", (unsigned long long)hash);
        bytes_text(log, line);
    }
    bytes_text(log, "\n");
}

static inline void on_open(redd_ws *ws, void *user)
{
    peer *p = user;
    p->ws = ws;
    p->opens++;
    bytes_text(&p->log, "open\n");
    if (p->act == ACT_OPEN_TERMINATE)
        redd_ws_terminate(ws);
    if (p->act == ACT_OPEN_CLOSE)
        p->sent = redd_ws_close(ws, 1000, redd_slice_of(NULL, 0));
    if (p->act == ACT_OPEN_SEND)
        p->sent = redd_ws_send(ws, REDD_WS_TEXT, redd_slice_str("welcome"));
}

static inline void on_message(redd_ws *ws, redd_ws_kind kind, redd_slice data, void *user)
{
    peer *p = user;
    p->messages++;
    log_slice(&p->log, kind == REDD_WS_TEXT ? "text" : "binary", data);
    if (p->act == ACT_ECHO)
        p->sent = redd_ws_send(ws, kind, data);
    if (p->act == ACT_CLOSE)
        p->sent = redd_ws_close(ws, 4000, redd_slice_str("bye"));
    if (p->act == ACT_TERMINATE)
        redd_ws_terminate(ws);
}

static inline void on_drain(redd_ws *ws, void *user)
{
    (void)ws; /* the peer's */
    ((peer *)user)->drains++;
}

static inline void on_pong(redd_ws *ws, redd_slice payload, void *user)
{
    (void)ws; /* the peer's */
    log_slice(&((peer *)user)->log, "pong", payload);
}

static inline void on_close(redd_ws *ws, const redd_ws_close_event *e, void *user)
{
    peer *p = user;
    char line[96];
    WS_MUST(redd_ws_send(ws, REDD_WS_TEXT, redd_slice_str("x")) == REDD_ECLOSED);
    p->ws = NULL;
    p->closes++;
    p->last = *e;
    (void)snprintf(line, sizeof line, "close %u sent %u %s %s ", e->code, e->sent,
                   e->clean ? "clean" : "unclean", e->status ? redd_error_name(e->status) : "ok");
    bytes_text(&p->log, line);
    bytes_add(&p->log, e->reason.data, e->reason.len);
    bytes_text(&p->log, "\n");
}

static const redd_ws_handlers peer_handlers = {
    .struct_size = sizeof(redd_ws_handlers),
    .open = on_open,
    .message = on_message,
    .drain = on_drain,
    .pong = on_pong,
    .close = on_close,
};

static inline void on_request(redd_http_request *req, void *user)
{
    bed *b = user;
    b->upgraded = redd_ws_upgrade(req, &b->options, &peer_handlers, b->opening);
    if (b->upgraded < 0)
        (void)redd_http_respond_text(req, 500, "no\n");
}

static inline void bed_turns(bed *b, int n)
{
    while (n-- > 0)
        (void)uv_run(&b->loop, UV_RUN_NOWAIT);
}

/** Up to a worker with the extensions. Errors are for scenarios that run out of memory. */
static inline int bed_try_begin(bed *b)
{
    redd_runtime_options o = REDD_RUNTIME_OPTIONS_INIT;
    o.workers = 1;
    if (b->run_budget)
        o.run_budget = b->run_budget;
    o.allocator = redd_counting_allocator_hook(b->counting);
    o.clock = b->clock;
    o.logger.level = REDD_LOG_ERROR;
    int err = redd_runtime_new(&o, &b->rt);
    if (!err)
        err = redd_runtime_add(b->rt, &redd_net_extension);
    if (!err)
        err = redd_runtime_add(b->rt, &redd_http_extension);
    if (!err)
        err = redd_runtime_add(b->rt, &redd_websocket_extension);
    if (!err)
        err = redd_runtime_attach(b->rt, &b->loop, &b->w);
    if (!err)
        err = redd_http_serve(b->w, NULL, NULL, on_request, b, &b->server);
    if (!err)
        redd_ws_options_init(b->w, &b->options);
    return err;
}

static inline void bed_prepare(bed *b)
{
    memset(b, 0, sizeof *b);
    WS_MUST(uv_loop_init(&b->loop) == 0);
    WS_MUST(redd_counting_allocator_new(NULL, &b->counting) == 0);
    WS_MUST(redd_virtual_clock_new(1000, &b->clock) == 0);
}

static inline void bed_begin(bed *b)
{
    bed_prepare(b);
    WS_MUST(bed_try_begin(b) == 0);
}

/** Bytes that are allocated. */
static inline uint64_t memory(const bed *b)
{
    redd_allocator_stats stats;
    redd_counting_allocator_stats(b->counting, &stats);
    return stats.bytes;
}

static inline void bed_gone(void *user)
{
    ((bed *)user)->gone = true;
}

static inline void bed_stop(bed *b, redd_stop_mode mode)
{
    b->stopping = true;
    redd_worker_detach(b->w, mode, bed_gone, b);
}

/** Stops what still runs; checks that no handle and no byte is left. */
static inline void bed_end(bed *b)
{
    if (b->w && !b->gone) {
        bed_stop(b, REDD_STOP_FORCED);
        while (!b->gone)
            (void)uv_run(&b->loop, UV_RUN_ONCE);
    }
    (void)uv_run(&b->loop, UV_RUN_DEFAULT); /* a worker that could not start leaves it in turns */
    redd_runtime_free(b->rt);
    redd_clock_free(b->clock);
    redd_allocator_stats stats;
    redd_counting_allocator_stats(b->counting, &stats);
    WS_MUST(stats.blocks == 0 && stats.bytes == 0);
    redd_counting_allocator_free(b->counting);
    WS_MUST(uv_loop_close(&b->loop) == 0);
}

/* --- peers --- */

/** Takes what the server has sent; the stream's reads tell its end. */
static inline void peer_take(peer *p)
{
    char buf[4096];
    size_t n;
    while (p->stream && !p->eof && !p->reset) {
        int err = p->stream->vt->read(p->stream, buf, sizeof buf, &n);
        if (err == UV_EAGAIN)
            return;
        p->reset = err != 0;
        p->eof = !err && n == 0;
        if (!err)
            bytes_add(&p->got, buf, n);
    }
}

/** Turns the loop until the server has nothing to do any more. */
static inline void peer_settle(peer *p)
{
    for (int quiet = 0; quiet < 3; quiet++) {
        size_t before = p->got.len + p->log.len;
        bed_turns(p->bed, 1);
        peer_take(p);
        if (p->got.len + p->log.len != before)
            quiet = 0;
    }
}

/** Writes all, turning the loop where the stream is full. Stops when the server has gone. */
static inline void peer_send(peer *p, const void *data, size_t len)
{
    for (size_t off = 0, stuck = 0; p->stream && off < len && stuck < 100; stuck++) {
        redd_slice s = redd_slice_of((const char *)data + off, len - off);
        size_t n = 0;
        int err = p->stream->vt->write(p->stream, &s, 1, &n);
        if (err && err != UV_EAGAIN)
            return;
        off += err ? 0 : n;
        if (n)
            stuck = 0;
        bed_turns(p->bed, 1);
        if (off < len)
            peer_take(p);
    }
}

#define WS_REQUEST                                                           \
    "GET /chat HTTP/1.1\r\nHost: example.org\r\nUpgrade: websocket\r\n"      \
    "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" \
    "Sec-WebSocket-Version: 13\r\n"
#define WS_HANDSHAKE WS_REQUEST "\r\n"
#define WS_ANSWER                                                 \
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n" \
    "Upgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"

/** The two ends of a socket as streams. */
static inline int peer_sockets(bed *b, redd_stream *ends[2])
{
    int fds[2];
    WS_MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    WS_MUST(redd_stream_from_fd(b->w, fds[0], &ends[0]) == 0);
    return redd_stream_from_fd(b->w, fds[1], &ends[1]);
}

/** A connected stream that the server takes for a new connection; capacity 0: a socket. */
static inline int peer_connect(bed *b, peer *p, act a, size_t capacity)
{
    redd_stream *ends[2];
    memset(p, 0, sizeof *p);
    p->bed = b;
    p->act = a;
    b->opening = p;
    int err = capacity ? redd_stream_pair(b->w, capacity, ends) : peer_sockets(b, ends);
    if (err)
        return err;
    p->stream = ends[0];
    err = redd_http_serve_stream(b->server, ends[1]);
    if (err)
        redd_stream_close(ends[1], true);
    return err;
}

static inline void peer_open(bed *b, peer *p, act a, size_t capacity)
{
    WS_MUST(peer_connect(b, p, a, capacity) == 0);
    peer_send(p, WS_HANDSHAKE, sizeof WS_HANDSHAKE - 1);
    peer_settle(p);
    WS_MUST(p->got.len >= sizeof WS_ANSWER - 1);
    WS_MUST(memcmp(p->got.data, WS_ANSWER, sizeof WS_ANSWER - 1) == 0);
    WS_MUST(p->opens == 1);
    p->got.len -= sizeof WS_ANSWER - 1;
    memmove(p->got.data, p->got.data + sizeof WS_ANSWER - 1, p->got.len + 1);
}

/** One frame, and what the server makes of it. */
static inline void peer_frame(peer *p, unsigned first, const void *payload, size_t len)
{
    bytes in = {0};
    put(&in, first, payload, len);
    peer_send(p, in.data, in.len);
    bytes_free(&in);
    peer_settle(p);
}
#define SEND(p, first, literal) peer_frame((p), (first), literal, sizeof(literal) - 1)

static inline bool peer_got(const peer *p, const char *want, size_t len)
{
    return p->got.len == len && (len == 0 || memcmp(p->got.data, want, len) == 0);
}
/** All that came since the 101. */
#define EXPECT_GOT(p, literal) WS_MUST(peer_got((p), literal, sizeof(literal) - 1))

/** A request, and what the server makes of it. */
static inline void exchange(bed *b, peer *p, const char *request)
{
    WS_MUST(peer_connect(b, p, ACT_ECHO, 256U << 10) == 0);
    peer_send(p, request, strlen(request));
    peer_settle(p);
    bytes_text(&p->got, ""); /* a text, whatever came */
}

/** Of the response. */
static inline unsigned status_of(const peer *p)
{
    WS_MUST(p->got.data && p->got.len > 12 && memcmp(p->got.data, "HTTP/1.1 ", 9) == 0);
    return (unsigned)strtoul(p->got.data + 9, NULL, 10);
}

static inline bool ends_with(const peer *p, const char *tail, size_t len)
{
    return p->got.len >= len && memcmp(p->got.data + p->got.len - len, tail, len) == 0;
}
#define ENDS_WITH(p, literal) ends_with((p), literal, sizeof(literal) - 1)

/** Time passes for the server, which gets turns to act on it. */
static inline void peer_pass(peer *p, uint64_t ms)
{
    redd_clock_advance(p->bed->clock, ms);
    peer_settle(p);
}

/** The client goes; the server must be done with it soon, and have told its end once. */
static inline void peer_close(peer *p)
{
    if (p->stream) {
        redd_stream_close(p->stream, false);
        p->stream = NULL;
    }
    bed_turns(p->bed, 4);
    WS_MUST(p->opens == p->closes && !p->ws);
}

static inline void peer_free(peer *p)
{
    if (p->stream)
        redd_stream_close(p->stream, false);
    p->stream = NULL;
    bytes_free(&p->log);
    bytes_free(&p->got);
}

#endif
