/* SPDX-License-Identifier: MIT */
/** The folder in which compiled apps are kept. */
#ifndef REDD_CLI_CACHE_H
#define REDD_CLI_CACHE_H

#include "runtime/cli/sentence.h"

#include <limits.h>

typedef struct redd__cache {
    char folder[PATH_MAX];
} redd__cache;

/** $XDG_CACHE_HOME/redd, else ~/.cache/redd; made if it is not there, for the user alone. A
 * negative error and the sentence. */
int redd__cache_open(redd__cache *c, redd__sentence *why);

/** Path of the entry with this key and ending. UV_ENAMETOOLONG and the sentence. */
int redd__cache_path(const redd__cache *c, const char *key, const char *ending, char out[PATH_MAX],
                     redd__sentence *why);

/** A new file (open, with close-on-exec) for an entry in the making; its name ends in `ending`. A
 *  negative error and the sentence, else the descriptor. */
int redd__cache_temporary(const redd__cache *c, const char *ending, char out[PATH_MAX],
                          redd__sentence *why);

/** As redd__cache_temporary, but the file has no name any more: scratch space. */
int redd__cache_scratch(const redd__cache *c, redd__sentence *why);

#endif
