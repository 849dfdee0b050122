/* SPDX-License-Identifier: MIT */
/** A borrowed run of bytes: pointer and length, not NUL-terminated. */
#ifndef REDD_SLICE_H
#define REDD_SLICE_H

#include <redd/api.h>

#include <string.h>

REDD_BEGIN_DECLS

typedef struct redd_slice {
    const char *data;
    size_t len;
} redd_slice;

/** Slice of a string literal, usable in constant initialisers. */
#define REDD_SLICE(literal)               \
    {                                     \
        ("" literal), sizeof(literal) - 1 \
    }

static inline redd_slice redd_slice_of(const void *data, size_t len)
{
    redd_slice s;
    s.data = (const char *)data;
    s.len = len;
    return s;
}

/** Slice of a NUL-terminated string; NULL gives the empty slice. */
static inline redd_slice redd_slice_str(const char *text)
{
    return redd_slice_of(text, text ? strlen(text) : 0);
}

static inline bool redd_slice_equal(redd_slice a, redd_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/** Equality that ignores the case of ASCII letters (field names, tokens). */
REDD_API bool redd_slice_equal_nocase(redd_slice a, redd_slice b);

/** Drops leading and trailing SP and HTAB. */
REDD_API redd_slice redd_slice_trim(redd_slice s);

/**
 * Walks the elements of a comma-separated list (RFC 9110 5.6.1), trimmed, empty ones skipped;
 * commas inside quoted strings do not separate. Moves *rest past the element that it stores in
 * *element. Returns false when none is left.
 */
REDD_API bool redd_slice_next_element(redd_slice *rest, redd_slice *element);

/** True when the comma-separated list has this token, in any case. */
REDD_API bool redd_slice_has_token(redd_slice list, redd_slice token);

REDD_END_DECLS

#endif
