/* SPDX-License-Identifier: MIT */
/** Compiled apps: a .c file becomes a shared object in the user's cache, once per content. */
#ifndef REDD_CLI_APP_COMPILE_H
#define REDD_CLI_APP_COMPILE_H

#include "runtime/cli/sentence.h"

#include <limits.h>

/** Path of the shared object for `path`: for a .c file the one in the cache, compiled first when it
 *  is not there; else `path` itself, with a folder so that the loader does not search for it.
 *  A negative error and the sentence. What the compiler says goes to stderr as it is. */
int redd__app_object(const char *path, char object[PATH_MAX], redd__sentence *why);

#endif
