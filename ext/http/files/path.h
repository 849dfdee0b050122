/* SPDX-License-Identifier: MIT */
/** From a request's path to a file's. */
#ifndef REDD_HTTP_FILES_PATH_H
#define REDD_HTTP_FILES_PATH_H

#include <redd/slice.h>

#include <limits.h>

typedef struct redd__file_path {
    char text[PATH_MAX]; /* below the root, without a slash at either end; "" is the root */
    size_t len;
    bool folder; /* it ended with a slash */
} redd__file_path;

/** Decodes `path` behind `prefix` ("": none), once. False when it names nothing that may be served:
 *  it is not below the prefix, has an empty, "." or ".." segment, a bad escape, an encoded slash or
 *  NUL, is too long, or has a name with a leading dot and `hidden` is not set; but ".well-known" of
 *  the root (RFC 8615) is never hidden. */
bool redd__file_path_parse(redd_slice path, redd_slice prefix, bool hidden, redd__file_path *out);
/** Appends text; false: too long. */
bool redd__file_path_append(redd__file_path *p, const char *text);
/** Takes what was appended to `len` bytes off again. */
void redd__file_path_cut(redd__file_path *p, size_t len);

#endif
