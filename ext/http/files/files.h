/* SPDX-License-Identifier: MIT */
/** A folder that is served. */
#ifndef REDD_HTTP_FILES_FILES_H
#define REDD_HTTP_FILES_FILES_H

#include "ext/http/files/mime.h"

#include <redd/http_static.h>

struct redd_http_files {
    const redd_allocator *alloc;
    redd__mime mime;
    int root;
    bool by_system; /* redd__open_beneath */
    bool listing, hidden, precompressed;
    char *index;         /* NULL: none */
    char *cache_control; /* NULL: none */
};

/** Answers with a status and its reason as text. */
void redd__files_refuse(redd_http_request *req, unsigned status);

#endif
