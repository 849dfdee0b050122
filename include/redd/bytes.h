/* SPDX-License-Identifier: MIT */
/** Counted byte strings: shared without copying, between workers too. */
#ifndef REDD_BYTES_H
#define REDD_BYTES_H

#include <redd/alloc.h>
#include <redd/slice.h>

REDD_BEGIN_DECLS

/** The count is atomic: references may be taken and dropped on any thread. The content is constant
 *  as soon as there is more than one reference. */
typedef struct redd_bytes redd_bytes;

/** Uninitialised bytes with one reference; write them through redd_bytes_data. UV_ENOMEM. */
REDD_API int redd_bytes_new(const redd_allocator *a, size_t len, redd_bytes **out);
/** One reference to a copy of `s`. UV_ENOMEM. */
REDD_API int redd_bytes_copy(const redd_allocator *a, redd_slice s, redd_bytes **out);
REDD_API redd_bytes *redd_bytes_ref(redd_bytes *b);
/** NULL is allowed. */
REDD_API void redd_bytes_unref(redd_bytes *b);
/** Content; valid while a reference is held. */
REDD_API redd_slice redd_bytes_slice(const redd_bytes *b);
/** Writable content; only while the caller holds the sole reference. */
REDD_API char *redd_bytes_data(redd_bytes *b);
/** Shortens to `len` <= the present length; only while the caller holds the sole reference. */
REDD_API void redd_bytes_truncate(redd_bytes *b, size_t len);

REDD_END_DECLS

#endif
