/* SPDX-License-Identifier: MIT */
/** A folder's content as a page. */
#ifndef REDD_HTTP_FILES_LISTING_H
#define REDD_HTTP_FILES_LISTING_H

#include "ext/http/files/files.h"
#include "ext/http/files/path.h"

#include <redd/buffer.h>

/** No page is longer. */
#define REDD__LISTING_MAX (8U << 20)

/** Appends the page of the open folder `fd`, which `path` names: links to what would be served,
 *  folders first, by name, names with a leading dot only if hidden ones are served; of very many
 *  entries only some. Takes `fd`. UV_E* of reading, UV_ENOMEM. */
int redd__listing_write(const redd_http_files *files, const redd__file_path *path, int fd,
                        redd_buffer *out);

#endif
