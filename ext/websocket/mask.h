/* SPDX-License-Identifier: MIT */
/** Unmasking (RFC 6455 5.3), a vector at a time. */
#ifndef REDD_WEBSOCKET_MASK_H
#define REDD_WEBSOCKET_MASK_H

#include <redd/api.h>

/** XORs `n` bytes in place with the mask (its bytes in memory order; the first one meets the first
 *  byte of `p`). Returns true when the result is all ASCII. */
bool redd__ws_unmask(char *p, size_t n, uint32_t mask);

/** The mask for the bytes that follow `n` ones. */
static inline uint32_t redd__ws_mask_after(uint32_t mask, size_t n)
{
    unsigned bits = 8U * (n & 3U);
    if (bits == 0)
        return mask;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return mask >> bits | mask << (32 - bits);
#else
    return mask << bits | mask >> (32 - bits);
#endif
}

#endif
