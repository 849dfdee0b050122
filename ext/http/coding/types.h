/* SPDX-License-Identifier: MIT */
/** Which content types are worth compressing. */
#ifndef REDD_HTTP_CODING_TYPES_H
#define REDD_HTTP_CODING_TYPES_H

#include <redd/slice.h>

/** True for text of any kind, by the value of a Content-Type field; its parameters do not matter.
 *  Not for event streams: who has small pieces to send in time says so. */
bool redd__http_type_compresses(redd_slice content_type);

#endif
