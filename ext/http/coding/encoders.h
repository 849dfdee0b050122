/* SPDX-License-Identifier: MIT */
/** A worker's encoders, kept for reuse: making one costs more than a small response. */
#ifndef REDD_HTTP_CODING_ENCODERS_H
#define REDD_HTTP_CODING_ENCODERS_H

#include "ext/http/coding/codec.h"

/** Of each coding, free: gzip holds 0.3 MiB each, zstd 0.7, br 2. */
#define REDD__HTTP_ENCODERS_KEPT 4
/** In use by streamed responses; more are sent as they are. */
#define REDD__HTTP_ENCODERS_MAX 256

/** Memory for bodies, once one was coded. */
#define REDD__HTTP_CODED_KEPT (64U << 10)

/** Zeroed memory is one without encoders. */
typedef struct redd__http_encoders {
    redd__http_encoder *kept[REDD__HTTP_CODINGS];
    unsigned n_kept[REDD__HTTP_CODINGS];
    unsigned in_use;
} redd__http_encoders;

/** Frees what is kept; all must have been put back. */
void redd__http_encoders_fini(redd__http_encoders *set);
/** Ready for one response. NULL: too many are in use, or no memory. */
redd__http_encoder *redd__http_encoder_get(redd__http_encoders *set, const redd_allocator *a,
                                           redd__http_coding coding, unsigned level);
void redd__http_encoder_put(redd__http_encoders *set, redd__http_encoder *e);

static inline int redd__http_encode(redd__http_encoder *e, redd_slice *in, redd__http_room *out,
                                    redd__http_flush flush)
{
    return e->vt->encode(e, in, out, flush);
}

#endif
