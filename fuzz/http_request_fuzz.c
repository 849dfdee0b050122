/* SPDX-License-Identifier: MIT */
/* Raw bytes to a server, three times: whole, byte by byte, and cut in two where the input's first
 * bytes say. The handler must see the same requests, and the client the same answers. */
#include <stdio.h>
#include <stdlib.h>

#define HTTP_MUST(condition)                                                                    \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            (void)fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            abort();                                                                            \
        }                                                                                       \
    } while (0)
#include "tests/unit/http_reply.h"

#define INPUT_MAX 2000
#define PREFIX    3 /* two bytes of the place of the cut, one of what the handler does */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** What a handler does with bodies. */
typedef enum act { READ_ALL = 0, READ_PIECES, IGNORE, ANSWER_FIRST, N_ACTS } act;

typedef struct scene {
    bed b;
    act act;
    bytes log;  /* the requests, as the handler has seen them */
    bytes body; /* of the request in hand */
    redd_http_upgraded up;
    bool upgraded;
} scene;

static void log_slice(bytes *log, redd_slice s)
{
    bytes_add(log, s.data, s.len);
    bytes_text(log, "|");
}

static void log_field(bytes *log, redd_http_field f)
{
    log_slice(log, f.name);
    log_slice(log, f.value);
}

static void log_head(bytes *log, const redd_http_request *req)
{
    log_slice(log, redd_http_method(req));
    log_slice(log, redd_http_path(req));
    log_slice(log, redd_http_query(req));
    log_slice(log, redd_http_host(req));
    for (size_t i = 0; i < redd_http_field_count(req); i++)
        log_field(log, redd_http_field_at(req, i));
}

/* HEAD is answered with what has no body in any case, so that the reader of replies need not know
 * of it. */
static void respond(redd_http_request *req)
{
    bool to_head = redd_slice_equal(redd_http_method(req), redd_slice_str("HEAD"));
    HTTP_MUST(redd_http_respond_text(req, to_head ? 204 : 200, "ok") == 0);
}

static void on_body(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    scene *s = user;
    if (status) {
        bytes_text(&s->log, redd_error_name(status));
        return;
    }
    bytes_add(&s->body, data.data, data.len);
    if (!last) {
        HTTP_MUST(redd_http_read(req, on_body, s) == 0);
        return;
    }
    log_slice(&s->log, redd_slice_of(s->body.data, s->body.len));
    for (size_t i = 0; i < redd_http_trailer_count(req); i++)
        log_field(&s->log, redd_http_trailer_at(req, i));
    if (s->act != ANSWER_FIRST)
        respond(req);
}

static void on_request(redd_http_request *req, void *user)
{
    scene *s = user;
    bytes_text(&s->log, "\n");
    log_head(&s->log, req);
    bytes_clear(&s->body);
    if (redd_http_wants_upgrade(req, "foo") &&
        redd_http_upgrade(req, "foo", NULL, 0, &s->up) == 0) {
        s->upgraded = true;
        log_slice(&s->log, s->up.leftover);
        s->log.len--; /* what is read from the stream follows */
        HTTP_MUST(redd_output_flush(&s->up.output) == 0);
    } else if (s->act == IGNORE) {
        respond(req);
    } else if (s->act == READ_ALL) {
        HTTP_MUST(redd_http_read_all(req, 0, on_body, s) == 0);
    } else {
        HTTP_MUST(redd_http_read(req, on_body, s) == 0);
        if (s->act == ANSWER_FIRST)
            respond(req);
    }
}

/* The bytes that the other protocol gets after its upgrade. */
static void read_upgraded(scene *s)
{
    char buf[512];
    size_t n;
    if (!s->upgraded)
        return;
    redd_stream_interest(s->up.stream, REDD_STREAM_READ);
    while (redd_stream_read(s->up.stream, buf, sizeof buf, &n) == 0 && n > 0)
        bytes_add(&s->log, buf, n);
}

/* One answer, without what depends on the cut by right: 100 Continue is sent where the body has not
 * come yet, and among several reasons for a refusal the one that is met first is told. */
static void log_answer(const reply *r, bytes *out)
{
    if (r->status == 100)
        return;
    if (r->status >= 400) {
        HTTP_MUST(reply_closes(r) && reply_at_end(r) && r->ended);
        bytes_text(out, "refused");
    } else {
        bytes_add(out, r->head.data, r->head.len);
        bytes_add(out, r->body.data, r->body.len);
    }
}

static void read_answers(const client *c, bytes *out)
{
    reply r;
    reply_begin(&r, c);
    while (r.status != 101 && reply_next(&r))
        log_answer(&r, out);
    HTTP_MUST(reply_at_end(&r));
    bytes_text(out, c->eof ? " closed" : " open");
    reply_end(&r);
}

static void run(scene *s, const uint8_t *data, size_t size, size_t first, size_t step, bytes *log,
                bytes *out)
{
    client c;
    client_open(&s->b, &c);
    for (size_t off = 0, n = first; off < size; off += n, n = step) {
        n = n < size - off ? n : size - off;
        client_send(&c, data + off, n);
        read_upgraded(s);
    }
    HTTP_MUST(!c.reset);
    read_answers(&c, out);
    client_finish(&c);
    client_close(&c);
    if (s->upgraded) {
        redd_output_fini(&s->up.output);
        redd_stream_close(s->up.stream, false);
        s->upgraded = false;
    }
    HTTP_MUST(redd_http_server_connections(s->b.server) == 0);
    *log = s->log;
    memset(&s->log, 0, sizeof s->log);
}

/* One for all inputs: what one leaves behind would show in the next, or at the end. */
static scene the_scene;

static void end(void)
{
    bytes_free(&the_scene.body);
    bed_end(&the_scene.b);
}

static scene *begin(act a)
{
    scene *s = &the_scene;
    s->act = a;
    if (!s->b.w) {
        bed_begin(&s->b, on_request, s);
        s->b.options.max_head = 600;
        s->b.options.max_target = 100;
        s->b.options.max_fields = 20;
        s->b.options.max_body = 300;
        bed_serve_anew(&s->b, on_request, s);
        HTTP_MUST(atexit(end) == 0);
    }
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes log[3] = {0}, out[3] = {0};
    if (size <= PREFIX || size > INPUT_MAX)
        return 0;
    scene *s = begin((act)(data[2] % N_ACTS));
    size_t cut = 1 + (size_t)(data[0] | data[1] << 8) % (size - PREFIX);
    const size_t firsts[] = {size, 1, cut}, steps[] = {size, 1, size};
    for (size_t i = 0; i < 3; i++)
        run(s, data + PREFIX, size - PREFIX, firsts[i], steps[i], &log[i], &out[i]);
    for (size_t i = 1; i < 3; i++) {
        HTTP_MUST(bytes_are(&log[0], log[i].data, log[i].len));
        HTTP_MUST(bytes_are(&out[0], out[i].data, out[i].len));
    }
    for (size_t i = 0; i < 3; i++) {
        bytes_free(&log[i]);
        bytes_free(&out[i]);
    }
    return 0;
}
