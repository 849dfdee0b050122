/* SPDX-License-Identifier: MIT */
/** application/x-www-form-urlencoded (https://url.spec.whatwg.org/#urlencoded-parsing). */
#ifndef REDD_HTTP_FORM_URLENCODED_H
#define REDD_HTTP_FORM_URLENCODED_H

#include <redd/slice.h>

typedef struct redd__http_urlencoded {
    uint8_t state;
    uint8_t escape; /* bytes of an escape that have come */
    uint8_t high;   /* its first digit */
    size_t name_len;
} redd__http_urlencoded;

#endif
