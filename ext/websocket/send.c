/* SPDX-License-Identifier: MIT */
/* The sending half of the public interface. */
#include "ext/websocket/connection.h"

#include <uv.h>

/* Up to here a payload is copied behind its header; above, the output may write it from where it
 * is. */
#define COPY_MAX (16U << 10)

int redd__ws_queue(redd_ws *ws, redd__ws_opcode opcode, redd_slice payload)
{
    size_t header = redd__ws_header_room(payload.len);
    bool copy = payload.len <= COPY_MAX;
    size_t room = header + (copy ? payload.len : 0);
    char *out = redd_output_reserve(&ws->output, room);
    if (!out)
        return UV_ENOMEM;
    (void)redd__ws_header_write((uint8_t *)out, opcode, payload.len);
    if (copy && payload.len)
        memcpy(out + header, payload.data, payload.len);
    redd_output_commit(&ws->output, room);
    if (copy)
        return 0;
    int err = redd_output_write(&ws->output, payload);
    if (err)
        redd__ws_lost(ws, err); /* a header went out without its payload */
    return err;
}

/* Lets the stream take what it can; returns what still waits. */
static size_t relieve(redd_ws *ws)
{
    int err = redd_output_flush(&ws->output);
    if (err && err != REDD_STREAM_AGAIN)
        redd__ws_lost(ws, err);
    return redd_output_queued(&ws->output);
}

static int send_message(redd_ws *ws, redd__ws_opcode opcode, redd_slice data)
{
    if (!redd__ws_can_send(ws))
        return REDD_ECLOSED;
    size_t queued = redd_output_queued(&ws->output);
    if (queued && data.len + queued > ws->max_queued)
        queued = relieve(ws);
    if (!redd__ws_can_send(ws))
        return REDD_ECLOSED;
    if (data.len > ws->max_queued || queued > ws->max_queued - data.len) {
        ws->want_drain = ws->want_drain || queued;
        return REDD_ELIMIT;
    }
    int err = redd__ws_queue(ws, opcode, data);
    if (err)
        return err == UV_ENOMEM ? err : REDD_ECLOSED;
    redd__ws_wake(ws);
    if (queued + data.len <= REDD__WS_HIGH(ws->max_queued) ||
        relieve(ws) <= REDD__WS_HIGH(ws->max_queued))
        return 0;
    ws->want_drain = true;
    return REDD_WS_FULL;
}

int redd_ws_send(redd_ws *ws, redd_ws_kind kind, redd_slice data)
{
    if (kind == REDD_WS_TEXT ? !redd__ws_utf8_valid(data) : kind != REDD_WS_BINARY)
        return UV_EINVAL;
    return send_message(ws, (redd__ws_opcode)kind, data);
}

int redd_ws_ping(redd_ws *ws, redd_slice payload)
{
    if (payload.len > REDD__WS_MAX_CONTROL)
        return UV_EINVAL;
    return send_message(ws, REDD__WS_PING, payload);
}

int redd__ws_begin_close(redd_ws *ws, unsigned code, redd_slice reason, int status)
{
    char payload[REDD__WS_MAX_CONTROL];
    size_t len = 0;
    if (code) {
        payload[len++] = (char)(code >> 8);
        payload[len++] = (char)(code & 0xffU);
    }
    if (reason.len)
        memcpy(payload + len, reason.data, reason.len);
    int err = redd__ws_queue(ws, REDD__WS_CLOSE, redd_slice_of(payload, len + reason.len));
    if (err)
        return err;
    ws->close_sent = true;
    ws->sent_code = (uint16_t)code;
    if (ws->status == 0)
        ws->status = status;
    if (ws->phase == REDD__WS_OPEN)
        ws->phase = REDD__WS_CLOSING;
    ws->close_queued = redd_output_queued(&ws->output);
    ws->active_at = redd_timers_now(ws->state->timers);
    redd__ws_arm(ws);
    redd__ws_wake(ws);
    return 0;
}

int redd_ws_close(redd_ws *ws, uint16_t code, redd_slice reason)
{
    if ((code && !redd__ws_close_code_valid(code)) || (!code && reason.len) ||
        reason.len > REDD__WS_MAX_CONTROL - 2 || !redd__ws_utf8_valid(reason))
        return UV_EINVAL;
    if (!redd__ws_can_send(ws))
        return REDD_ECLOSED;
    return redd__ws_begin_close(ws, code, reason, 0);
}

size_t redd_ws_queued(const redd_ws *ws)
{
    return ws->phase == REDD__WS_ENDED ? 0 : redd_output_queued(&ws->output);
}
