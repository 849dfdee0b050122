/* SPDX-License-Identifier: MIT */
/** WebSocket server (RFC 6455). */
#ifndef REDD_WEBSOCKET_H
#define REDD_WEBSOCKET_H

#include <redd/http.h>

REDD_BEGIN_DECLS

/** One connection. Valid until its close event has returned, and beyond it for as long as a
 *  reference is held, at most until its worker ends (drop references before); functions then return
 *  REDD_ECLOSED. */
typedef struct redd_ws redd_ws;

typedef enum redd_ws_kind { REDD_WS_TEXT = 1, REDD_WS_BINARY = 2 } redd_ws_kind;

typedef struct redd_ws_close_event {
    uint16_t code;     /* the peer's code; 1005: its Close had none; 1006: there was no Close */
    uint16_t sent;     /* the code we sent; 0: none */
    redd_slice reason; /* the peer's, UTF-8; valid during the call */
    bool clean;        /* both Close frames were exchanged */
    int status;        /* 0, or what ended it: UV_ECONNRESET, UV_ETIMEDOUT, REDD_EMALFORMED, ... */
} redd_ws_close_event;

/** Each may be NULL. `user` is what redd_ws_set_user stored, at first what was given to upgrade. */
typedef struct redd_ws_handlers {
    uint32_t struct_size;
    void (*open)(redd_ws *ws, void *user);
    /** `data` is valid during the call; text is valid UTF-8. */
    void (*message)(redd_ws *ws, redd_ws_kind kind, redd_slice data, void *user);
    /** Once each time that waiting output went below the low mark after REDD_WS_FULL or
     *  REDD_ELIMIT. */
    void (*drain)(redd_ws *ws, void *user);
    void (*pong)(redd_ws *ws, redd_slice payload, void *user);
    /** Last event, exactly once for each socket whose upgrade returned 0. Without an open event
     *  before it when the socket ended first: by terminate, or by a forced stop. */
    void (*close)(redd_ws *ws, const redd_ws_close_event *event, void *user);
} redd_ws_handlers;

typedef enum redd_ws_origin_policy {
    REDD_WS_ORIGIN_SAME_HOST = 0, /* no Origin (not a browser), or the request's own host */
    REDD_WS_ORIGIN_LIST,          /* no Origin, or one of `origins` */
    REDD_WS_ORIGIN_ANY
} redd_ws_origin_policy;

typedef struct redd_ws_options {
    uint32_t struct_size;
    redd_ws_origin_policy origin_policy;
    const char *const *origins; /* "https://example.org", NULL-terminated */
    /** Subprotocols in order of preference, NULL-terminated; the first that the client offers is
     *  chosen. NULL: none is ever chosen. */
    const char *const *protocols;
    /** Further fields of the 101, at most 30; none may be a Sec-WebSocket-*. */
    const redd_http_field *fields;
    size_t n_fields;
    uint64_t max_message;        /* bytes: 1009 */
    uint64_t max_fragments;      /* per message: 1008 */
    uint64_t max_queued;         /* bytes of output that may wait */
    uint64_t idle_timeout_ms;    /* silence for half of it: a ping; for all of it: 1001 and the end.
                                    0: never */
    uint64_t message_timeout_ms; /* from a message's first byte to its end, and a millisecond more
                                    for each byte of it that has come: 1008. 0: never */
    uint64_t close_timeout_ms;   /* from our Close to the end of the connection; while output waits:
                                    without the peer's taking any of it */
} redd_ws_options;
/** Same-host origins, no subprotocols, and the worker's values of the ws.* options. */
REDD_API void redd_ws_options_init(const redd_worker *w, redd_ws_options *out);

/** redd_ws_upgrade answered with a refusal. */
#define REDD_WS_REFUSED 1
/**
 * Answers a request with the handshake (RFC 6455 4.2.2): 101 and an open event, or the refusal: 426
 * with Sec-WebSocket-Version for another version or no Upgrade, 405 for another method, 400 for a
 * malformed handshake, 403 for a foreign Origin, 503 when worker or server are closing. Returns 0
 * for a 101, REDD_WS_REFUSED when it answered with a refusal (no event comes, so that `user` stays
 * the caller's), else an error of redd_http_respond. UV_EINVAL: a struct_size other than sizeof, or
 * fields that are ours. `options` NULL: the worker's. `handlers` must outlive the socket; options
 * are copied. The open event and frames that came with the request follow in the same turn.
 */
REDD_API int redd_ws_upgrade(redd_http_request *req, const redd_ws_options *options,
                             const redd_ws_handlers *handlers, void *user);
/** True when the request asks for a WebSocket, well-formed or not. */
REDD_API bool redd_ws_wants_upgrade(const redd_http_request *req);

/** redd_ws_send took the message, but output waits: better go on at the drain event. */
#define REDD_WS_FULL 1
/** Sends one message (copied or sent before it returns), all or nothing, in the order of the calls.
 *  0; REDD_WS_FULL; REDD_ELIMIT: dropped, since more than max_queued would wait (at the drain event
 *  there is room); UV_EMSGSIZE: dropped, since it alone is larger than max_queued; REDD_ECLOSED: a
 *  Close was sent or received, or the connection is lost; UV_ENOMEM. Text must be UTF-8: UV_EINVAL.
 */
REDD_API int redd_ws_send(redd_ws *ws, redd_ws_kind kind, redd_slice data);
/** At most 125 bytes of payload: UV_EINVAL beyond. Else as redd_ws_send. */
REDD_API int redd_ws_ping(redd_ws *ws, redd_slice payload);
/** Begins the closing handshake; never waits. `code` 0: a Close without a code. UV_EINVAL: a code
 * that must not be sent (RFC 6455 7.4), a reason over 123 bytes, not UTF-8, or without a code;
 *  REDD_ECLOSED when one was sent already; else as redd_ws_send. */
REDD_API int redd_ws_close(redd_ws *ws, uint16_t code, redd_slice reason);
/** Drops the connection without a Close; the close event (1006, UV_ECANCELED) follows soon. */
REDD_API void redd_ws_terminate(redd_ws *ws);
/** Bytes of output that wait. */
REDD_API size_t redd_ws_queued(const redd_ws *ws);

/** The chosen subprotocol, or empty. */
REDD_API redd_slice redd_ws_protocol(const redd_ws *ws);
REDD_API void redd_ws_peer(const redd_ws *ws, redd_address *out);
REDD_API redd_worker *redd_ws_worker(const redd_ws *ws);
REDD_API void *redd_ws_user(const redd_ws *ws);
REDD_API void redd_ws_set_user(redd_ws *ws, void *user);
REDD_API redd_ws *redd_ws_ref(redd_ws *ws);
/** NULL is allowed. */
REDD_API void redd_ws_unref(redd_ws *ws);

/** Open sockets on this worker. */
REDD_API size_t redd_ws_count(const redd_worker *w);

/** The extension "websocket"; needs "http". */
REDD_API extern const redd_extension redd_websocket_extension;

REDD_END_DECLS

#endif
