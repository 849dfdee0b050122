/* SPDX-License-Identifier: MIT */
/** The set that the program serves with: the linked-in extensions and those of --ext. */
#ifndef REDD_CLI_EXTENSIONS_H
#define REDD_CLI_EXTENSIONS_H

#include "runtime/cli/sentence.h"

#include <redd/runtime.h>

/** A runtime with "net", "http" and "websocket". A negative error and the sentence. */
int redd__extensions_begin(const redd_runtime_options *options, redd_runtime **rt,
                           redd__sentence *why);

/** Adds the extension in a shared object, or in a .c file, which is compiled. A negative error and
 *  the sentence, which names `path`. */
int redd__extensions_load(redd_runtime *rt, const char *path, redd__sentence *why);

#endif
