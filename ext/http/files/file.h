/* SPDX-License-Identifier: MIT */
/** A file as a response. */
#ifndef REDD_HTTP_FILES_FILE_H
#define REDD_HTTP_FILES_FILE_H

#include "ext/http/files/find.h"

/** Answers with the file, or a part, or by what the request's conditions come to. Takes the file's
 *  descriptor. The path is used, and the same afterwards. */
void redd__file_respond(const redd_http_files *files, redd_http_request *req, redd__file_path *path,
                        redd__found *file);

#endif
