/* SPDX-License-Identifier: MIT */
/** A server whose handler reads a decoded body in one of its ways, and clients that send coded
 * ones. */
#ifndef REDD_TESTS_UNIT_HTTP_DECODE_H
#define REDD_TESTS_UNIT_HTTP_DECODE_H

#include "tests/unit/http_coding.h"

#include <redd/task.h>

typedef enum reading { READ_PIECES = 0, READ_WHOLE, READ_FUTURES, N_READINGS } reading;

typedef struct scene {
    bed b;
    client c;
    reading reading;
    uint64_t max;           /* of redd_http_decode */
    size_t whole_max;       /* of redd_http_read_all */
    bool hold;              /* READ_PIECES: ask for the first piece alone */
    redd_http_request *req; /* a reference, with hold */

    int decoded; /* what redd_http_decode returned */
    bytes body;  /* that came */
    unsigned pieces;
    size_t largest; /* piece */
    int status;     /* of the last read */
    bool last;
} scene;

static inline void on_decoded(redd_http_request *req, int status, redd_slice data, bool last,
                              void *user)
{
    scene *s = user;
    s->status = status;
    bytes_add(&s->body, data.data, data.len);
    s->pieces++;
    s->largest = data.len > s->largest ? data.len : s->largest;
    if (status)
        return;
    s->last = last;
    if (last)
        HTTP_MUST(redd_http_respond_text(req, 200, "ok") == 0);
    else if (!s->hold)
        HTTP_MUST(redd_http_read(req, on_decoded, s) == 0);
}

/** A task that reads by futures. */
typedef struct reader {
    redd_future future;
    scene *s;
    redd_http_request *req;
    redd_future *piece;
} reader;

/* Returns false when the body has ended. */
static inline bool reader_take(reader *r, redd_value v)
{
    scene *s = r->s;
    redd_future_drop(r->piece);
    r->piece = NULL;
    if (v.kind == REDD_BYTES) {
        redd_slice data = redd_bytes_slice(v.as.bytes);
        bytes_add(&s->body, data.data, data.len);
        s->largest = data.len > s->largest ? data.len : s->largest;
        redd_value_drop(&v);
        return true;
    }
    s->status = v.kind == REDD_ERROR ? v.as.i32 : 0;
    s->last = s->status == 0;
    bytes_text(&s->body, "");
    if (s->last)
        HTTP_MUST(redd_http_respond_text(r->req, 200, "ok") == 0);
    return false;
}

static inline redd_poll reader_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    reader *r = (reader *)f;
    (void)out;
    for (;;) {
        redd_value v = redd_value_undefined();
        if (!r->piece && redd_http_read_future(r->req, &r->piece))
            return REDD_READY;
        if (redd_future_poll(r->piece, waker, &v) == REDD_PENDING)
            return REDD_PENDING;
        if (!reader_take(r, v))
            return REDD_READY;
    }
}

static inline void reader_drop(redd_future *f)
{
    reader *r = (reader *)f;
    if (r->piece)
        redd_future_drop(r->piece);
    redd_http_request_unref(r->req);
    free(r);
}

static inline void read_by_futures(redd_http_request *req, scene *s)
{
    static const redd_future_vt vt = {"test.reader", reader_poll, reader_drop};
    reader *r = calloc(1, sizeof *r);
    HTTP_MUST(r != NULL);
    r->future.vt = &vt;
    r->s = s;
    r->req = redd_http_request_ref(req);
    if (redd_spawn(redd_worker_executor(s->b.w), &r->future, NULL))
        reader_drop(&r->future);
}

static inline void on_coded_request(redd_http_request *req, void *user)
{
    scene *s = user;
    bytes_clear(&s->body);
    s->pieces = 0;
    s->largest = 0;
    s->status = 1;
    s->last = false;
    s->decoded = redd_http_decode(req, s->max);
    if (s->decoded)
        HTTP_MUST(redd_http_respond_text(req, 299, "no") == 0);
    else if (s->reading == READ_FUTURES)
        read_by_futures(req, s);
    else if (s->reading == READ_WHOLE)
        HTTP_MUST(redd_http_read_all(req, s->whole_max, on_decoded, s) == 0);
    else
        HTTP_MUST(redd_http_read(req, on_decoded, s) == 0);
    if (s->hold)
        s->req = redd_http_request_ref(req);
}

static inline void scene_begin(scene *s)
{
    memset(s, 0, sizeof *s);
    bed_begin(&s->b, on_coded_request, s);
    client_open(&s->b, &s->c);
}

static inline void scene_end(scene *s)
{
    client_close(&s->c);
    bytes_free(&s->body);
    bed_end(&s->b);
}

/** A request with this Content-Encoding (NULL: none) and body, in chunks of `chunk` bytes; 0: with
 *  its length. */
static inline void request_with(bytes *out, const char *encoding, const bytes *body, size_t chunk)
{
    char line[100];
    bytes_text(out, "POST / HTTP/1.1\r\nHost: h\r\n");
    if (encoding) {
        (void)snprintf(line, sizeof line, "Content-Encoding: %s\r\n", encoding);
        bytes_text(out, line);
    }
    if (chunk == 0) {
        (void)snprintf(line, sizeof line, "Content-Length: %zu\r\n\r\n", body->len);
        bytes_text(out, line);
        bytes_add(out, body->data, body->len);
        return;
    }
    bytes_text(out, "Transfer-Encoding: chunked\r\n\r\n");
    for (size_t off = 0; off < body->len; off += chunk) {
        size_t n = body->len - off < chunk ? body->len - off : chunk;
        (void)snprintf(line, sizeof line, "%zx\r\n", n);
        bytes_text(out, line);
        bytes_add(out, body->data + off, n);
        bytes_text(out, "\r\n");
    }
    bytes_text(out, "0\r\n\r\n");
}

/** Opens a client anew when the one before was refused. */
static inline void scene_refresh(scene *s)
{
    if (client_ended(&s->c)) {
        client_close(&s->c);
        client_open(&s->b, &s->c);
    }
    bytes_clear(&s->c.got);
}

static inline void send_in(scene *s, const bytes *request, size_t first, size_t step)
{
    scene_refresh(s);
    for (size_t off = 0, n = first; off < request->len && !s->c.reset; off += n, n = step) {
        n = n < request->len - off ? n : request->len - off;
        client_send(&s->c, request->data + off, n);
    }
}

static inline void assert_answered(const scene *s, const char *statuses)
{
    HTTP_MUST(replies_are(&s->c, statuses));
}

static inline void assert_read(const scene *s, const bytes *body)
{
    assert_answered(s, "200");
    HTTP_MUST(s->status == 0 && s->last);
    HTTP_MUST(bytes_are(&s->body, body->data, body->len));
    HTTP_MUST(s->reading == READ_WHOLE || s->largest <= REDD__HTTP_DECODED_MAX);
}

static inline void assert_refused(const scene *s, const char *status, int error)
{
    assert_answered(s, status);
    HTTP_MUST(s->status == error && !s->last);
}

#endif
