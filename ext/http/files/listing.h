/* SPDX-License-Identifier: MIT */
/** A folder's content as a page. */
#ifndef REDD_HTTP_FILES_LISTING_H
#define REDD_HTTP_FILES_LISTING_H

#include <redd/buffer.h>

/** Appends the page of the open folder `fd`: folders first, by name, links for each; names with a
 *  leading dot only if `hidden`. `path` is shown as its title, `parent` adds a link upwards. Takes
 *  `fd`. UV_E* of reading, REDD_ELIMIT: too many entries, UV_ENOMEM. */
int redd__listing_write(int fd, const char *path, bool parent, bool hidden, redd_buffer *out);

#endif
