/* SPDX-License-Identifier: MIT */
/** Bodies to code and to decode, for the tests of content codings. */
#ifndef REDD_TESTS_UNIT_HTTP_CODING_H
#define REDD_TESTS_UNIT_HTTP_CODING_H

#include "tests/unit/http_must.h"

#include "ext/http/coding/decoding.h"
#include "ext/http/coding/encoders.h"

#include <zlib.h>

/** Something like JSON, of `len` bytes. */
static inline void json_fill(bytes *b, size_t len)
{
    static const char *const words[] = {"river", "salmon", "delta", "harbor",
                                        "north", "meadow", "ember", "willow"};
    uint32_t x = 12345;
    bytes_text(b, "");
    while (b->len < len) {
        char line[96];
        x = x * 1664525U + 1013904223U;
        int n = snprintf(line, sizeof line, "{\"id\":%u,\"name\":\"%s %s\",\"value\":%u},\n",
                         (unsigned)(b->len / 50), words[x >> 29], words[x >> 26 & 7],
                         (unsigned)(x >> 8 & 0xffff));
        size_t left = len - b->len;
        bytes_add(b, line, (size_t)n < left ? (size_t)n : left);
    }
}

/** What does not become smaller. */
static inline void noise_fill(bytes *b, size_t len)
{
    uint32_t x = 99;
    bytes_text(b, "");
    while (b->len < len) {
        x = x * 1664525U + 1013904223U;
        char ch = (char)(x >> 24);
        bytes_add(b, &ch, 1);
    }
}

/** Appends `body` in this coding. */
static inline void encode_to(bytes *out, redd__http_coding coding, const void *body, size_t len)
{
    redd__http_encoders set = {.in_use = 0};
    const redd_allocator *a = redd_allocator_default();
    redd__http_encoder *e = redd__http_encoder_get(&set, a, coding, 5);
    HTTP_MUST(e != NULL);
    redd_slice in = redd_slice_of(body, len);
    int step;
    do {
        char buf[1000];
        redd__http_room room = {buf, sizeof buf};
        step = redd__http_encode(e, &in, &room, REDD__HTTP_FLUSH_END);
        bytes_add(out, buf, sizeof buf - room.len);
    } while (step == REDD__HTTP_STEP_ROOM);
    HTTP_MUST(step == REDD__HTTP_STEP_END);
    redd__http_encoder_put(&set, e);
    redd__http_encoders_fini(&set);
}

/** As encode_to, in zlib's format or, with negative `bits`, as bare deflate data. */
static inline void deflate_to(bytes *out, int bits, const void *body, size_t len)
{
    z_stream z;
    char buf[1000];
    int rc;
    memset(&z, 0, sizeof z);
    HTTP_MUST(deflateInit2(&z, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_in = (Bytef *)(uintptr_t)body;
    z.avail_in = (uInt)len;
    do {
        z.next_out = (Bytef *)buf;
        z.avail_out = sizeof buf;
        rc = deflate(&z, Z_FINISH);
        bytes_add(out, buf, sizeof buf - z.avail_out);
    } while (rc == Z_OK || rc == Z_BUF_ERROR);
    HTTP_MUST(rc == Z_STREAM_END && deflateEnd(&z) == Z_OK);
}

/** Appends what can be decoded of `data`. Returns the last step. */
static inline int decode_to(bytes *out, redd__http_coding coding, const void *data, size_t len)
{
    redd__http_decoding *d;
    redd_slice in = redd_slice_of(data, len);
    int step;
    HTTP_MUST(redd__http_decoding_new(redd_allocator_default(), &coding, 1, UINT64_MAX, &d) == 0);
    do {
        char buf[REDD__HTTP_DECODED_MAX];
        redd_slice piece;
        step = redd__http_decoding_step(d, &in, buf, &piece);
        bytes_add(out, piece.data, step < 0 ? 0 : piece.len);
    } while (step == REDD__HTTP_STEP_ROOM);
    redd__http_decoding_free(d);
    return step;
}

/** The codings that this build can make. */
static const redd__http_coding made_codings[] = {
    REDD__HTTP_GZIP,
#ifdef REDD_HAVE_BROTLI
    REDD__HTTP_BR,
#endif
#ifdef REDD_HAVE_ZSTD
    REDD__HTTP_ZSTD,
#endif
};
#define N_MADE_CODINGS (sizeof made_codings / sizeof *made_codings)

static inline const char *coding_name(redd__http_coding coding)
{
    return redd__http_codec_of(coding)->name.data;
}

#endif
