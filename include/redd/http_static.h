/* SPDX-License-Identifier: MIT */
/** Files of a folder as responses. */
#ifndef REDD_HTTP_STATIC_H
#define REDD_HTTP_STATIC_H

#include <redd/http.h>

REDD_BEGIN_DECLS

/** A folder. Constant once made, for all workers; must outlive the requests that it answers. */
typedef struct redd_http_files redd_http_files;

typedef struct redd_http_files_options {
    uint32_t struct_size;
    const char *root;          /* the folder; may itself be a symbolic link */
    const char *index;         /* file for a folder's own path; NULL: "index.html"; "": none */
    bool listing;              /* a folder without index is listed */
    bool hidden;               /* names that begin with a dot are served too, not only the root's
                                  ".well-known" (RFC 8615) */
    bool no_precompressed;     /* do not look for name.br, name.zst and name.gz */
    const char *cache_control; /* the field of each file's 200, 206 and 304; NULL: none */
    const char *mime_types;    /* in the form of /etc/mime.types; NULL: the system's, and the web's
                                  well-known types where it lacks them */
} redd_http_files_options;
#define REDD_HTTP_FILES_OPTIONS_INIT                   \
    {                                                  \
        .struct_size = sizeof(redd_http_files_options) \
    }

/** Opens the folder: later it may be renamed. UV_ENOENT, UV_ENOTDIR, UV_EACCES, UV_EINVAL,
 *  UV_ENOMEM. `a` must outlive it. Any thread. */
REDD_API int redd_http_files_new(const redd_allocator *a, const redd_http_files_options *options,
                                 redd_http_files **out);
/** NULL is allowed. */
REDD_API void redd_http_files_free(redd_http_files *files);

/** Answers with the file that the request's path names below the folder, `prefix` taken off the
 *  path first (NULL: none). GET and HEAD, else 405; 404; 403 where the system refuses; 301 from a
 *  folder's name to the same with a slash; 200, 206 (RFC 9110 14), 304, 412 and 416. A path that is
 *  no clean one ("..", an encoded slash or NUL, a bad escape) is 404, and nothing outside of the
 *  folder is ever opened: symbolic links may not lead out of it. Always answers. */
REDD_API void redd_http_static(redd_http_files *files, redd_http_request *req, const char *prefix);
/** The same as a handler: `files` is its user. */
REDD_API void redd_http_static_handler(redd_http_request *req, void *files);

REDD_END_DECLS

#endif
