/* SPDX-License-Identifier: MIT */
/** Compiled apps: a .c file becomes a shared object in the user's cache, once per content. */
#ifndef REDD_CLI_APP_COMPILE_H
#define REDD_CLI_APP_COMPILE_H

#include "runtime/cli/sentence.h"

/** Loads the shared object at `object`, a path with a folder in it. UV_EINVAL when it is none that
 *  the system can load, or another negative error, and the sentence. */
typedef int (*redd__load_fn)(const char *object, void *user, redd__sentence *why);

/** Hands `load` the shared object for `path`: for a .c file the one in the cache, compiled first
 *  when it is not there; else `path` itself. A negative error and the sentence. What the compiler
 *  says goes to stderr as it is. */
int redd__app_object(const char *path, redd__load_fn load, void *user, redd__sentence *why);

#endif
