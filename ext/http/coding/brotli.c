/* SPDX-License-Identifier: MIT */
/* br (RFC 7932) by libbrotli. */
#include "ext/http/coding/codec.h"

#ifdef REDD_HAVE_BROTLI
#include "ext/http/coding/block.h"
#include "runtime/base/list.h"

#include <redd/error.h>

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stddef.h>
#include <uv.h>

/* With larger windows some qualities take up to 17 MiB; with this one none takes more than 2, for 2
 * % of the size of JSON. */
#define WINDOW_BITS 16
/* It takes a table of 4 MiB for what it believes to be large. */
#define SIZE_HINT (64U << 10)
/* Memory of an encoder that rests. */
#define KEEP_MAX (2U << 20)

/* --- encoder --- */

/* libbrotli's encoder ends the process when it gets no memory, unless it was built otherwise. So it
 * is left by a jump in that case: what it holds is ours, and is freed without it.
 *
 * It knows no reset either. Each response has an instance of its own, and most of what that asks
 * for is what the one before has left: to get and touch it anew costs more than coding 10 KiB. */
typedef struct encoder {
    redd__http_encoder base;
    BrotliEncoderState *instance; /* NULL after a jump */
    redd__list blocks;            /* all its memory */
    redd__list spare;             /* blocks that it has given back */
    size_t spare_size;            /* of them together */
    jmp_buf no_memory;
    bool jumps; /* while it works */
} encoder;

typedef struct block {
    alignas(max_align_t) redd__list link;
    size_t size; /* of it all */
} block;

static block *block_of(redd__list *link)
{
    return link ? REDD__LIST_ITEM(link, block, link) : NULL;
}

/* A spare block that is not much larger than `size`, or NULL. */
static block *take_spare(encoder *e, size_t size)
{
    for (redd__list *l = e->spare.next; l != &e->spare; l = l->next) {
        block *b = block_of(l);
        if (b->size >= size && b->size / 2 <= size) {
            redd__list_remove(l);
            e->spare_size -= b->size;
            return b;
        }
    }
    return NULL;
}

static block *new_block(encoder *e, size_t size)
{
    block *b = redd_alloc(e->base.alloc, size);
    if (b)
        b->size = size;
    return b;
}

static void *encoder_alloc(void *opaque, size_t n)
{
    encoder *e = opaque;
    size_t size = sizeof(block) + n;
    block *b = take_spare(e, size);
    if (!b && size > n)
        b = new_block(e, size);
    if (!b && e->jumps)
        longjmp(e->no_memory, 1);
    if (!b)
        return NULL;
    redd__list_append(&e->blocks, &b->link);
    return b + 1;
}

static void make_spare(encoder *e, block *b)
{
    redd__list_remove(&b->link);
    redd__list_append(&e->spare, &b->link);
    e->spare_size += b->size;
}

static void encoder_free(void *opaque, void *memory)
{
    if (memory)
        make_spare(opaque, (block *)memory - 1);
}

/* The instance has ended; of its memory no more than `keep` bytes stay, those it asked for last. */
static void end_instance(encoder *e, size_t keep)
{
    block *b;
    while ((b = block_of(redd__list_first(&e->blocks))))
        make_spare(e, b);
    while (e->spare_size > keep && (b = block_of(redd__list_pop(&e->spare)))) {
        e->spare_size -= b->size;
        redd_free(e->base.alloc, b, b->size);
    }
    e->instance = NULL;
}

static redd__http_encoder *encoder_create(const redd_allocator *a)
{
    encoder *e = redd_alloc_zero(a, sizeof *e);
    if (!e)
        return NULL;
    e->base.vt = &redd__http_br_encoder;
    e->base.alloc = a;
    redd__list_init(&e->blocks);
    redd__list_init(&e->spare);
    return &e->base;
}

static void encoder_rest(redd__http_encoder *base)
{
    end_instance((encoder *)base, KEEP_MAX);
}

static int encoder_begin(redd__http_encoder *base, unsigned level)
{
    /* The qualities above 8 take milliseconds for anything. */
    static const uint8_t qualities[10] = {4, 1, 1, 2, 3, 4, 5, 6, 7, 8};
    encoder *e = (encoder *)base;
    e->jumps = false;
    e->instance = BrotliEncoderCreateInstance(encoder_alloc, encoder_free, e);
    if (!e->instance)
        return UV_ENOMEM;
    (void)BrotliEncoderSetParameter(e->instance, BROTLI_PARAM_QUALITY, qualities[level % 10]);
    (void)BrotliEncoderSetParameter(e->instance, BROTLI_PARAM_LGWIN, WINDOW_BITS);
    (void)BrotliEncoderSetParameter(e->instance, BROTLI_PARAM_SIZE_HINT, SIZE_HINT);
    return 0;
}

/* Returns false when there is no memory. */
static bool compress(encoder *e, BrotliEncoderOperation op, redd_slice *in, redd__http_room *out)
{
    const uint8_t *from = (const uint8_t *)in->data;
    uint8_t *to = (uint8_t *)out->data;
    size_t left = in->len, room = out->len;
    if (!BrotliEncoderCompressStream(e->instance, op, &left, &from, &room, &to, NULL))
        return false;
    redd__http_slice_skip(in, in->len - left);
    redd__http_room_take(out, out->len - room);
    return true;
}

static int encode(encoder *e, redd_slice *in, redd__http_room *out, redd__http_flush flush)
{
    static const BrotliEncoderOperation ops[] = {BROTLI_OPERATION_PROCESS, BROTLI_OPERATION_FLUSH,
                                                 BROTLI_OPERATION_FINISH};
    for (;;) {
        if (!compress(e, ops[flush], in, out))
            return UV_ENOMEM;
        if (in->len == 0 && !BrotliEncoderHasMoreOutput(e->instance))
            return flush == REDD__HTTP_FLUSH_END ? REDD__HTTP_STEP_END : REDD__HTTP_STEP_INPUT;
        if (out->len == 0)
            return REDD__HTTP_STEP_ROOM;
    }
}

static int encoder_encode(redd__http_encoder *base, redd_slice *in, redd__http_room *out,
                          redd__http_flush flush)
{
    encoder *e = (encoder *)base;
    if (!e->instance)
        return UV_ENOMEM;
    if (setjmp(e->no_memory)) {
        end_instance(e, 0);
        return UV_ENOMEM;
    }
    e->jumps = true;
    int step = encode(e, in, out, flush);
    e->jumps = false;
    return step;
}

static void encoder_destroy(redd__http_encoder *base)
{
    end_instance((encoder *)base, 0);
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
