/* SPDX-License-Identifier: MIT */
/* What control frames mean. */
#include "ext/websocket/connection.h"

#include <uv.h>

static void ping(redd_ws *ws, redd_slice payload)
{
    if (!redd__ws_can_send(ws))
        return;
    if (!ws->blocked) {
        int err = redd__ws_queue(ws, REDD__WS_PONG, payload);
        if (err)
            redd__ws_lost(ws, err);
        return;
    }
    /* The peer does not read: one Pong waits at most, the answer to its newest Ping (RFC
     * 6455 5.5.3). */
    if (!ws->pong)
        ws->pong = redd_pool_get(&ws->state->pongs);
    if (!ws->pong) {
        redd__ws_lost(ws, UV_ENOMEM);
        return;
    }
    ws->pong->len = (uint8_t)payload.len;
    memcpy(ws->pong->payload, payload.data, payload.len);
}

void redd__ws_release_pong(redd_ws *ws)
{
    redd__ws_pong *pong = ws->pong;
    ws->pong = NULL;
    ping(ws, redd_slice_of(pong->payload, pong->len));
    redd_pool_put(&ws->state->pongs, pong);
}

/* The code that a Close carries; a payload of two bytes or more. */
static unsigned close_code(redd_slice payload)
{
    const uint8_t *p = (const uint8_t *)payload.data;
    return (unsigned)p[0] << 8 | p[1];
}

static void closed(redd_ws *ws, redd_slice payload)
{
    unsigned code = REDD__WS_NO_CODE;
    redd_slice reason = {NULL, 0};
    if (payload.len) {
        code = payload.len < 2 ? 0 : close_code(payload);
        if (!redd__ws_close_code_valid(code)) {
            redd__ws_fail(ws, REDD__WS_PROTOCOL_ERROR, REDD_EMALFORMED);
            return;
        }
        reason = redd_slice_of(payload.data + 2, payload.len - 2);
        if (!redd__ws_utf8_valid(reason)) {
            redd__ws_fail(ws, REDD__WS_BAD_TEXT, REDD_EMALFORMED);
            return;
        }
    }
    ws->close_received = true;
    ws->peer_code = (uint16_t)code;
    /* A message that the Close cuts off is given up. Without memory the event goes without the
     * reason. */
    redd_buffer_release(&ws->message);
    if (reason.len)
        (void)redd_buffer_append(&ws->message, reason.data, reason.len);
    int err = 0;
    if (!ws->close_sent)
        err = redd__ws_begin_close(ws, payload.len ? code : 0, (redd_slice){NULL, 0}, 0);
    if (err)
        redd__ws_lost(ws, err);
    else
        ws->phase = REDD__WS_FLUSHING;
}

void redd__ws_control(redd_ws *ws, redd__ws_opcode opcode, redd_slice payload)
{
    switch (opcode) {
    case REDD__WS_PING:
        ping(ws, payload);
        break;
    case REDD__WS_PONG:
        if (ws->phase == REDD__WS_OPEN && ws->handlers->pong)
            ws->handlers->pong(ws, payload, ws->user);
        break;
    default:
        closed(ws, payload);
        break;
    }
}
