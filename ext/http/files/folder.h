/* SPDX-License-Identifier: MIT */
/** A folder as a response. */
#ifndef REDD_HTTP_FILES_FOLDER_H
#define REDD_HTTP_FILES_FOLDER_H

#include "ext/http/files/find.h"

/** Answers with the index of the folder that the path names, without opening the folder itself.
 *  False: it has none. */
bool redd__folder_respond_index(const redd_http_files *files, redd_http_request *req,
                                redd__file_path *path);
/** Answers with the listing of a folder that has no index, or sends a client that left the slash
 *  out to where it stands. Takes the folder's descriptor. */
void redd__folder_respond(const redd_http_files *files, redd_http_request *req,
                          const redd__file_path *path, const redd__found *folder);

#endif
