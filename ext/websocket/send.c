/* SPDX-License-Identifier: MIT */
/* The sending half of the public interface. */
#include "ext/websocket/connection.h"

#include <uv.h>

/* Up to here a payload is copied behind its header; above, the output may write it from where it
 * is. */
#define COPY_MAX (16U << 10)

/* Why there was no room for a frame. */
static int refusal(redd_ws *ws, size_t room)
{
    size_t queued = redd_output_queued(&ws->output);
    int err = redd_output_flush(&ws->output);
    if (err && err != REDD_STREAM_AGAIN) {
        redd__ws_lost(ws, err);
        return err;
    }
    return queued + room > ws->max_queued + REDD__WS_CONTROL_ROOM ? REDD_ELIMIT : UV_ENOMEM;
}

int redd__ws_queue(redd_ws *ws, redd__ws_opcode opcode, redd_slice payload)
{
    size_t header = redd__ws_header_room(payload.len);
    bool copy = payload.len <= COPY_MAX;
    size_t room = header + (copy ? payload.len : 0);
    char *out = redd_output_reserve(&ws->output, room);
    if (!out)
        return refusal(ws, room);
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

static void owe_drain(redd_ws *ws, size_t at)
{
    if (!ws->want_drain)
        ws->drain_at = ws->high / 2;
    if (ws->drain_at > at)
        ws->drain_at = at;
    ws->want_drain = true;
}

/* What a caller is told: a connection that failed is a closed one. */
static int told(int err)
{
    return err == 0 || err == UV_ENOMEM || err == REDD_ELIMIT ? err : REDD_ECLOSED;
}

static int send_message(redd_ws *ws, redd__ws_opcode opcode, redd_slice data)
{
    if (!redd__ws_can_send(ws))
        return REDD_ECLOSED;
    if (data.len > ws->max_queued)
        return UV_EMSGSIZE;
    size_t queued = redd_output_queued(&ws->output);
    if (queued && data.len + queued > ws->max_queued)
        queued = relieve(ws);
    if (!redd__ws_can_send(ws))
        return REDD_ECLOSED;
    int err = queued > ws->max_queued - data.len ? REDD_ELIMIT : redd__ws_queue(ws, opcode, data);
    if (err) {
        if (err == REDD_ELIMIT)
            owe_drain(ws, ws->max_queued - data.len);
        return told(err);
    }
    redd__ws_wake(ws);
    if (queued + data.len <= ws->high || relieve(ws) <= ws->high)
        return 0;
    owe_drain(ws, ws->high);
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
    return told(redd__ws_begin_close(ws, code, reason, 0));
}

size_t redd_ws_queued(const redd_ws *ws)
{
    return ws->phase == REDD__WS_ENDED ? 0 : redd_output_queued(&ws->output);
}
