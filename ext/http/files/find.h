/* SPDX-License-Identifier: MIT */
/** What is there below the root. */
#ifndef REDD_HTTP_FILES_FIND_H
#define REDD_HTTP_FILES_FIND_H

#include "ext/http/files/files.h"
#include "ext/http/files/path.h"

#include <sys/stat.h>

/** An open file or folder. */
typedef struct redd__found {
    int fd; /* the finder's to close */
    struct stat st;
    const char *coding; /* of a precompressed neighbour; NULL: none */
} redd__found;

/** Opens what `path` names. UV_E*. */
int redd__find(const redd_http_files *f, const char *path, redd__found *out);
/** Of a response that tells its error: what does not exist for a client is 404, whatever the reason
 *  is. */
unsigned redd__find_status(int error);
/** Puts the precompressed neighbour that the client likes best, if there is one, in the place of
 *  the file. The path is used meanwhile, and the same afterwards. */
void redd__find_neighbour(const redd_http_files *f, const redd_http_request *req,
                          redd__file_path *path, redd__found *file);

#endif
