/* SPDX-License-Identifier: MIT */
#include "ext/websocket/connection.h"

#include <uv.h>

#define HIGH_MIN ((size_t)16 << 10)

/* --- life --- */

static redd_poll connection_poll(redd_future *f, redd_waker *waker, redd_value *out);
static void connection_drop(redd_future *f);

static const redd_future_vt connection_vt = {"websocket connection", connection_poll,
                                             connection_drop};

static uint32_t clip32(uint64_t v)
{
    return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

/* Leaves room for sums where size_t has 32 bits. */
static size_t clip_size(uint64_t v)
{
    return v > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)v;
}

/* A small part of the maximum, so that whoever heeds REDD_WS_FULL is never refused; not so small
 * that every message fills it. */
static size_t high_mark(size_t max_queued)
{
    size_t high = max_queued / 32;
    if (high >= HIGH_MIN)
        return high;
    return max_queued / 2 < HIGH_MIN ? max_queued / 2 : HIGH_MIN;
}

redd_ws *redd__ws_new(redd__ws_state *st, const redd_ws_options *options,
                      const redd_ws_handlers *handlers, void *user)
{
    redd_ws *ws = redd_pool_get(&st->sockets);
    if (!ws)
        return NULL;
    memset(ws, 0, sizeof *ws);
    ws->future.vt = &connection_vt;
    ws->state = st;
    ws->handlers = handlers;
    ws->user = user;
    ws->refs = 1;
    ws->max_message = clip_size(options->max_message);
    ws->max_fragments = clip32(options->max_fragments);
    ws->max_queued = clip_size(options->max_queued);
    ws->high = high_mark(ws->max_queued);
    ws->idle_ms = clip32(options->idle_timeout_ms);
    ws->close_ms = clip32(options->close_timeout_ms);
    ws->message_ms = clip32(options->message_timeout_ms);
    /* The peer's reason is kept there, too. */
    redd_buffer_init(&ws->message, &st->spare.hook,
                     ws->max_message > REDD__WS_MAX_CONTROL ? (size_t)ws->max_message
                                                            : REDD__WS_MAX_CONTROL);
    redd_timer_init(&ws->timer, st->timers, redd__ws_timer_fired, ws);
    redd__list_init(&ws->link);
    return ws;
}

/* Takes over stream, output and left-over bytes; UV_ENOMEM or REDD_ECLOSED. */
static int adopt(redd_ws *ws, redd_http_upgraded *up)
{
    redd__ws_state *st = ws->state;
    int err = redd_output_move(&ws->output, &up->output);
    if (err) {
        redd_output_fini(&up->output);
        return err;
    }
    redd_output_set_max(&ws->output, ws->max_queued + REDD__WS_CONTROL_ROOM);
    if (up->leftover.len)
        err = redd_bytes_copy(st->alloc, up->leftover, &ws->rest);
    if (!err)
        err = redd_spawn(st->executor, &ws->future, NULL);
    if (err)
        redd_output_fini(&ws->output);
    return err;
}

int redd__ws_start(redd_ws *ws, redd_http_upgraded *up)
{
    int err = adopt(ws, up);
    if (err) {
        redd_stream_close(up->stream, true);
        redd_ws_unref(ws);
        return err;
    }
    ws->stream = up->stream;
    redd__list_append(&ws->state->open, &ws->link);
    redd_metric_add(&ws->state->meters->connections, 1);
    redd_metric_add(&ws->state->meters->open, 1);
    return 0;
}

redd_ws *redd_ws_ref(redd_ws *ws)
{
    ws->refs++;
    return ws;
}

void redd_ws_unref(redd_ws *ws)
{
    if (!ws || --ws->refs > 0)
        return;
    redd_bytes_unref(ws->protocol);
    redd_bytes_unref(ws->rest);
    redd_pool_put(&ws->state->sockets, ws);
}

static void drop_rest(redd_ws *ws)
{
    redd_bytes_unref(ws->rest);
    ws->rest = NULL;
    ws->rest_at = 0;
}

/* The close event, once. */
static void conclude(redd_ws *ws)
{
    if (redd__list_empty(&ws->link))
        return;
    redd__list_remove(&ws->link);
    redd_metric_add(&ws->state->meters->open, -1);
    if (!ws->handlers->close)
        return;
    redd_ws_close_event event = {
        .code = ws->close_received ? ws->peer_code : REDD__WS_NO_CLOSE,
        .sent = ws->sent_code,
        .reason = ws->close_received ? redd_buffer_slice(&ws->message) : redd_slice_of(NULL, 0),
        .clean = ws->close_received && ws->close_sent && ws->phase == REDD__WS_LINGERING,
        .status = ws->status,
    };
    ws->handlers->close(ws, &event, ws->user);
}

/* Everything but the memory of the object. */
static void finish(redd_ws *ws)
{
    conclude(ws);
    redd_timer_stop(&ws->timer);
    redd_output_fini(&ws->output);
    redd__ws_lane_drop(ws);
    redd_buffer_release(&ws->message);
    drop_rest(ws);
    if (redd__list_empty(&ws->state->open))
        redd__ws_spare_release(&ws->state->spare); /* nobody will need it soon */
    if (ws->pong)
        redd_pool_put(&ws->state->pongs, ws->pong);
    ws->pong = NULL;
    redd_stream_close(ws->stream, ws->reset);
    ws->stream = NULL;
    redd_waker_keep(&ws->waker, NULL);
}

static void connection_drop(redd_future *f)
{
    redd_ws *ws = (redd_ws *)(void *)f;
    if (ws->stream) {
        redd__ws_lost(ws, UV_ECANCELED);
        finish(ws);
    }
    redd_ws_unref(ws);
}

/* --- ends --- */

void redd__ws_lost(redd_ws *ws, int status)
{
    if (ws->phase == REDD__WS_ENDED)
        return;
    if (ws->status == 0)
        ws->status = status;
    ws->phase = REDD__WS_ENDED;
    ws->reset = true;
    redd__ws_wake(ws);
}

void redd__ws_fail(redd_ws *ws, unsigned code, int status)
{
    if (ws->phase > REDD__WS_CLOSING)
        return;
    if (ws->status == 0)
        ws->status = status;
    if (!ws->close_sent && redd__ws_begin_close(ws, code, redd_slice_of(NULL, 0), status) != 0)
        redd__ws_lost(ws, status);
    else
        ws->phase = REDD__WS_FLUSHING;
}

void redd_ws_terminate(redd_ws *ws)
{
    if (ws->phase < REDD__WS_LINGERING)
        redd__ws_lost(ws, UV_ECANCELED);
}

/* The peer has closed its side. */
static void ended_by_peer(redd_ws *ws)
{
    if (ws->phase < REDD__WS_LINGERING && ws->status == 0)
        ws->status = UV_EOF;
    ws->phase = REDD__WS_ENDED;
}

/* All of the last bytes went out: the server closes first (RFC 6455 7.1.1), and discards what still
 * comes, since unread bytes would turn the end into a reset that destroys our Close on its way. */
static void end_our_side(redd_ws *ws)
{
    int err = redd_stream_shutdown(ws->stream);
    ws->phase = REDD__WS_LINGERING;
    conclude(ws);
    if (err)
        ws->phase = REDD__WS_ENDED;
}

/* --- one turn --- */

static void begin(redd_ws *ws)
{
    ws->phase = ws->close_sent ? REDD__WS_CLOSING : REDD__WS_OPEN;
    ws->active_at = redd_timers_now(ws->state->timers);
    redd__ws_arm(ws);
    if (ws->handlers->open)
        ws->handlers->open(ws, ws->user);
}

/* Looks at the output before anything is added to it; true when there is room for the answers to
 * more input. */
static bool has_room(redd_ws *ws)
{
    size_t queued = redd_output_queued(&ws->output);
    bool writable = ws->stream->ready & REDD_STREAM_WRITE;
    if (ws->blocked && writable)
        redd__ws_alive(ws); /* it has taken something */
    ws->blocked = queued && !writable;
    if (queued > ws->high) {
        int err = redd_output_flush(&ws->output);
        if (err && err != REDD_STREAM_AGAIN) {
            redd__ws_lost(ws, err);
            return false;
        }
        queued = redd_output_queued(&ws->output);
        ws->blocked = queued != 0;
    }
    if (ws->pong && !ws->blocked)
        redd__ws_release_pong(ws);
    return queued <= ws->high;
}

static bool wants_input(const redd_ws *ws, bool room)
{
    switch (ws->phase) {
    case REDD__WS_OPEN:
        return room && !ws->paused;
    case REDD__WS_CLOSING:
    case REDD__WS_LINGERING:
        return true;
    default:
        return false;
    }
}

/* What a pause has left of a read is kept until messages are wanted again. */
static void take_in(redd_ws *ws, char *data, size_t n)
{
    size_t used = redd__ws_consume(ws, data, n);
    if (used == n)
        return;
    int err = redd_bytes_copy(ws->state->alloc, redd_slice_of(data + used, n - used), &ws->rest);
    if (err)
        redd__ws_lost(ws, err);
}

/* As take_in, for what was kept. */
static void take_rest(redd_ws *ws)
{
    size_t n = redd_bytes_slice(ws->rest).len - ws->rest_at;
    size_t used = redd__ws_consume(ws, redd_bytes_data(ws->rest) + ws->rest_at, n);
    ws->rest_at += used;
    if (used == n)
        drop_rest(ws);
}

/* One read and all that it brings, or what earlier ones have brought. */
static void receive(redd_ws *ws)
{
    redd__ws_state *st = ws->state;
    if (ws->rest) {
        take_rest(ws);
        redd__ws_note_message(ws);
        return; /* what that has queued decides on the next read */
    }
    size_t n = 0;
    int err = 0;
    if (ws->timer_due)
        ws->stream->ready |=
            REDD_STREAM_READ; /* silence is judged only after a look at the socket */
    bool direct = redd__ws_read_direct(ws, &err, &n);
    if (!direct)
        err = redd_stream_read(ws->stream, st->read_buffer, st->read_size, &n);
    if (err == REDD_STREAM_AGAIN)
        return;
    if (err) {
        redd__ws_lost(ws, err);
    } else if (n == 0) {
        ended_by_peer(ws);
    } else {
        redd__ws_alive(ws);
        if (!direct)
            take_in(ws, st->read_buffer, n);
        redd__ws_note_message(ws);
    }
}

/* Sends what the turn has gathered. */
static void send_off(redd_ws *ws)
{
    int err = redd_output_uncork(&ws->output);
    if (ws->want_drain && ws->phase == REDD__WS_OPEN && (err == 0 || err == REDD_STREAM_AGAIN) &&
        redd_output_queued(&ws->output) <= ws->drain_at) {
        ws->want_drain = false;
        redd_output_cork(&ws->output);
        if (ws->handlers->drain)
            ws->handlers->drain(ws, ws->user);
        err = redd_output_uncork(&ws->output);
        if (ws->want_drain && redd_output_queued(&ws->output) <= ws->drain_at)
            redd_waker_wake(ws->waker);
    }
    if (err && err != REDD_STREAM_AGAIN)
        redd__ws_lost(ws, err);
    else if (err == 0 && ws->phase == REDD__WS_FLUSHING)
        end_our_side(ws);
}

static void turn(redd_ws *ws)
{
    redd_output_cork(&ws->output);
    if (ws->phase == REDD__WS_NEW)
        begin(ws);
    if (ws->phase != REDD__WS_ENDED && wants_input(ws, has_room(ws)))
        receive(ws);
    if (ws->timer_due && ws->phase != REDD__WS_ENDED)
        redd__ws_judge_time(ws);
    send_off(ws);
    if (ws->phase > REDD__WS_OPEN && !ws->close_received)
        redd_buffer_release(&ws->message); /* nobody will complete it */
}

/* Says what the next poll waits for. */
static void wait_on(redd_ws *ws)
{
    if (ws->close_sent)
        redd__ws_note_progress(ws);
    size_t queued = redd_output_queued(&ws->output);
    unsigned events = queued ? REDD_STREAM_WRITE : 0U;
    ws->blocked = queued && !(ws->stream->ready & REDD_STREAM_WRITE);
    bool input = wants_input(ws, queued <= ws->high);
    if (input)
        events |= REDD_STREAM_READ;
    redd_stream_interest(ws->stream, events);
    if ((ws->stream->ready & events) || (input && ws->rest))
        redd_waker_wake(ws->waker);
}

static redd_poll connection_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    redd_ws *ws = (redd_ws *)(void *)f;
    (void)out; /* undefined already */
    redd_waker_keep(&ws->waker, waker);
    redd_stream_wake(ws->stream, waker);
    if (ws->phase != REDD__WS_ENDED) {
        ws->polling = true;
        turn(ws);
        ws->polling = false;
    }
    if (ws->phase == REDD__WS_ENDED) {
        finish(ws);
        return REDD_READY;
    }
    wait_on(ws);
    return REDD_PENDING;
}

void redd__ws_pause(redd_ws *ws, bool paused)
{
    if (ws->paused == paused)
        return;
    ws->paused = paused;
    if (paused)
        return;
    redd__ws_excuse(ws);
    redd__ws_wake(ws);
}

/* --- what is known of a connection --- */

redd_slice redd_ws_protocol(const redd_ws *ws)
{
    return ws->protocol ? redd_bytes_slice(ws->protocol) : redd_slice_of(NULL, 0);
}

void redd_ws_peer(const redd_ws *ws, redd_address *out)
{
    memset(out, 0, sizeof *out);
    if (ws->stream)
        redd_stream_peer(ws->stream, out);
}

redd_worker *redd_ws_worker(const redd_ws *ws)
{
    return ws->state->worker;
}

void *redd_ws_user(const redd_ws *ws)
{
    return ws->user;
}

void redd_ws_set_user(redd_ws *ws, void *user)
{
    ws->user = user;
}
