/* SPDX-License-Identifier: MIT */
/* gzip (RFC 1952) and deflate (RFC 1950, 1951) by zlib. */
#include "ext/http/coding/block.h"
#include "ext/http/coding/codec.h"

#include <redd/error.h>

#include <limits.h>
#include <uv.h>
#define ZLIB_CONST /* input is const */
#include <zlib.h>

#define WINDOW_BITS 15
#define GZIP_BITS   (WINDOW_BITS + 16)
#define MEM_LEVEL   8

static voidpf zlib_alloc(voidpf opaque, uInt items, uInt size)
{
    return redd__http_block_new(opaque, (size_t)items * size);
}

static void zlib_free(voidpf opaque, voidpf block)
{
    redd__http_block_free(opaque, block);
}

static z_stream stream_with(const redd_allocator *a)
{
    return (z_stream){
        .zalloc = zlib_alloc, .zfree = zlib_free, .opaque = redd__http_block_opaque(a)};
}

/* zlib counts in unsigned ints. */
static uInt clip(size_t n)
{
    return n < UINT_MAX ? (uInt)n : UINT_MAX;
}

static void load(z_stream *z, const redd_slice *in, const redd__http_room *out)
{
    z->next_in = (const Bytef *)in->data;
    z->avail_in = clip(in->len);
    z->next_out = (Bytef *)out->data;
    z->avail_out = clip(out->len);
}

static void store(const z_stream *z, redd_slice *in, redd__http_room *out)
{
    redd__http_slice_skip(in, clip(in->len) - z->avail_in);
    redd__http_room_take(out, clip(out->len) - z->avail_out);
}

/* --- encoder --- */

typedef struct encoder {
    redd__http_encoder base;
    z_stream z;
    int level;
} encoder;

static redd__http_encoder *encoder_create(const redd_allocator *a)
{
    encoder *e = redd_alloc_zero(a, sizeof *e);
    if (!e)
        return NULL;
    e->base.vt = &redd__http_gzip_encoder;
    e->base.alloc = a;
    e->z = stream_with(a);
    e->level = Z_DEFAULT_COMPRESSION;
    if (deflateInit2(&e->z, e->level, Z_DEFLATED, GZIP_BITS, MEM_LEVEL, Z_DEFAULT_STRATEGY)) {
        redd_free(a, e, sizeof *e);
        return NULL;
    }
    return &e->base;
}

static int encoder_begin(redd__http_encoder *base, unsigned level)
{
    encoder *e = (encoder *)base;
    (void)deflateReset(&e->z);
    if (e->level != (int)level) {
        e->level = (int)level;
        (void)deflateParams(&e->z, e->level, Z_DEFAULT_STRATEGY); /* nothing to flush yet */
    }
    return 0;
}

static int encoder_encode(redd__http_encoder *base, redd_slice *in, redd__http_room *out,
                          redd__http_flush flush)
{
    static const int modes[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH};
    encoder *e = (encoder *)base;
    for (;;) {
        bool whole = clip(in->len) == in->len;
        load(&e->z, in, out);
        int rc = deflate(&e->z, whole ? modes[flush] : Z_NO_FLUSH);
        bool filled = e->z.avail_out == 0;
        store(&e->z, in, out);
        if (rc == Z_STREAM_END)
            return REDD__HTTP_STEP_END;
        if (out->len == 0)
            return REDD__HTTP_STEP_ROOM;
        if (whole && !filled)
            return REDD__HTTP_STEP_INPUT;
    }
}

static void encoder_destroy(redd__http_encoder *base)
{
    encoder *e = (encoder *)base;
    (void)deflateEnd(&e->z);
    redd_free(base->alloc, e, sizeof *e);
}

const redd__http_encoder_vt redd__http_gzip_encoder = {
    .create = encoder_create,
    .begin = encoder_begin,
    .encode = encoder_encode,
    .destroy = encoder_destroy,
};

/* --- decoders --- */

typedef struct decoder {
    redd__http_decoder base;
    z_stream z;
    bool begun;
    bool ended;
} decoder;

static redd__http_decoder *decoder_create(const redd_allocator *a, const redd__http_decoder_vt *vt,
                                          int bits)
{
    decoder *d = redd_alloc_zero(a, sizeof *d);
    if (!d)
        return NULL;
    d->base.vt = vt;
    d->base.alloc = a;
    d->z = stream_with(a);
    if (inflateInit2(&d->z, bits)) {
        redd_free(a, d, sizeof *d);
        return NULL;
    }
    return &d->base;
}

static redd__http_decoder *gzip_create(const redd_allocator *a)
{
    return decoder_create(a, &redd__http_gzip_decoder, GZIP_BITS);
}

static redd__http_decoder *deflate_create(const redd_allocator *a)
{
    return decoder_create(a, &redd__http_deflate_decoder, WINDOW_BITS);
}

static int inflate_step(decoder *d, redd_slice *in, redd__http_room *out)
{
    for (;;) {
        load(&d->z, in, out);
        int rc = inflate(&d->z, Z_NO_FLUSH);
        store(&d->z, in, out);
        d->ended = rc == Z_STREAM_END;
        if (d->ended)
            return REDD__HTTP_STEP_END;
        if (rc == Z_MEM_ERROR)
            return UV_ENOMEM;
        if (rc != Z_OK && rc != Z_BUF_ERROR)
            return REDD_EMALFORMED;
        if (out->len == 0)
            return REDD__HTTP_STEP_ROOM;
        if (in->len == 0)
            return REDD__HTTP_STEP_INPUT;
    }
}

/* Members follow on each other (RFC 1952 2.2); what is no member is malformed as one. */
static int gzip_decode(redd__http_decoder *base, redd_slice *in, redd__http_room *out)
{
    decoder *d = (decoder *)base;
    int rc = d->ended ? REDD__HTTP_STEP_END : inflate_step(d, in, out);
    while (rc == REDD__HTTP_STEP_END && in->len > 0) {
        (void)inflateReset(&d->z);
        rc = inflate_step(d, in, out);
    }
    return rc;
}

/* "deflate" is the zlib format, but some send bare deflate data (RFC 9110 8.4.1.2). The low half of
 * a zlib header's first byte is 8; a block could begin so only with unused bits that are set. */
static int deflate_decode(redd__http_decoder *base, redd_slice *in, redd__http_room *out)
{
    decoder *d = (decoder *)base;
    if (!d->begun && in->len > 0) {
        d->begun = true;
        if ((in->data[0] & 15) != Z_DEFLATED)
            (void)inflateReset2(&d->z, -WINDOW_BITS);
    }
    int rc = d->ended ? REDD__HTTP_STEP_END : inflate_step(d, in, out);
    return rc == REDD__HTTP_STEP_END && in->len > 0 ? REDD_EMALFORMED : rc;
}

static void decoder_destroy(redd__http_decoder *base)
{
    decoder *d = (decoder *)base;
    (void)inflateEnd(&d->z);
    redd_free(base->alloc, d, sizeof *d);
}

const redd__http_decoder_vt redd__http_gzip_decoder = {gzip_create, gzip_decode, decoder_destroy};
const redd__http_decoder_vt redd__http_deflate_decoder = {deflate_create, deflate_decode,
                                                          decoder_destroy};
