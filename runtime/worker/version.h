/* SPDX-License-Identifier: MIT */
/** Versions of extensions: numbers joined by dots. */
#ifndef REDD_WORKER_VERSION_H
#define REDD_WORKER_VERSION_H

#include <stdbool.h>

/** "1", "1.2", "1.2.3", ... */
bool redd__version_valid(const char *version);
/** Below, equal to or above 0 as `a` is older than, as old as or newer than `b`; a number that one
 *  of them lacks is 0. Both must be valid. */
int redd__version_compare(const char *a, const char *b);

#endif
