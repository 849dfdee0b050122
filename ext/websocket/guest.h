/* SPDX-License-Identifier: MIT */
/** A connection as guests hold it: a resource whose events wait until they are asked for. */
#ifndef REDD_WEBSOCKET_GUEST_H
#define REDD_WEBSOCKET_GUEST_H

#include "ext/websocket/state.h"

/** What op_ws_next_event gives, other than a close code. */
typedef enum redd__ws_event {
    REDD__WS_EVENT_TEXT = 0,
    REDD__WS_EVENT_BINARY = 1,
    REDD__WS_EVENT_PONG = 2,
    REDD__WS_EVENT_ERROR = 3
} redd__ws_event;

typedef struct redd__ws_queued_event redd__ws_queued_event;

typedef struct redd__ws_guest {
    redd_resource resource; /* referenced by the table, by waiting futures and, up to its close
                               event, by the connection */
    redd__ws_state *state;
    redd_ws *ws; /* counted */
    redd__ws_queued_event *first, **last;
    size_t n_events, n_bytes; /* in the queue; reading pauses while there are many */
    redd_bytes *buffer;       /* payload of the event given last */
    bool buffer_is_text;
    redd_bytes *reason; /* the peer's */
    const char *error;  /* what ended the connection, until it was asked for */
    bool error_due, close_due;
    bool waiting; /* a future waits for an event */
    uint16_t close_code;
    redd_waker *waker;
} redd__ws_guest;

/** Answers `req` with the handshake. 0: `*rid` names the new resource; else as redd_ws_upgrade.
 *  `protocol` (may be empty) is chosen when the client offers it. */
int redd__ws_guest_upgrade(redd__ws_state *st, redd_http_request *req, redd_slice protocol,
                           redd_rid *rid);
/** Borrowed. REDD_ERESOURCE. */
int redd__ws_guest_get(redd_worker *w, redd_rid rid, redd__ws_guest **out);

/** Takes the next event, if there is one. REDD_ECLOSED: the close event was the last. */
bool redd__ws_guest_next(redd__ws_guest *g, redd_value *out);
/** A future for the next event. UV_ENOMEM; REDD_ESTATE: one waits already. */
int redd__ws_guest_wait(redd__ws_guest *g, redd_future **out);

#endif
