/* SPDX-License-Identifier: MIT */
/** The wire format of frames (RFC 6455 5.2): headers read and written, close codes judged. */
#ifndef REDD_WEBSOCKET_FRAME_H
#define REDD_WEBSOCKET_FRAME_H

#include <redd/api.h>

#define REDD__WS_MAX_HEADER  14  /* a client's longest: 64-bit length and mask */
#define REDD__WS_MAX_CONTROL 125 /* payload of a control frame */

typedef enum redd__ws_opcode {
    REDD__WS_CONTINUATION = 0,
    REDD__WS_TEXT = 1,
    REDD__WS_BINARY = 2,
    REDD__WS_CLOSE = 8,
    REDD__WS_PING = 9,
    REDD__WS_PONG = 10
} redd__ws_opcode;

/** Close codes that redd itself sends or reports. */
typedef enum redd__ws_code {
    REDD__WS_GOING_AWAY = 1001,
    REDD__WS_PROTOCOL_ERROR = 1002,
    REDD__WS_NO_CODE = 1005,  /* never on the wire */
    REDD__WS_NO_CLOSE = 1006, /* never on the wire */
    REDD__WS_BAD_TEXT = 1007,
    REDD__WS_POLICY = 1008,
    REDD__WS_TOO_BIG = 1009,
    REDD__WS_INTERNAL = 1011
} redd__ws_code;

/** Header of a client's frame. */
typedef struct redd__ws_header {
    uint64_t length;
    uint32_t mask; /* its four bytes as they lie in memory */
    uint8_t opcode;
    bool fin;
} redd__ws_header;

/** Returns the header's size, 0 when bytes are missing, or -1 when it breaks the protocol by
 * itself: reserved bits or opcode, no mask, a length that is not minimal or has the top bit, a
 * control frame that is long or fragmented. Such a fault is found as soon as its bytes are there.
 */
int redd__ws_header_read(const uint8_t *p, size_t n, redd__ws_header *h);

/** Size that the whole header will have, given its first two bytes. */
size_t redd__ws_header_size(const uint8_t p[2]);

/** Writes the header of a whole, unmasked frame; returns its size, 2 to 10. */
static inline size_t redd__ws_header_write(uint8_t *out, redd__ws_opcode opcode, uint64_t length)
{
    out[0] = (uint8_t)(0x80U | (unsigned)opcode);
    if (length < 126) {
        out[1] = (uint8_t)length;
        return 2;
    }
    size_t bytes = length > 0xffff ? 8 : 2;
    out[1] = bytes == 8 ? 127 : 126;
    for (size_t i = 0; i < bytes; i++)
        out[2 + i] = (uint8_t)(length >> (8 * (bytes - 1 - i)));
    return 2 + bytes;
}

/** Size of the header that redd__ws_header_write gives. */
static inline size_t redd__ws_header_room(uint64_t length)
{
    return length < 126 ? 2 : length > 0xffff ? 10 : 4;
}

/** True for codes that may stand in a Close frame: those that RFC 6455 7.4 and IANA's registry
 * define for the wire, and 3000 to 4999. */
bool redd__ws_close_code_valid(unsigned code);

#endif
