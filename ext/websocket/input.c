/* SPDX-License-Identifier: MIT */
/* Frames to messages. Data frames whose header lies whole in the buffer are taken apart here, in
 * place (the fast lane); control frames and headers that were cut go through wslay (lane.c). What a
 * frame means is decided by the same functions for both. */
#include "ext/websocket/connection.h"
#include "ext/websocket/mask.h"

#include <uv.h>

#define SMALL_HEADER 6 /* 7-bit length and mask */
/* Most that one read may take of a long frame, so that one sender cannot hold the worker; and what
 * of a message must have come before it gets memory for such reads. */
#define DIRECT_MAX (256U << 10)
#define DIRECT_MIN (16U << 10)
/* The memory of a message is at most this often what came of it: each growth costs a copy, and a
 * length that was only announced costs nothing. */
#define GROWTH 4

static void deliver(redd_ws *ws, unsigned kind, redd_slice data)
{
    if (ws->handlers->message)
        ws->handlers->message(ws, (redd_ws_kind)kind, data, ws->user);
}

static void message_done(redd_ws *ws, redd_slice data)
{
    unsigned kind = ws->kind;
    ws->kind = 0;
    ws->fragments = 0;
    ws->message_at = 0;
    if (kind == REDD_WS_TEXT && ws->utf8.need != 0)
        redd__ws_fail(ws, REDD__WS_BAD_TEXT, REDD_EMALFORMED);
    else
        deliver(ws, kind, data);
    redd_buffer_release(&ws->message);
}

/* Makes room for `n` of the frame's `left` bytes and, within reason, for the others. */
static int reserve(redd_ws *ws, size_t n, uint64_t left)
{
    redd_buffer *m = &ws->message;
    if (n <= redd_buffer_room(m))
        return 0;
    size_t more = (m->len + n) * GROWTH - m->len;
    return redd_buffer_reserve(m, more < left ? more : (size_t)left);
}

static bool text_ok(redd_ws *ws, const char *data, size_t n, bool ascii)
{
    if (ws->kind != REDD_WS_TEXT || (ascii && ws->utf8.need == 0) ||
        redd__ws_utf8_feed(&ws->utf8, redd_slice_of(data, n)))
        return true;
    redd__ws_fail(ws, REDD__WS_BAD_TEXT, REDD_EMALFORMED);
    return false;
}

void redd__ws_frame_piece(redd_ws *ws, const char *data, size_t n, bool ascii)
{
    ws->frame_left -= n;
    if (ws->phase != REDD__WS_OPEN || !text_ok(ws, data, n, ascii))
        return;
    bool last = ws->frame_left == 0 && ws->frame_fin;
    if (last && ws->message.len == 0) {
        message_done(ws, redd_slice_of(data, n));
        return;
    }
    int err = n ? reserve(ws, n, n + ws->frame_left) : 0;
    if (!err && n)
        err = redd_buffer_append(&ws->message, data, n);
    if (err)
        redd__ws_fail(ws, REDD__WS_INTERNAL, err);
    else if (last)
        message_done(ws, redd_buffer_slice(&ws->message));
}

/* The rules of RFC 6455 5.4 and the limits, judged before any of the payload is kept: the close
 * code, or 0. */
static unsigned judge(const redd_ws *ws, const redd__ws_header *h)
{
    if ((h->opcode == REDD__WS_CONTINUATION) != (ws->kind != 0))
        return REDD__WS_PROTOCOL_ERROR;
    if (h->length > ws->max_message - ws->message.len)
        return REDD__WS_TOO_BIG;
    if (ws->fragments >= ws->max_fragments)
        return REDD__WS_POLICY;
    return 0;
}

bool redd__ws_frame_begin(redd_ws *ws, const redd__ws_header *h)
{
    if (ws->phase == REDD__WS_OPEN) {
        unsigned code = judge(ws, h);
        if (code) {
            redd__ws_fail(ws, code,
                          code == REDD__WS_PROTOCOL_ERROR ? REDD_EMALFORMED : REDD_ELIMIT);
            return false;
        }
        if (h->opcode != REDD__WS_CONTINUATION) {
            ws->kind = h->opcode; /* redd_ws_kind has the opcodes' values */
            ws->utf8 = (redd__ws_utf8){0, 0, 0};
        }
        ws->fragments++;
    }
    ws->frame_left = h->length;
    ws->frame_mask = h->mask;
    ws->frame_fin = h->fin;
    return true;
}

/* Messages are still wanted, or else the peer's Close. */
static bool going(const redd_ws *ws)
{
    return ws->phase == REDD__WS_OPEN ? !ws->paused : ws->phase == REDD__WS_CLOSING;
}

/* Whole small messages, one after the other, for as long as nothing else comes. */
static char *small_messages(redd_ws *ws, char *p, const char *end)
{
    while (end - p >= SMALL_HEADER) {
        unsigned first = (uint8_t)p[0];
        size_t length = (uint8_t)p[1] ^ 0x80U; /* above 125 without a mask, too */
        if (first - 0x81U > 1 || length > 125 || length > (size_t)(end - p) - SMALL_HEADER ||
            length > ws->max_message)
            break;
        uint32_t mask;
        memcpy(&mask, p + 2, sizeof mask);
        redd_slice data = redd_slice_of(p + SMALL_HEADER, length);
        bool ascii = redd__ws_unmask(p + SMALL_HEADER, length, mask);
        p += SMALL_HEADER + length;
        if (first == 0x81 && !ascii && !redd__ws_utf8_valid(data))
            redd__ws_fail(ws, REDD__WS_BAD_TEXT, REDD_EMALFORMED);
        else
            deliver(ws, first & 0x0fU, data);
        if (ws->phase != REDD__WS_OPEN || ws->paused)
            break;
    }
    return p;
}

/* A header at the start of `p`; returns the bytes used. */
static size_t next_frame(redd_ws *ws, const char *p, size_t n)
{
    redd__ws_header h;
    int size = redd__ws_header_read((const uint8_t *)p, n, &h);
    if (size < 0) {
        redd__ws_fail(ws, REDD__WS_PROTOCOL_ERROR, REDD_EMALFORMED);
        return n;
    }
    if (size == 0 || h.opcode >= REDD__WS_CLOSE) {
        int err = redd__ws_lane_begin(ws);
        if (err)
            redd__ws_fail(ws, REDD__WS_INTERNAL, err);
        return 0;
    }
    if (!redd__ws_frame_begin(ws, &h))
        return n;
    if (h.length == 0)
        redd__ws_frame_piece(ws, NULL, 0, true);
    return (size_t)size;
}

static size_t next_piece(redd_ws *ws, char *p, size_t n)
{
    if (n > ws->frame_left)
        n = (size_t)ws->frame_left;
    bool ascii = redd__ws_unmask(p, n, ws->frame_mask);
    ws->frame_mask = redd__ws_mask_after(ws->frame_mask, n);
    redd__ws_frame_piece(ws, p, n, ascii);
    return n;
}

size_t redd__ws_consume(redd_ws *ws, char *data, size_t n)
{
    char *p = data;
    const char *end = data + n;
    while (p < end && going(ws)) {
        size_t left = (size_t)(end - p);
        if (ws->lane) {
            p += redd__ws_lane_feed(ws, p, left);
        } else if (ws->frame_left) {
            p += next_piece(ws, p, left);
        } else {
            if (ws->phase == REDD__WS_OPEN && ws->kind == 0)
                p = small_messages(ws, p, end);
            if (p < end && going(ws))
                p += next_frame(ws, p, (size_t)(end - p));
        }
    }
    return ws->phase > REDD__WS_CLOSING ? n : (size_t)(p - data);
}

/* Room for a direct read, 0: none. Memory that is there is filled before it grows, and it grows by
 * what has arrived, not by what is announced. */
static size_t direct_room(redd_ws *ws)
{
    redd_buffer *m = &ws->message;
    size_t more = m->len * (GROWTH - 1);
    if (more > ws->frame_left)
        more = (size_t)ws->frame_left;
    if (redd_buffer_room(m) < ws->state->read_size) {
        int err = redd_buffer_reserve(m, more);
        if (err) {
            redd__ws_fail(ws, REDD__WS_INTERNAL, err);
            return 0;
        }
    }
    size_t room = redd_buffer_room(m);
    if (room > ws->frame_left)
        room = (size_t)ws->frame_left;
    return room < DIRECT_MAX ? room : DIRECT_MAX;
}

bool redd__ws_read_direct(redd_ws *ws, int *err, size_t *n)
{
    redd_buffer *m = &ws->message;
    if (ws->phase != REDD__WS_OPEN || ws->lane || ws->frame_left < ws->state->read_size ||
        m->len < DIRECT_MIN || !(ws->stream->ready & REDD_STREAM_READ))
        return false;
    size_t room = direct_room(ws);
    if (room == 0) {
        *err = REDD_STREAM_AGAIN;
        return true;
    }
    char *tail = m->data + m->len;
    *err = redd_stream_read(ws->stream, tail, room, n);
    if (*err || *n == 0)
        return true;
    bool ascii = redd__ws_unmask(tail, *n, ws->frame_mask);
    ws->frame_mask = redd__ws_mask_after(ws->frame_mask, *n);
    ws->frame_left -= *n;
    if (!text_ok(ws, tail, *n, ascii))
        return true;
    m->len += *n;
    if (ws->frame_left == 0 && ws->frame_fin)
        message_done(ws, redd_buffer_slice(m));
    return true;
}
