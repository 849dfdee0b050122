/* SPDX-License-Identifier: MIT */
/* A body in a Content-Encoding, three times: whole, byte by byte, and cut in two where the input's
 * first bytes say. The handler must have the same decoded bytes each time, or none of it. Then the
 * bytes are coded as a response in two pieces, which must be what is decoded again. */
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

#include "ext/http/coding/decoding.h"
#include "ext/http/coding/encoders.h"

#define INPUT_MAX 3000
#define PREFIX    4 /* two bytes of the place of the cut, the coding, what the handler does */
#define LIMIT     (1 << 20) /* decoded bytes */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const encodings[] = {"gzip",       "deflate",       "br",       "zstd",
                                        "gzip, gzip", "deflate, gzip", "br, zstd", "zstd, br"};
#define N_ENCODINGS (sizeof encodings / sizeof *encodings)

typedef struct scene {
    bed b;
    bool read_all;
    bool chunked;
    bytes body; /* as the handler got it */
    bool done;
} scene;

static void on_body(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    scene *s = user;
    if (status)
        return;
    HTTP_MUST(s->read_all || data.len <= REDD__HTTP_DECODED_MAX);
    bytes_add(&s->body, data.data, data.len);
    HTTP_MUST(s->body.len <= LIMIT);
    s->done = last;
    if (last)
        HTTP_MUST(redd_http_respond_text(req, 200, "ok") == 0);
    else
        HTTP_MUST(redd_http_read(req, on_body, s) == 0);
}

static void on_request(redd_http_request *req, void *user)
{
    scene *s = user;
    int rc = redd_http_decode(req, LIMIT);
    if (rc)
        HTTP_MUST(redd_http_respond_text(req, 200, "unknown") == 0);
    else if (s->read_all)
        HTTP_MUST(redd_http_read_all(req, 0, on_body, s) == 0);
    else
        HTTP_MUST(redd_http_read(req, on_body, s) == 0);
}

/* One for all inputs: what one leaves behind would show in the next, or at the end. */
static scene the_scene;

static void end(void)
{
    bytes_free(&the_scene.body);
    bed_end(&the_scene.b);
}

static scene *begin(unsigned act)
{
    scene *s = &the_scene;
    if (!s->b.w) {
        bed_begin(&s->b, on_request, s);
        HTTP_MUST(atexit(end) == 0);
    }
    s->read_all = act & 1;
    s->chunked = act & 2;
    return s;
}

/* A piece of the body, as a chunk of its own where there are such. */
static void send_piece(scene *s, client *c, const uint8_t *data, size_t n)
{
    char line[20];
    if (!s->chunked) {
        client_send(c, data, n);
        return;
    }
    (void)snprintf(line, sizeof line, "%zx\r\n", n);
    client_text(c, line);
    client_send(c, data, n);
    client_text(c, "\r\n");
}

static void run(scene *s, const char *encoding, const uint8_t *data, size_t size, size_t first,
                size_t step)
{
    client c;
    reply r;
    char head[200], framing[60] = "Transfer-Encoding: chunked";
    if (!s->chunked)
        (void)snprintf(framing, sizeof framing, "Content-Length: %zu", size);
    (void)snprintf(head, sizeof head,
                   "POST / HTTP/1.1\r\nHost: h\r\nContent-Encoding: %s\r\n%s\r\n\r\n", encoding,
                   framing);
    bytes_clear(&s->body);
    s->done = false;
    client_open(&s->b, &c);
    client_text(&c, head);
    for (size_t off = 0, n = first; off < size && !client_ended(&c); off += n, n = step) {
        n = n < size - off ? n : size - off;
        send_piece(s, &c, data + off, n);
    }
    if (s->chunked)
        client_text(&c, "0\r\n\r\n");
    reply_begin(&r, &c);
    HTTP_MUST(reply_next(&r) && reply_at_end(&r));
    HTTP_MUST(r.status == 200 || (!s->done && (r.status == 400 || r.status == 413)));
    reply_end(&r);
    client_close(&c);
    bed_settle(&s->b);
    HTTP_MUST(redd_http_server_connections(s->b.server) == 0);
}

static void decode_three_times(scene *s, const char *encoding, const uint8_t *data, size_t size,
                               size_t cut)
{
    const size_t firsts[] = {size, 1, cut}, steps[] = {size, 1, size};
    bytes seen = {0};
    bool done = false;
    for (size_t i = 0; i < 3; i++) {
        run(s, encoding, data, size, firsts[i], steps[i]);
        HTTP_MUST(i == 0 || done == s->done);
        HTTP_MUST(i == 0 || !done || bytes_are(&seen, s->body.data, s->body.len));
        done = s->done;
        bytes_clear(&seen);
        bytes_add(&seen, s->body.data, s->body.len);
    }
    bytes_free(&seen);
}

/* --- the way back --- */

static void encode_piece(redd__http_encoder *e, redd_slice piece, redd__http_flush flush,
                         bytes *out)
{
    int step;
    do {
        char buf[64];
        redd__http_room room = {buf, sizeof buf};
        step = redd__http_encode(e, &piece, &room, flush);
        HTTP_MUST(step >= 0);
        bytes_add(out, buf, sizeof buf - room.len);
    } while (step == REDD__HTTP_STEP_ROOM);
}

static void expect_decoded(redd__http_coding coding, const bytes *coded, const uint8_t *data,
                           size_t size)
{
    static char buffer[REDD__HTTP_DECODED_MAX];
    redd__http_decoding *d;
    redd_slice in = redd_slice_of(coded->data, coded->len), out;
    HTTP_MUST(redd__http_decoding_new(redd_allocator_default(), &coding, 1, size, &d) == 0);
    int step = redd__http_decoding_step(d, &in, buffer, &out);
    HTTP_MUST(step >= 0 && out.len == size);
    HTTP_MUST(size == 0 || memcmp(out.data, data, size) == 0);
    redd__http_decoding_free(d);
}

static void there_and_back(redd__http_coding coding, unsigned level, const uint8_t *data,
                           size_t size, size_t cut)
{
    static redd__http_encoders set;
    const redd__http_codec *codec = redd__http_codec_of(coding);
    if (!codec || !codec->encoder)
        return;
    redd__http_encoder *e =
        redd__http_encoder_get(&set, redd_allocator_default(), coding, 1 + level % 9);
    HTTP_MUST(e != NULL);
    bytes coded = {0};
    encode_piece(e, redd_slice_of(data, cut), REDD__HTTP_FLUSH_PIECE, &coded);
    expect_decoded(coding, &coded, data, cut);
    encode_piece(e, redd_slice_of(data + cut, size - cut), REDD__HTTP_FLUSH_END, &coded);
    expect_decoded(coding, &coded, data, size);
    redd__http_encoder_put(&set, e);
    redd__http_encoders_fini(&set);
    bytes_free(&coded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= PREFIX || size > INPUT_MAX)
        return 0;
    size_t cut = 1 + (size_t)(data[0] | data[1] << 8) % (size - PREFIX);
    decode_three_times(begin(data[3]), encodings[data[2] % N_ENCODINGS], data + PREFIX,
                       size - PREFIX, cut);
    there_and_back((redd__http_coding)(data[2] % REDD__HTTP_CODINGS), data[3], data + PREFIX,
                   size - PREFIX, cut);
    return 0;
}
