/* SPDX-License-Identifier: MIT */
/** The chunked transfer coding (RFC 9112 7.1), decoded as it comes and by the letter: what two
 *  readers of a body could understand differently is malformed. */
#ifndef REDD_HTTP_CHUNKED_H
#define REDD_HTTP_CHUNKED_H

#include <redd/slice.h>

/** All zero: before the first chunk. */
typedef struct redd__http_chunked {
    uint64_t left;      /* bytes of the chunk in work that are still to come; its size while read */
    uint64_t announced; /* bytes of all chunks so far, the one in work included */
    uint64_t extensions; /* bytes of all chunk extensions so far */
    uint8_t state;
    uint8_t digits; /* of the size that is being read */
} redd__http_chunked;

typedef struct redd__http_chunk_limits {
    uint64_t body;       /* bytes of all chunks */
    uint64_t extensions; /* bytes of all chunk extensions */
} redd__http_chunk_limits;

typedef enum redd__http_chunk_event {
    REDD__HTTP_CHUNK_MORE,     /* the input is used up */
    REDD__HTTP_CHUNK_DATA,     /* *piece is what comes next of the body */
    REDD__HTTP_CHUNK_TRAILERS, /* the last chunk was read: trailer lines begin at the input. This
                                  comes at every call from now on */
    REDD__HTTP_CHUNK_END,      /* the last chunk and the empty line behind it were read */
    REDD__HTTP_CHUNK_LIMIT,    /* more than a limit allows */
    REDD__HTTP_CHUNK_BAD       /* no chunk */
} redd__http_chunk_event;

/** Decodes up to the next event; moves *in past what it took. *piece points into the input. */
redd__http_chunk_event redd__http_chunked_next(redd__http_chunked *d, redd_slice *in,
                                               const redd__http_chunk_limits *limits,
                                               redd_slice *piece);

#endif
