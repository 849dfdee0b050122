/* SPDX-License-Identifier: MIT */
/** Checks UTF-8 (RFC 3629) in pieces, failing at the first byte that cannot be right. */
#ifndef REDD_WEBSOCKET_UTF8_H
#define REDD_WEBSOCKET_UTF8_H

#include <redd/slice.h>

/** Zeroed: between two characters. */
typedef struct redd__ws_utf8 {
    uint8_t need;      /* bytes that the character still lacks */
    uint8_t low, high; /* range of the next one, while need > 0 */
} redd__ws_utf8;

/** Goes on with the next piece. False: not UTF-8, whatever follows. */
bool redd__ws_utf8_feed(redd__ws_utf8 *u, redd_slice piece);

/** True when a whole text is UTF-8. */
static inline bool redd__ws_utf8_valid(redd_slice text)
{
    redd__ws_utf8 u = {0, 0, 0};
    return redd__ws_utf8_feed(&u, text) && u.need == 0;
}

#endif
