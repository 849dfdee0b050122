/* SPDX-License-Identifier: MIT */
/** The body of a request that is decoded while it is read. */
#ifndef REDD_HTTP_CODING_DECODING_H
#define REDD_HTTP_CODING_DECODING_H

#include "ext/http/coding/codec.h"

/** More are not taken on: each multiplies what a bomb can do. */
#define REDD__HTTP_CODINGS_MAX 2
/** Decoded bytes that are given at a time. */
#define REDD__HTTP_DECODED_MAX (32U << 10)
/** From the first coding to the second. */
#define REDD__HTTP_BETWEEN_MAX (16U << 10)

typedef struct redd__http_decoding {
    const redd_allocator *alloc;
    redd__http_decoder *stages[REDD__HTTP_CODINGS_MAX]; /* in the order of decoding */
    size_t n;
    uint64_t left;   /* decoded bytes that may still come */
    bool begun;      /* a byte has come */
    char *between;   /* with two stages */
    redd_slice rest; /* of what is between them */

    /* Of the request's reads. */
    size_t pending; /* bytes before the connection's in_pos that were not decoded yet */
    bool owes;      /* there may be more output without further input */
    size_t spent;   /* bytes given in this turn */
} redd__http_decoding;

/** A value of Content-Encoding, or several as one list (RFC 9110 8.4); appends to `codings`, of
 *  which there are `*n` so far. UV_ENOTSUP: an unknown one, or too many. */
int redd__http_codings_parse(redd_slice list, redd__http_coding *codings, size_t *n);

/** Decoding can go on without a byte from the peer. */
static inline bool redd__http_decoding_waits(const redd__http_decoding *d)
{
    return d && (d->pending > 0 || d->owes);
}

/** `codings` in the order in which they were applied, at least one. UV_ENOMEM. */
int redd__http_decoding_new(const redd_allocator *a, const redd__http_coding *codings, size_t n,
                            uint64_t max, redd__http_decoding **out);
void redd__http_decoding_free(redd__http_decoding *d);

/** Decodes into `buffer` of REDD__HTTP_DECODED_MAX bytes, and sets *out to what came: nothing only
 *  when all of *wire was taken. What it returns is of redd__http_step, or an error:
 * REDD_EMALFORMED, REDD_ELIMIT beyond `max`, UV_ENOMEM. */
int redd__http_decoding_step(redd__http_decoding *d, redd_slice *wire, char *buffer,
                             redd_slice *out);
/** The body may end here, by what the last step returned. A body of no bytes at all is an empty
 *  one, in whatever coding. */
static inline bool redd__http_decoding_may_end(const redd__http_decoding *d, int step)
{
    return step == REDD__HTTP_STEP_END || !d->begun;
}

#endif
