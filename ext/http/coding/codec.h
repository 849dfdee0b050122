/* SPDX-License-Identifier: MIT */
/** Content codings (RFC 9110 8.4.1) behind one face: what zlib, brotli and zstd do a step at a
 * time. */
#ifndef REDD_HTTP_CODING_CODEC_H
#define REDD_HTTP_CODING_CODEC_H

#include <redd/alloc.h>
#include <redd/slice.h>

typedef enum redd__http_coding {
    REDD__HTTP_IDENTITY = 0,
    REDD__HTTP_GZIP,
    REDD__HTTP_DEFLATE, /* of requests only */
    REDD__HTTP_BR,
    REDD__HTTP_ZSTD,
    REDD__HTTP_CODINGS
} redd__http_coding;

/** Where a step writes; it moves `data` on and takes off `len`. */
typedef struct redd__http_room {
    char *data;
    size_t len;
} redd__http_room;

typedef enum redd__http_flush {
    REDD__HTTP_FLUSH_NONE = 0, /* more follows soon */
    REDD__HTTP_FLUSH_PIECE,    /* what was taken so far can be decoded */
    REDD__HTTP_FLUSH_END       /* nothing follows */
} redd__http_flush;

/** What a step came to. Errors: REDD_EMALFORMED (a decoder's), UV_ENOMEM. */
typedef enum redd__http_step {
    REDD__HTTP_STEP_INPUT = 0, /* all input was taken; what it gave, or was told to flush, is out */
    REDD__HTTP_STEP_ROOM,      /* there may be more output: go on with more room */
    REDD__HTTP_STEP_END        /* as INPUT, and what is coded may end here */
} redd__http_step;

typedef struct redd__http_encoder redd__http_encoder;
typedef struct redd__http_encoder_vt {
    /** NULL: no memory. */
    redd__http_encoder *(*create)(const redd_allocator *a);
    /** Ready for the next response. `level`: 1 (fast) to 9 (small). UV_ENOMEM. */
    int (*begin)(redd__http_encoder *e, unsigned level);
    int (*encode)(redd__http_encoder *e, redd_slice *in, redd__http_room *out,
                  redd__http_flush flush);
    /** Gives back the memory that the next response cannot use. NULL: there is none such. */
    void (*rest)(redd__http_encoder *e);
    void (*destroy)(redd__http_encoder *e);
} redd__http_encoder_vt;

/** The beginning of each encoder. */
struct redd__http_encoder {
    const redd__http_encoder_vt *vt;
    const redd_allocator *alloc;
    redd__http_encoder *next; /* the pool's */
    uint8_t coding;           /* the pool's */
};

typedef struct redd__http_decoder redd__http_decoder;
typedef struct redd__http_decoder_vt {
    /** NULL: no memory. */
    redd__http_decoder *(*create)(const redd_allocator *a);
    /** Bytes behind the end of what is coded are malformed, but gzip has members and zstd frames
     *  that follow on each other. */
    int (*decode)(redd__http_decoder *d, redd_slice *in, redd__http_room *out);
    void (*destroy)(redd__http_decoder *d);
} redd__http_decoder_vt;

/** The beginning of each decoder. */
struct redd__http_decoder {
    const redd__http_decoder_vt *vt;
    const redd_allocator *alloc;
};

typedef struct redd__http_codec {
    redd_slice name;
    const redd__http_encoder_vt *encoder; /* NULL: only decoded */
    const redd__http_decoder_vt *decoder;
} redd__http_codec;

/** NULL for identity and for what this build is without. */
const redd__http_codec *redd__http_codec_of(redd__http_coding coding);
/** By its name in fields, in any case; REDD__HTTP_CODINGS for an unknown one. */
redd__http_coding redd__http_coding_named(redd_slice name);

extern const redd__http_encoder_vt redd__http_gzip_encoder;
extern const redd__http_decoder_vt redd__http_gzip_decoder;
extern const redd__http_decoder_vt redd__http_deflate_decoder;
#ifdef REDD_HAVE_BROTLI
extern const redd__http_encoder_vt redd__http_br_encoder;
extern const redd__http_decoder_vt redd__http_br_decoder;
#endif
#ifdef REDD_HAVE_ZSTD
extern const redd__http_encoder_vt redd__http_zstd_encoder;
extern const redd__http_decoder_vt redd__http_zstd_decoder;
#endif

static inline void redd__http_room_take(redd__http_room *room, size_t n)
{
    room->data += n;
    room->len -= n;
}

static inline void redd__http_slice_skip(redd_slice *s, size_t n)
{
    if (n > 0)
        *s = redd_slice_of(s->data + n, s->len - n); /* an empty one may have no address */
}

#endif
