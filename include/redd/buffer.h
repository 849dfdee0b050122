/* SPDX-License-Identifier: MIT */
/** A growable byte buffer that is born with a maximum. */
#ifndef REDD_BUFFER_H
#define REDD_BUFFER_H

#include <redd/alloc.h>
#include <redd/slice.h>

REDD_BEGIN_DECLS

/** Caller's memory; holds no memory while empty and released. `data`..`data + len` is the content;
 *  the other fields are private. */
typedef struct redd_buffer {
    char *data;
    size_t len;
    size_t cap;
    size_t max;
    const redd_allocator *alloc;
} redd_buffer;

REDD_API void redd_buffer_init(redd_buffer *b, const redd_allocator *a, size_t max);
/** Frees the memory; the buffer is empty and may be used again. */
REDD_API void redd_buffer_release(redd_buffer *b);
/** Makes room for `extra` more bytes behind `len`. REDD_ELIMIT beyond the maximum, UV_ENOMEM.
 *  Growth is geometric, never past the maximum. */
REDD_API int redd_buffer_reserve(redd_buffer *b, size_t extra);
/** Copies to the end. Errors as redd_buffer_reserve. */
REDD_API int redd_buffer_append(redd_buffer *b, const void *data, size_t len);
/** Drops `n` <= len bytes from the front, moving the rest down. */
REDD_API void redd_buffer_consume(redd_buffer *b, size_t n);

/** Bytes that fit behind `len` without growth. */
static inline size_t redd_buffer_room(const redd_buffer *b)
{
    return b->cap - b->len;
}

static inline redd_slice redd_buffer_slice(const redd_buffer *b)
{
    return redd_slice_of(b->data, b->len);
}

REDD_END_DECLS

#endif
