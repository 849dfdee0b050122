/* SPDX-License-Identifier: MIT */
/** Server-sent events (the "text/event-stream" of the HTML standard). */
#ifndef REDD_HTTP_EVENTS_H
#define REDD_HTTP_EVENTS_H

#include <redd/http.h>

REDD_BEGIN_DECLS

/** One stream of events: a response that goes on. Lives until its end function has run. Every
 *  function runs on the request's worker. */
typedef struct redd_http_events redd_http_events;

typedef struct redd_http_events_options {
    uint32_t struct_size;
    uint64_t heartbeat_ms; /* a comment after this much silence, by which a client that has gone is
                              noticed; 0: 15,000 */
    uint64_t retry_ms;     /* told to the client; 0: not told */
    /** The stream has ended: closed (0), or as redd_http_end_fn; the last call, exactly once,
     *  perhaps inside of redd_http_events_send or _close. May be NULL. */
    void (*on_end)(redd_http_events *events, int status, void *user);
    /** There is room again after REDD_ELIMIT or REDD_HTTP_FULL. May be NULL. */
    void (*on_drain)(redd_http_events *events, void *user);
    void *user;
} redd_http_events_options;
#define REDD_HTTP_EVENTS_OPTIONS_INIT                   \
    {                                                   \
        .struct_size = sizeof(redd_http_events_options) \
    }

/** Answers 200 with Content-Type: text/event-stream and Cache-Control: no-store, and holds the
 *  request until the end; its drain function is the stream's from then on, its end function stays
 *  the caller's. A HEAD gets its head, and the stream ends. A client that has gone is noticed at
 *  once; one that only ends its sending side is not taken for one. UV_EINVAL: options of another
 *  size; UV_ENOMEM, and as redd_http_start. After an error no function is called. */
REDD_API int redd_http_events_start(redd_http_request *req, const redd_http_events_options *options,
                                    redd_http_events **out);
/** Sends an event, all or nothing. `type` and `id` may be empty: they are left out then; lines of
 *  `data` (UTF-8) end with LF, CR LF or CR, and may be none: the client is given an empty text.
 *  Nothing is allocated for events below 1 KiB. 0, REDD_HTTP_FULL (taken, but wait for on_drain) or
 *  an error as redd_http_write: REDD_ELIMIT: not taken, wait for on_drain; REDD_ESTATE: closed;
 *  REDD_ECLOSED: it has ended. UV_EINVAL: CR, LF or NUL in type or id. */
REDD_API int redd_http_events_send(redd_http_events *events, redd_slice type, redd_slice id,
                                   redd_slice data);
/** Ends the response; on_end follows. The client will come again, unless it is told not to by a
 *  204. */
REDD_API void redd_http_events_close(redd_http_events *events);
REDD_API redd_http_request *redd_http_events_request(redd_http_events *events);
/** Last-Event-ID of a client that comes again; data NULL when it says none. */
REDD_API redd_slice redd_http_last_event_id(const redd_http_request *req);

REDD_END_DECLS

#endif
