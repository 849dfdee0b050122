/* SPDX-License-Identifier: MIT */
/** The sending side of a connection: bytes are gathered and leave in one write per batch. */
#ifndef REDD_OUTPUT_H
#define REDD_OUTPUT_H

#include <redd/stream.h>

REDD_BEGIN_DECLS

/**
 * Between cork and uncork bytes gather in the worker's one cork buffer, and uncork sends them with
 * one write; what the stream does not take moves to memory of the output's own, which is freed as
 * soon as it is empty. Outside, bytes go to the output's own memory until flush.
 *
 * `max` bounds what may wait in own memory when a new piece is taken; the first piece is taken
 * whatever its size, and what was half sent always is. So an output never holds more than `max`
 * bytes and one piece, or one cork buffer.
 *
 * An error of the stream (or want of memory for the rest of what is half sent) drops what waits and
 * stays: every later call gives it again. Caller's memory, which must not move but by
 * redd_output_move; the fields are private.
 */
typedef struct redd_output {
    redd_stream *stream;
    struct redd_cork *cork; /* the worker's */
    char *data;             /* own memory: bytes off..len wait */
    size_t off, len, cap;
    size_t max;
    int error; /* 0, or what the stream failed with */
} redd_output;

REDD_API void redd_output_init(redd_output *o, redd_worker *w, redd_stream *stream, size_t max);
/** Drops what waits. The stream is not touched. */
REDD_API void redd_output_fini(redd_output *o);
/** Moves everything that waits (corked bytes too) to `to`, which needs no init and is not corked;
 *  `from` is empty and must not be used again. UV_ENOMEM: nothing moved. */
REDD_API int redd_output_move(redd_output *to, redd_output *from);

/** 0, or the error that the stream failed with. */
static inline int redd_output_error(const redd_output *o)
{
    return o->error;
}
/** Another maximum from now on; what waits already stays. */
static inline void redd_output_set_max(redd_output *o, size_t max)
{
    o->max = max;
}

/** Borrows the worker's cork buffer; if another output has it, that one is flushed first. Does
 *  nothing while own memory holds bytes. */
REDD_API void redd_output_cork(redd_output *o);
/** Gives it back. As redd_output_flush. */
REDD_API int redd_output_uncork(redd_output *o);
/** One write of all that waits. 0: nothing waits any more; UV_EAGAIN: a rest waits for WRITE; else
 *  the stream's error, and what waited is dropped. */
REDD_API int redd_output_flush(redd_output *o);

/** Room for `n` > 0 contiguous bytes, to be followed by commit of at most `n`; valid until the next
 * call. May write to the stream to make room. NULL: beyond the maximum, out of memory, or the
 * stream has failed. */
REDD_API char *redd_output_reserve(redd_output *o, size_t n);
REDD_API void redd_output_commit(redd_output *o, size_t n);
/** Takes all of `s` or nothing: REDD_ELIMIT beyond the maximum, UV_ENOMEM, or the stream's error.
 *  Large slices are written from where they are; only what the stream does not take is copied. */
REDD_API int redd_output_write(redd_output *o, redd_slice s);
/** Bytes wait for the stream to take more (corked ones do not count). */
static inline bool redd_output_blocked(const redd_output *o)
{
    return o->len > o->off;
}
/** Bytes that wait, corked ones included. */
REDD_API size_t redd_output_queued(const redd_output *o);

REDD_END_DECLS

#endif
