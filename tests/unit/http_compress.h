/* SPDX-License-Identifier: MIT */
/** A server whose one handler answers as the scene says, and what its client makes of it. */
#ifndef REDD_TESTS_UNIT_HTTP_COMPRESS_H
#define REDD_TESTS_UNIT_HTTP_COMPRESS_H

#include "tests/unit/http_coding.h"

/** What the handler answers with. */
typedef struct scene {
    bed b;
    client c;
    unsigned status;
    redd_http_field fields[8];
    size_t n;
    redd_http_compression mode;
    bytes body;
    bool streamed;
    int64_t length; /* told to redd_http_start */
    size_t piece;   /* bytes of each write; 0: by step() */
    redd_http_request *req;
    uint64_t sent; /* as the last request has told at its end */
} scene;

#define FIELD(name, value) ((redd_http_field){REDD_SLICE(name), REDD_SLICE(value)})

static inline void write_pieces(scene *s, redd_http_request *req)
{
    for (size_t off = 0; off < s->body.len; off += s->piece) {
        size_t n = s->body.len - off < s->piece ? s->body.len - off : s->piece;
        assert_true(redd_http_write(req, redd_slice_of(s->body.data + off, n)) >= 0);
    }
    assert_int_equal(redd_http_finish(req), 0);
}

static inline void on_end(redd_http_request *req, int status, void *user)
{
    (void)status;
    ((scene *)user)->sent = redd_http_bytes_sent(req);
}

static inline void on_request(redd_http_request *req, void *user)
{
    scene *s = user;
    redd_http_compress(req, s->mode);
    redd_http_on_end(req, on_end, s);
    if (!s->streamed) {
        redd_slice body = redd_slice_of(s->body.data, s->body.len);
        assert_int_equal(redd_http_respond(req, s->status, s->fields, s->n, body), 0);
        return;
    }
    assert_int_equal(redd_http_start(req, s->status, s->fields, s->n, s->length), 0);
    if (s->piece)
        write_pieces(s, req);
    else
        s->req = redd_http_request_ref(req);
}

static inline void scene_begin(scene *s)
{
    memset(s, 0, sizeof *s);
    s->status = 200;
    s->fields[0] = FIELD("Content-Type", "application/json");
    s->n = 1;
    s->length = -1;
    s->piece = 1000;
    json_fill(&s->body, 10000);
    bed_begin(&s->b, on_request, s);
    s->b.options.compress = 1;
    bed_serve_anew(&s->b, on_request, s);
    client_open(&s->b, &s->c);
}

static inline void scene_end(scene *s)
{
    client_close(&s->c);
    bytes_free(&s->body);
    bed_end(&s->b);
}

static inline void ask(scene *s, const char *method, const char *accept, unsigned minor)
{
    char text[200];
    (void)snprintf(text, sizeof text, "%s / HTTP/1.%u\r\nHost: h\r\nAccept-Encoding: %s\r\n\r\n",
                   method, minor, accept);
    if (client_ended(&s->c)) {
        client_close(&s->c);
        client_open(&s->b, &s->c);
    }
    bytes_clear(&s->c.got);
    client_text(&s->c, text);
}

static inline void get(scene *s, const char *accept, reply *r)
{
    ask(s, "GET", accept, 1);
    reply_begin(r, &s->c);
    assert_true(reply_next(r) && reply_at_end(r));
    assert_int_equal(r->status, s->status);
    assert_int_equal(r->body.len, s->sent);
}

static inline void assert_decodes(const reply *r, redd__http_coding coding, const bytes *body)
{
    bytes decoded = {0};
    assert_true(reply_field_is(r, "content-encoding", coding_name(coding)));
    assert_int_equal(decode_to(&decoded, coding, r->body.data, r->body.len), REDD__HTTP_STEP_END);
    assert_true(bytes_are(&decoded, body->data, body->len));
    bytes_free(&decoded);
}

#endif
