/* SPDX-License-Identifier: MIT */
/* br (RFC 7932) by libbrotli. */
#include "ext/http/coding/codec.h"

#ifdef REDD_HAVE_BROTLI
#include "ext/http/coding/block.h"

#include <redd/error.h>

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <uv.h>

/* With larger windows some qualities take up to 17 MiB; with this one none takes more than 0.8, for
 * 1 % of the size of JSON of 100 KiB. */
#define WINDOW_BITS 16

/* --- encoder --- */

/* libbrotli knows no reset: each response has an instance of its own. */
typedef struct encoder {
    redd__http_encoder base;
    BrotliEncoderState *instance;
} encoder;

static redd__http_encoder *encoder_create(const redd_allocator *a)
{
    encoder *e = redd_alloc_zero(a, sizeof *e);
    if (!e)
        return NULL;
    e->base.vt = &redd__http_br_encoder;
    e->base.alloc = a;
    return &e->base;
}

static void encoder_rest(redd__http_encoder *base)
{
    encoder *e = (encoder *)base;
    if (e->instance)
        BrotliEncoderDestroyInstance(e->instance);
    e->instance = NULL;
}

static int encoder_begin(redd__http_encoder *base, unsigned level)
{
    /* The qualities above 8 take milliseconds for anything. */
    static const uint8_t qualities[10] = {4, 1, 1, 2, 3, 4, 5, 6, 7, 8};
    encoder *e = (encoder *)base;
    e->instance = BrotliEncoderCreateInstance(redd__http_block_new, redd__http_block_free,
                                              redd__http_block_opaque(base->alloc));
    if (!e->instance)
        return UV_ENOMEM;
    (void)BrotliEncoderSetParameter(e->instance, BROTLI_PARAM_QUALITY, qualities[level % 10]);
    (void)BrotliEncoderSetParameter(e->instance, BROTLI_PARAM_LGWIN, WINDOW_BITS);
    return 0;
}

static int encoder_encode(redd__http_encoder *base, redd_slice *in, redd__http_room *out,
                          redd__http_flush flush)
{
    BrotliEncoderState *b = ((encoder *)base)->instance;
    bool end = flush == REDD__HTTP_FLUSH_END;
    BrotliEncoderOperation op = end ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_FLUSH;
    for (;;) {
        const uint8_t *from = (const uint8_t *)in->data;
        uint8_t *to = (uint8_t *)out->data;
        size_t left = in->len, room = out->len;
        if (!BrotliEncoderCompressStream(b, op, &left, &from, &room, &to, NULL))
            return UV_ENOMEM;
        redd__http_slice_skip(in, in->len - left);
        redd__http_room_take(out, out->len - room);
        if (in->len == 0 && !BrotliEncoderHasMoreOutput(b))
            return end ? REDD__HTTP_STEP_END : REDD__HTTP_STEP_INPUT;
        if (out->len == 0)
            return REDD__HTTP_STEP_ROOM;
    }
}

static void encoder_destroy(redd__http_encoder *base)
{
    encoder_rest(base);
    redd_free(base->alloc, base, sizeof(encoder));
}

const redd__http_encoder_vt redd__http_br_encoder = {
    .create = encoder_create,
    .begin = encoder_begin,
    .encode = encoder_encode,
    .rest = encoder_rest,
    .destroy = encoder_destroy,
};

/* --- decoder --- */

typedef struct decoder {
    redd__http_decoder base;
    BrotliDecoderState *instance;
} decoder;

static redd__http_decoder *decoder_create(const redd_allocator *a)
{
    decoder *d = redd_alloc_zero(a, sizeof *d);
    if (!d)
        return NULL;
    d->base.vt = &redd__http_br_decoder;
    d->base.alloc = a;
    d->instance = BrotliDecoderCreateInstance(redd__http_block_new, redd__http_block_free,
                                              redd__http_block_opaque(a));
    if (!d->instance) {
        redd_free(a, d, sizeof *d);
        return NULL;
    }
    return &d->base;
}

static int error_of(const BrotliDecoderState *b)
{
    BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(b);
    bool memory = code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
                  code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES;
    return memory ? UV_ENOMEM : REDD_EMALFORMED;
}

static int decoder_decode(redd__http_decoder *base, redd_slice *in, redd__http_room *out)
{
    BrotliDecoderState *b = ((decoder *)base)->instance;
    const uint8_t *from = (const uint8_t *)in->data;
    uint8_t *to = (uint8_t *)out->data;
    size_t left = in->len, room = out->len;
    BrotliDecoderResult rc = BrotliDecoderDecompressStream(b, &left, &from, &room, &to, NULL);
    redd__http_slice_skip(in, in->len - left);
    redd__http_room_take(out, out->len - room);
    switch (rc) {
    case BROTLI_DECODER_RESULT_SUCCESS:
        return in->len > 0 ? REDD_EMALFORMED : REDD__HTTP_STEP_END;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
        return REDD__HTTP_STEP_INPUT;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
        return REDD__HTTP_STEP_ROOM;
    default:
        return error_of(b);
    }
}

static void decoder_destroy(redd__http_decoder *base)
{
    BrotliDecoderDestroyInstance(((decoder *)base)->instance);
    redd_free(base->alloc, base, sizeof(decoder));
}

const redd__http_decoder_vt redd__http_br_decoder = {decoder_create, decoder_decode,
                                                     decoder_destroy};
#endif
