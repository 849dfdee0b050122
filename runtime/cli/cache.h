/* SPDX-License-Identifier: MIT */
/** The folder in which compiled apps are kept. What lies there is run as the user, so nobody else
 * may have a hand in it: the folder and each object are checked before anything is loaded. */
#ifndef REDD_CLI_CACHE_H
#define REDD_CLI_CACHE_H

#include "runtime/cli/sentence.h"

#include <limits.h>

typedef struct redd__cache {
    char folder[PATH_MAX];
    int fd; /* the folder that was checked, whatever its name comes to mean later; -1: not open */
} redd__cache;

/** Enough for the name of every entry. */
#define REDD__CACHE_NAME 80

/** $XDG_CACHE_HOME/redd, else ~/.cache/redd; made if it is not there, for the user alone. A folder
 *  of another user, one that others can write to, and a symbolic link are refused. A negative error
 *  and the sentence; close is due all the same. */
int redd__cache_open(redd__cache *c, redd__sentence *why);
void redd__cache_close(redd__cache *c);

/** Opens the entry `name` if it is a regular file of the user that nobody else can write to: the
 *  descriptor. UV_EPERM when it is not, or the system's error. */
int redd__cache_find(const redd__cache *c, const char *name);

/** A path to the entry through the open folder, for this process alone. While the folder is open
 *  nobody but the user can put something else under it. */
void redd__cache_inner_path(const redd__cache *c, const char *name, char out[PATH_MAX]);

/** A path to the entry for other programs. UV_ENAMETOOLONG and the sentence. */
int redd__cache_path(const redd__cache *c, const char *name, char out[PATH_MAX],
                     redd__sentence *why);

/** A new file (open, with close-on-exec, for the user alone) for an entry in the making; its name
 *  ends in `ending`. A negative error and the sentence, else the descriptor. */
int redd__cache_temporary(const redd__cache *c, const char *ending, char name[REDD__CACHE_NAME],
                          redd__sentence *why);

/** As redd__cache_temporary, but the file has no name any more: scratch space. */
int redd__cache_scratch(const redd__cache *c, redd__sentence *why);

/** Gives an entry its final name, in place of what has it now. A negative error and the sentence.
 */
int redd__cache_rename(const redd__cache *c, const char *from, const char *to, redd__sentence *why);
void redd__cache_remove(const redd__cache *c, const char *name);

/** Removes what an interrupted redd has left in the making: unfinished entries older than an hour.
 */
void redd__cache_sweep(const redd__cache *c);

#endif
