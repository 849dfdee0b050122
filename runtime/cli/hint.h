/* SPDX-License-Identifier: MIT */
/** "Did you mean ...": the nearest of a set of names to a mistyped one. */
#ifndef REDD_CLI_HINT_H
#define REDD_CLI_HINT_H

#include <stddef.h>

/** Zero-initialised, then fed with every candidate. */
typedef struct redd__hint {
    const char *word;
    const char *best; /* NULL: none is near */
    size_t distance;
} redd__hint;

void redd__hint_offer(redd__hint *h, const char *candidate);

/** "; did you mean PREFIXbest?" for the end of a sentence, or "" without a near candidate. */
const char *redd__hint_text(const redd__hint *h, const char *prefix, char *buf, size_t size);

#endif
