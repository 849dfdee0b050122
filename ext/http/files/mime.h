/* SPDX-License-Identifier: MIT */
/** Content types by the endings of file names. */
#ifndef REDD_HTTP_FILES_MIME_H
#define REDD_HTTP_FILES_MIME_H

#include <redd/alloc.h>
#include <redd/slice.h>

/** The longest type that is told, charset included. */
#define REDD__MIME_MAX 128

typedef struct redd__mime_entry {
    redd_slice ending; /* lower case, without the dot */
    redd_slice type;
} redd__mime_entry;

/** Constant once loaded. */
typedef struct redd__mime {
    const redd_allocator *alloc;
    char *text; /* the file's */
    size_t size;
    redd__mime_entry *entries; /* ordered by ending */
    size_t n, cap;
} redd__mime;

/** Reads a file in the form of /etc/mime.types: a type, then its endings, on each line; the first
 *  line that has an ending counts. NULL: the system's, if there is one, and the well-known types of
 *  the web that it lacks. UV_E* for a named file that cannot be read, UV_EFBIG, UV_ENOMEM. */
int redd__mime_load(redd__mime *m, const redd_allocator *a, const char *path);
void redd__mime_fini(redd__mime *m);
/** The type for a file's name, with charset=utf-8 for texts, in `buf`; application/octet-stream
 *  where nothing is known. */
redd_slice redd__mime_type(const redd__mime *m, const char *name, char buf[REDD__MIME_MAX]);

#endif
