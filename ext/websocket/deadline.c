/* SPDX-License-Identifier: MIT */
/* What a connection is given time for: to say something, to complete a message, to answer our
 * Close. One timer serves all; it is not moved by what comes, but looks when it fires. */
#include "ext/websocket/connection.h"

#include <uv.h>

#define NEVER UINT64_MAX

static uint64_t now_of(const redd_ws *ws)
{
    return redd_timers_now(ws->state->timers);
}

/* --- when --- */

static uint64_t silence_due(const redd_ws *ws)
{
    if (ws->idle_ms == 0)
        return NEVER;
    return ws->active_at + (ws->pinged ? ws->idle_ms : ws->idle_ms / 2);
}

/* Each byte that came brings a millisecond more: a slow peer may take as long as it needs, but has
 * to send a kilobyte in a second. */
static uint64_t message_due(const redd_ws *ws)
{
    if (ws->message_at == 0 || ws->message_ms == 0)
        return NEVER;
    return ws->message_at + ws->message_ms + ws->message.len;
}

static uint64_t due_at(const redd_ws *ws)
{
    if (ws->close_sent)
        return ws->active_at + ws->close_ms;
    uint64_t silence = silence_due(ws), message = message_due(ws);
    return silence < message ? silence : message;
}

void redd__ws_arm(redd_ws *ws)
{
    uint64_t due = due_at(ws), now = now_of(ws);
    if (due != NEVER)
        redd_timer_start(&ws->timer, due > now ? due - now : 0);
}

void redd__ws_timer_fired(redd_timer *t, void *user)
{
    redd_ws *ws = user;
    (void)t; /* the connection's */
    if (now_of(ws) < due_at(ws)) {
        redd__ws_arm(ws);
        return;
    }
    ws->timer_due = true;
    redd__ws_wake(ws);
}

/* --- what counts --- */

void redd__ws_message_begun(redd_ws *ws)
{
    ws->message_at = now_of(ws);
    redd__ws_arm(ws);
}

void redd__ws_excuse(redd_ws *ws)
{
    redd__ws_alive(ws);
    if (ws->message_at)
        ws->message_at = now_of(ws);
}

/* After our Close nothing is queued any more, so that whatever is missing was taken by the peer. */
void redd__ws_note_progress(redd_ws *ws)
{
    size_t queued = redd_output_queued(&ws->output);
    if (queued >= ws->close_queued)
        return;
    ws->close_queued = queued;
    ws->active_at = now_of(ws);
}

/* --- judgement --- */

/* Our Close is on its way out, or was not answered. */
static void judge_close(redd_ws *ws)
{
    ws->stream->ready |= REDD_STREAM_WRITE; /* the loop may not have heard of it yet */
    (void)redd_output_flush(&ws->output);   /* which remembers its error */
    redd__ws_note_progress(ws);
    if (now_of(ws) < due_at(ws)) {
        redd__ws_arm(ws);
        return;
    }
    if (ws->status == 0 && ws->phase != REDD__WS_LINGERING)
        ws->status = UV_ETIMEDOUT;
    ws->reset = ws->phase != REDD__WS_LINGERING;
    ws->phase = REDD__WS_ENDED;
}

/* Nothing was said for half of the time, or all of it: a Ping, or the end. */
static int judge_silence(redd_ws *ws)
{
    if (now_of(ws) < silence_due(ws))
        return 0;
    if (ws->pinged)
        return redd__ws_begin_close(ws, REDD__WS_GOING_AWAY, redd_slice_of(NULL, 0), UV_ETIMEDOUT);
    ws->pinged = true;
    return redd__ws_queue(ws, REDD__WS_PING, redd_slice_of(NULL, 0));
}

static void judge_open(redd_ws *ws)
{
    if (ws->paused)
        redd__ws_excuse(ws);
    else if (ws->message_at && redd_output_queued(&ws->output) > ws->high)
        ws->message_at = now_of(ws); /* nothing of it was read */
    if (now_of(ws) >= message_due(ws)) {
        redd__ws_fail(ws, REDD__WS_POLICY, UV_ETIMEDOUT);
        return;
    }
    int err = judge_silence(ws);
    if (err)
        redd__ws_lost(ws, err);
    else
        redd__ws_arm(ws);
}

void redd__ws_judge_time(redd_ws *ws)
{
    ws->timer_due = false;
    if (ws->close_sent)
        judge_close(ws);
    else
        judge_open(ws);
}
