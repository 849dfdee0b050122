/* SPDX-License-Identifier: MIT */
/** Opening what lies below a folder, and nothing else. */
#ifndef REDD_HTTP_FILES_OPEN_H
#define REDD_HTTP_FILES_OPEN_H

#include <stdbool.h>

/** Whether the system resolves paths beneath a folder by itself (openat2, Linux 5.6). */
bool redd__open_beneath_works(int root);
/** Opens `path` ("" is `root` itself) for reading, without waiting for whatever it may be. With
 *  `by_system`, symbolic links that stay below the root are followed; else none is. UV_E*. */
int redd__open_beneath(int root, const char *path, bool by_system, int *fd);

#endif
