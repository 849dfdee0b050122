/* SPDX-License-Identifier: MIT */
/* The wslay lane. wslay's frame layer gets one frame at a time, never a byte of the next, so that
 * its context is clean at every frame's end and can serve another connection. It tells a header
 * only with the first byte of payload; since limits are to be judged before that, the header's
 * bytes pass through our own reader first. */
#include "ext/websocket/connection.h"

#include <uv.h>
#include <wslay/wslay.h>

#define SPARE_MAX 64 /* idle contexts that a worker keeps, 4 KiB each */

struct redd__ws_lane {
    wslay_frame_context_ptr context;
    redd__ws_lane *next; /* of the spare ones */
    redd__ws_header header;
    bool header_done;
    uint8_t head_len, head_given;
    uint8_t control_len;
    uint8_t head[REDD__WS_MAX_HEADER];
    char control[REDD__WS_MAX_CONTROL];
    const char *input; /* payload that wslay may take now */
    size_t input_len;
};

/* wslay asks for input: what is left of the header, then the frame's payload. */
static ssize_t give(uint8_t *buf, size_t len, int flags, void *user)
{
    redd__ws_lane *lane = user;
    (void)flags;
    size_t n = (size_t)(lane->head_len - lane->head_given);
    if (n > 0) {
        n = n < len ? n : len;
        memcpy(buf, lane->head + lane->head_given, n);
        lane->head_given = (uint8_t)(lane->head_given + n);
        return (ssize_t)n;
    }
    n = lane->input_len < len ? lane->input_len : len;
    if (n == 0)
        return -1;
    memcpy(buf, lane->input, n);
    lane->input += n;
    lane->input_len -= n;
    return (ssize_t)n;
}

static redd__ws_lane *lane_new(redd__ws_state *st)
{
    static const struct wslay_frame_callbacks callbacks = {.recv_callback = give};
    redd__ws_lane *lane = redd_alloc(st->alloc, sizeof *lane);
    if (!lane)
        return NULL;
    if (wslay_frame_context_init(&lane->context, &callbacks, lane) != 0) {
        redd_free(st->alloc, lane, sizeof *lane);
        return NULL;
    }
    return lane;
}

static void lane_free(redd__ws_state *st, redd__ws_lane *lane)
{
    wslay_frame_context_free(lane->context);
    redd_free(st->alloc, lane, sizeof *lane);
}

int redd__ws_lane_begin(redd_ws *ws)
{
    redd__ws_state *st = ws->state;
    redd__ws_lane *lane = st->spare_lanes;
    if (lane) {
        st->spare_lanes = lane->next;
        st->n_spare_lanes--;
    } else {
        lane = lane_new(st);
        if (!lane)
            return UV_ENOMEM;
    }
    lane->header_done = false;
    lane->head_len = 0;
    lane->head_given = 0;
    lane->control_len = 0;
    ws->lane = lane;
    return 0;
}

/* The frame is complete, so the context is between frames. */
static void lane_end(redd_ws *ws)
{
    redd__ws_state *st = ws->state;
    redd__ws_lane *lane = ws->lane;
    ws->lane = NULL;
    if (ws->kind == 0)
        ws->message_at = 0;
    if (st->n_spare_lanes >= SPARE_MAX) {
        lane_free(st, lane);
        return;
    }
    lane->next = st->spare_lanes;
    st->spare_lanes = lane;
    st->n_spare_lanes++;
}

void redd__ws_lane_drop(redd_ws *ws)
{
    if (ws->lane)
        lane_free(ws->state, ws->lane);
    ws->lane = NULL;
}

void redd__ws_lanes_free(redd__ws_state *st)
{
    while (st->spare_lanes) {
        redd__ws_lane *lane = st->spare_lanes;
        st->spare_lanes = lane->next;
        lane_free(st, lane);
    }
}

/* Gathers header bytes; returns how many it took. */
static size_t feed_header(redd_ws *ws, const char *data, size_t n)
{
    redd__ws_lane *lane = ws->lane;
    size_t used = 0;
    while (!lane->header_done && ws->phase <= REDD__WS_CLOSING && used < n) {
        size_t want = lane->head_len < 2 ? 2 : redd__ws_header_size(lane->head);
        size_t take = want - lane->head_len < n - used ? want - lane->head_len : n - used;
        memcpy(lane->head + lane->head_len, data + used, take);
        lane->head_len = (uint8_t)(lane->head_len + take);
        used += take;
        int size = redd__ws_header_read(lane->head, lane->head_len, &lane->header);
        if (size < 0)
            redd__ws_fail(ws, REDD__WS_PROTOCOL_ERROR, REDD_EMALFORMED);
        else if (size > 0)
            lane->header_done =
                lane->header.opcode >= REDD__WS_CLOSE || redd__ws_frame_begin(ws, &lane->header);
    }
    return used;
}

/* One piece of payload from wslay; true when it was the frame's last. */
static bool take_piece(redd_ws *ws, const struct wslay_frame_iocb *io)
{
    redd__ws_lane *lane = ws->lane;
    lane->header.length -= io->data_length;
    bool last = lane->header.length == 0;
    if (io->opcode < REDD__WS_CLOSE) {
        redd__ws_frame_piece(ws, (const char *)io->data, io->data_length, false);
        return last;
    }
    /* At most 125 bytes: the header was judged. */
    memcpy(lane->control + lane->control_len, io->data, io->data_length);
    lane->control_len = (uint8_t)(lane->control_len + io->data_length);
    if (last)
        redd__ws_control(ws, (redd__ws_opcode)io->opcode,
                         redd_slice_of(lane->control, lane->control_len));
    return last;
}

size_t redd__ws_lane_feed(redd_ws *ws, const char *data, size_t n)
{
    redd__ws_lane *lane = ws->lane;
    size_t used = feed_header(ws, data, n);
    if (!lane->header_done)
        return used;
    size_t payload = n - used < lane->header.length ? n - used : (size_t)lane->header.length;
    lane->input = data + used;
    lane->input_len = payload;
    used += payload;
    for (;;) {
        struct wslay_frame_iocb io;
        ssize_t got = wslay_frame_recv(lane->context, &io);
        if (got == WSLAY_ERR_WANT_READ)
            return used;
        if (got < 0) {
            redd__ws_fail(ws, REDD__WS_PROTOCOL_ERROR, REDD_EMALFORMED);
            return used;
        }
        if (take_piece(ws, &io)) {
            lane_end(ws);
            return used;
        }
    }
}
