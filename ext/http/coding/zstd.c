/* SPDX-License-Identifier: MIT */
/* zstd (RFC 8878) by libzstd. Its functions that take an allocator are not part of the interface
 * that it promises to shared libraries: what its contexts hold comes from the C library. */
#include "ext/http/coding/codec.h"

#ifdef REDD_HAVE_ZSTD
#include <redd/error.h>

#include <uv.h>
#include <zstd.h>
#include <zstd_errors.h>

/* An encoder with these holds 0.7 MiB at most, instead of 1 to 13 by the level, for 2 % of the size
 * of JSON. */
#define WINDOW_LOG 16
#define TABLE_LOG  15
/* RFC 9659: nobody may be asked to keep more than 8 MiB. */
#define WINDOW_LOG_MAX 23

static int error_of(size_t rc)
{
    return ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation ? UV_ENOMEM : REDD_EMALFORMED;
}

/* --- encoder --- */

typedef struct encoder {
    redd__http_encoder base;
    ZSTD_CCtx *context;
} encoder;

static redd__http_encoder *encoder_create(const redd_allocator *a)
{
    encoder *e = redd_alloc_zero(a, sizeof *e);
    if (!e)
        return NULL;
    e->base.vt = &redd__http_zstd_encoder;
    e->base.alloc = a;
    e->context = ZSTD_createCCtx();
    if (!e->context) {
        redd_free(a, e, sizeof *e);
        return NULL;
    }
    (void)ZSTD_CCtx_setParameter(e->context, ZSTD_c_windowLog, WINDOW_LOG);
    (void)ZSTD_CCtx_setParameter(e->context, ZSTD_c_hashLog, TABLE_LOG);
    (void)ZSTD_CCtx_setParameter(e->context, ZSTD_c_chainLog, TABLE_LOG);
    return &e->base;
}

static int encoder_begin(redd__http_encoder *base, unsigned level)
{
    /* 4 and 5 are slower than 3 and not smaller, with JSON and text. */
    static const uint8_t levels[10] = {3, 1, 1, 2, 2, 3, 6, 7, 8, 9};
    encoder *e = (encoder *)base;
    (void)ZSTD_CCtx_reset(e->context, ZSTD_reset_session_only);
    (void)ZSTD_CCtx_setParameter(e->context, ZSTD_c_compressionLevel, levels[level % 10]);
    return 0;
}

static int encoder_encode(redd__http_encoder *base, redd_slice *in, redd__http_room *out,
                          redd__http_flush flush)
{
    static const ZSTD_EndDirective modes[] = {ZSTD_e_continue, ZSTD_e_flush, ZSTD_e_end};
    ZSTD_CCtx *c = ((encoder *)base)->context;
    for (;;) {
        ZSTD_inBuffer from = {in->data, in->len, 0};
        ZSTD_outBuffer to = {out->data, out->len, 0};
        size_t rc = ZSTD_compressStream2(c, &to, &from, modes[flush]);
        if (ZSTD_isError(rc))
            return UV_ENOMEM; /* nothing else can go wrong */
        redd__http_slice_skip(in, from.pos);
        redd__http_room_take(out, to.pos);
        bool flushed = rc == 0 || flush == REDD__HTTP_FLUSH_NONE;
        if (in->len == 0 && flushed)
            return flush == REDD__HTTP_FLUSH_END ? REDD__HTTP_STEP_END : REDD__HTTP_STEP_INPUT;
        if (out->len == 0)
            return REDD__HTTP_STEP_ROOM;
    }
}

static void encoder_destroy(redd__http_encoder *base)
{
    (void)ZSTD_freeCCtx(((encoder *)base)->context);
    redd_free(base->alloc, base, sizeof(encoder));
}

const redd__http_encoder_vt redd__http_zstd_encoder = {
    .create = encoder_create,
    .begin = encoder_begin,
    .encode = encoder_encode,
    .destroy = encoder_destroy,
};

/* --- decoder --- */

typedef struct decoder {
    redd__http_decoder base;
    ZSTD_DCtx *context;
    bool ended; /* at the end of a frame */
} decoder;

static redd__http_decoder *decoder_create(const redd_allocator *a)
{
    decoder *d = redd_alloc_zero(a, sizeof *d);
    if (!d)
        return NULL;
    d->base.vt = &redd__http_zstd_decoder;
    d->base.alloc = a;
    d->context = ZSTD_createDCtx();
    if (!d->context) {
        redd_free(a, d, sizeof *d);
        return NULL;
    }
    (void)ZSTD_DCtx_setParameter(d->context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    return &d->base;
}

/* Frames follow on each other (RFC 8878 3); libzstd begins the next one by itself. */
static int decoder_decode(redd__http_decoder *base, redd_slice *in, redd__http_room *out)
{
    decoder *d = (decoder *)base;
    while (!d->ended || in->len > 0) {
        ZSTD_inBuffer from = {in->data, in->len, 0};
        ZSTD_outBuffer to = {out->data, out->len, 0};
        size_t rc = ZSTD_decompressStream(d->context, &to, &from);
        if (ZSTD_isError(rc))
            return error_of(rc);
        redd__http_slice_skip(in, from.pos);
        redd__http_room_take(out, to.pos);
        d->ended = rc == 0;
        if (!d->ended && out->len == 0)
            return REDD__HTTP_STEP_ROOM;
        if (!d->ended && in->len == 0)
            return REDD__HTTP_STEP_INPUT;
    }
    return REDD__HTTP_STEP_END;
}

static void decoder_destroy(redd__http_decoder *base)
{
    (void)ZSTD_freeDCtx(((decoder *)base)->context);
    redd_free(base->alloc, base, sizeof(decoder));
}

const redd__http_decoder_vt redd__http_zstd_decoder = {decoder_create, decoder_decode,
                                                       decoder_destroy};
#endif
