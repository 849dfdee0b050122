/* SPDX-License-Identifier: MIT */
#include "ext/websocket/frame.h"

#include <string.h>

static uint64_t big_endian(const uint8_t *p, size_t bytes)
{
    uint64_t v = 0;
    for (size_t i = 0; i < bytes; i++)
        v = v << 8 | p[i];
    return v;
}

static bool opcode_known(unsigned opcode)
{
    return opcode <= REDD__WS_BINARY || (opcode >= REDD__WS_CLOSE && opcode <= REDD__WS_PONG);
}

size_t redd__ws_header_size(const uint8_t p[2])
{
    unsigned length = p[1] & 0x7fU;
    return 2 + (length == 126 ? 2U : length == 127 ? 8U : 0U) + (p[1] & 0x80U ? 4U : 0U);
}

int redd__ws_header_read(const uint8_t *p, size_t n, redd__ws_header *h)
{
    if (n < 2)
        return 0;
    h->fin = (p[0] & 0x80U) != 0;
    h->opcode = p[0] & 0x0fU;
    h->length = p[1] & 0x7fU;
    bool control = h->opcode >= REDD__WS_CLOSE;
    if ((p[0] & 0x70U) || !opcode_known(h->opcode) || !(p[1] & 0x80U) ||
        (control && (!h->fin || h->length > REDD__WS_MAX_CONTROL)))
        return -1;
    size_t size = redd__ws_header_size(p);
    if (n < size)
        return 0;
    if (h->length == 126) {
        h->length = big_endian(p + 2, 2);
        if (h->length < 126)
            return -1;
    } else if (h->length == 127) {
        h->length = big_endian(p + 2, 8);
        if (h->length <= 0xffff || h->length >> 63)
            return -1;
    }
    memcpy(&h->mask, p + size - 4, 4);
    return (int)size;
}

bool redd__ws_close_code_valid(unsigned code)
{
    return (code >= 1000 && code <= 1014 && code != 1004 && code != REDD__WS_NO_CODE &&
            code != REDD__WS_NO_CLOSE) ||
           (code >= 3000 && code <= 4999);
}
