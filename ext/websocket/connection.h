/* SPDX-License-Identifier: MIT */
/** One connection: a future that reads frames, gives events and sends. */
#ifndef REDD_WEBSOCKET_CONNECTION_H
#define REDD_WEBSOCKET_CONNECTION_H

#include "ext/websocket/frame.h"
#include "ext/websocket/state.h"
#include "ext/websocket/utf8.h"

#include <redd/buffer.h>

/** Room for control frames beyond max_queued, so that a full queue cannot keep a Close back. An
 * output may exceed its maximum by what was corked. */
#define REDD__WS_CONTROL_ROOM (128U << 10)

/** Only ever moves on. */
typedef enum redd__ws_phase {
    REDD__WS_NEW = 0,   /* before the open event */
    REDD__WS_OPEN,      /* both sides may send */
    REDD__WS_CLOSING,   /* our Close was queued: only the peer's Close still counts */
    REDD__WS_FLUSHING,  /* nothing more is read: what waits goes out, then our side ends */
    REDD__WS_LINGERING, /* the close event was given; input is discarded up to the peer's end */
    REDD__WS_ENDED      /* the next poll (or this one) ends the task */
} redd__ws_phase;

/** A Pong that waits for room. */
typedef struct redd__ws_pong {
    uint8_t len;
    char payload[REDD__WS_MAX_CONTROL];
} redd__ws_pong;

struct redd_ws {
    redd_future future;
    redd__ws_state *state;
    redd_stream *stream; /* NULL: ended */
    redd_waker *waker;   /* NULL before the first poll */
    const redd_ws_handlers *handlers;
    void *user;

    /* Input. Between frames `frame_left` is 0 and `lane` NULL, between messages `kind` too. */
    uint64_t max_message;
    uint64_t frame_left; /* payload bytes of the data frame in work that are still to come */
    uint32_t frame_mask; /* for the next of them */
    uint32_t fragments;  /* frames of the message in work */
    uint32_t max_fragments;
    uint8_t phase;
    uint8_t kind; /* redd_ws_kind of the message in work */
    bool frame_fin;
    redd__ws_utf8 utf8;  /* of the text in work */
    redd__ws_lane *lane; /* a frame that wslay decodes */
    redd_buffer message; /* what came of a message before its last piece; after the peer's Close:
                            its reason */
    redd_bytes *rest;    /* bytes that came, but were not looked at: those that came with the
                            handshake, and what a pause left of a read */
    size_t rest_at;      /* where they begin in it */

    /* Output. */
    redd_output output;
    redd__ws_pong *pong;
    size_t max_queued;
    size_t high;     /* output above it stops reading and makes sends return REDD_WS_FULL */
    size_t drain_at; /* half of it, or as little as lets a refused message in */
    bool polling;    /* inside its own poll: output leaves at its end */
    bool blocked;    /* output waits and the stream takes none */
    bool want_drain; /* FULL or ELIMIT was returned: an event once no more than drain_at waits */
    bool paused;     /* whoever gets the messages wants no more for now */

    /* The end. */
    bool close_sent, close_received;
    bool reset; /* end with a reset */
    uint16_t sent_code, peer_code;
    int status; /* the first cause */

    /* Time (deadline.c). One timer: silence and messages while nothing was closed, the closing
     * handshake after our Close. */
    bool pinged;    /* silence so far was answered by a Ping */
    bool timer_due; /* the timer has fired; the poll judges, after reading */
    uint32_t idle_ms, close_ms, message_ms;
    uint64_t active_at;  /* when bytes last came; after our Close, when bytes last went */
    uint64_t message_at; /* since when a message or frame is incomplete; 0: none is */
    size_t close_queued; /* what waited then: our Close and what is before it */
    redd_timer timer;

    redd__list link; /* of state->open */
    redd_bytes *protocol;
    uint32_t refs;
};

/** True while there is a peer to send to. */
static inline bool redd__ws_can_send(const redd_ws *ws)
{
    return ws->phase <= REDD__WS_OPEN && !ws->close_sent;
}

/** Asks for a poll, unless one is running or the first is to come anyway. */
static inline void redd__ws_wake(redd_ws *ws)
{
    if (!ws->polling && ws->waker)
        redd_waker_wake(ws->waker);
}

/* --- connection.c --- */

/** A connection with one reference and nothing in it. NULL: out of memory. */
redd_ws *redd__ws_new(redd__ws_state *st, const redd_ws_options *options,
                      const redd_ws_handlers *handlers, void *user);
/** Gives it the upgraded connection and spawns it. Takes all of `up` in any case; when memory fails
 * the peer is reset, there will be no event, and the reference is dropped. */
int redd__ws_start(redd_ws *ws, redd_http_upgraded *up);
/** Stops or resumes messages, at once: also in the middle of what a read has brought. */
void redd__ws_pause(redd_ws *ws, bool paused);
/** Begins the closing handshake on account of `status`. */
int redd__ws_begin_close(redd_ws *ws, unsigned code, redd_slice reason, int status);
/** The peer did something that cannot be gone on from: Close with `code`, then the end. */
void redd__ws_fail(redd_ws *ws, unsigned code, int status);
/** The connection is of no more use: no Close, the end. */
void redd__ws_lost(redd_ws *ws, int status);

/* --- input.c --- */

/** Takes in bytes from the peer, in place; returns how many. All, unless it is paused. */
size_t redd__ws_consume(redd_ws *ws, char *data, size_t n);
/** Reads payload of a long frame straight into the message, if that is what is due; false: read
 * into the worker's buffer instead. `*err` and `*n` as redd_stream_read. */
bool redd__ws_read_direct(redd_ws *ws, int *err, size_t *n);
/** Judges a data frame's header and begins its payload; false: the connection has failed. */
bool redd__ws_frame_begin(redd_ws *ws, const redd__ws_header *h);
/** Takes `n` unmasked bytes of the data frame's payload. */
void redd__ws_frame_piece(redd_ws *ws, const char *data, size_t n, bool ascii);

/* --- deadline.c --- */

/** The timer's function. */
void redd__ws_timer_fired(redd_timer *t, void *user);
/** (Re)starts the timer for what is due next. */
void redd__ws_arm(redd_ws *ws);
/** Acts on a timer that has fired. What could be read was read since. */
void redd__ws_judge_time(redd_ws *ws);
/** Looks whether the peer has taken something of what waits before our Close. */
void redd__ws_note_progress(redd_ws *ws);
/** The time so far was not the peer's. */
void redd__ws_excuse(redd_ws *ws);
/** A message's time begins. */
void redd__ws_message_begun(redd_ws *ws);

/** The peer has given a sign of life. After our Close only its reading is one. */
static inline void redd__ws_alive(redd_ws *ws)
{
    if (ws->close_sent)
        return;
    ws->active_at = redd_timers_now(ws->state->timers);
    ws->pinged = false;
}

/** Input has ended, perhaps in the middle of something. */
static inline void redd__ws_note_message(redd_ws *ws)
{
    if ((ws->kind || ws->lane) && ws->message_at == 0)
        redd__ws_message_begun(ws);
}

/* --- control.c --- */

/** A whole control frame. */
void redd__ws_control(redd_ws *ws, redd__ws_opcode opcode, redd_slice payload);
/** Sends the Pong that waits. */
void redd__ws_release_pong(redd_ws *ws);

/* --- lane.c --- */

/** Begins a frame that wslay is to decode. UV_ENOMEM. */
int redd__ws_lane_begin(redd_ws *ws);
/** Feeds it; returns the bytes used. At the frame's end `ws->lane` is NULL again. */
size_t redd__ws_lane_feed(redd_ws *ws, const char *data, size_t n);
/** Gives up the frame in work, if there is one. */
void redd__ws_lane_drop(redd_ws *ws);
/** Frees what the worker kept. */
void redd__ws_lanes_free(redd__ws_state *st);

/* --- send.c --- */

/** Queues a whole frame. UV_ENOMEM; REDD_ELIMIT: too much waits; or the stream's error: then the
 * connection is lost. */
int redd__ws_queue(redd_ws *ws, redd__ws_opcode opcode, redd_slice payload);

/* --- handshake.c --- */

/** As redd_ws_upgrade; `*out` is the new connection (borrowed), or NULL when it was refused. */
int redd__ws_accept(redd_http_request *req, const redd_ws_options *options,
                    const redd_ws_handlers *handlers, void *user, redd_ws **out);

#endif
