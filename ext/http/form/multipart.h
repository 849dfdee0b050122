/* SPDX-License-Identifier: MIT */
/** multipart/form-data (RFC 7578, RFC 2046 5.1). */
#ifndef REDD_HTTP_FORM_MULTIPART_H
#define REDD_HTTP_FORM_MULTIPART_H

#include <redd/slice.h>

#define REDD__HTTP_MAX_BOUNDARY 70

typedef struct redd__http_multipart {
    uint8_t state;
    uint8_t line;     /* how far the rest of a boundary's line is */
    uint8_t matched;  /* bytes of the delimiter that the last piece ended with */
    uint8_t borrowed; /* of these, what belongs to what came before the content */
    uint8_t delimiter_len;
    char delimiter[4 + REDD__HTTP_MAX_BOUNDARY]; /* CR LF "--" boundary */
} redd__http_multipart;

/** Takes the boundary from the parameters of a Content-Type. UV_EINVAL: there is none, or it is
 *  none of RFC 2046 5.1.1. */
int redd__http_multipart_init(redd__http_multipart *m, redd_slice parameters);

#endif
