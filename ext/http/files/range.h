/* SPDX-License-Identifier: MIT */
/** Ranges of bytes (RFC 9110 14). */
#ifndef REDD_HTTP_FILES_RANGE_H
#define REDD_HTTP_FILES_RANGE_H

#include <redd/slice.h>

/** More than this, once merged, is answered with the whole. */
#define REDD__RANGES_MAX 10

typedef struct redd__range {
    uint64_t first, last;
} redd__range;

typedef enum redd__ranges_outcome {
    REDD__RANGES_NONE = 0, /* no ranges, or a field that is to be ignored: the whole is sent */
    REDD__RANGES_SOME,
    REDD__RANGES_UNSATISFIABLE /* 416 */
} redd__ranges_outcome;

/** Reads the value of a Range field for a representation of `size` bytes. Ranges come out
 * ascending, merged where they overlap or where less lies between them than another part would
 * cost. */
redd__ranges_outcome redd__ranges_parse(redd_slice value, uint64_t size,
                                        redd__range out[REDD__RANGES_MAX], size_t *n);

#endif
