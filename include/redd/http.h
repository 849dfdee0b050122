/* SPDX-License-Identifier: MIT */
/** HTTP/1.1 server (RFC 9110, RFC 9112). */
#ifndef REDD_HTTP_H
#define REDD_HTTP_H

#include <redd/listener.h>
#include <redd/output.h>

REDD_BEGIN_DECLS

typedef struct redd_http_server redd_http_server;

/**
 * One request and its response. Valid until its end (redd_http_on_end), and beyond it for as long
 * as a reference is held, at most until its worker ends; after its end every function but the
 * getters, ref and unref returns REDD_ECLOSED. Slices that getters return are valid as long as the
 * request.
 */
typedef struct redd_http_request redd_http_request;

typedef struct redd_http_field {
    redd_slice name, value;
} redd_http_field;

/** Called when the head of a request is complete. It may answer at once or later, on the same
 *  worker; other connections go on meanwhile. Who answers later holds a reference, has asked for
 * the body or has set an end function: a request that nobody can answer any more gets a 500. */
typedef void (*redd_http_handler_fn)(redd_http_request *req, void *user);

typedef struct redd_http_options {
    uint32_t struct_size;
    uint64_t max_head;         /* bytes of request line and fields: 431 */
    uint64_t max_fields;       /* 431 */
    uint64_t max_target;       /* bytes: 414 */
    uint64_t max_body;         /* bytes: 413 */
    uint64_t max_queued;       /* bytes of output that may wait per connection */
    uint64_t head_timeout_ms;  /* from a head's first byte to its end: 408 */
    uint64_t body_timeout_ms;  /* between two pieces of a body: 408 */
    uint64_t write_timeout_ms; /* output that waits without progress: the connection is reset */
    uint64_t keep_alive_ms;    /* between two requests: closed */
} redd_http_options;
/** Fills in the worker's values of the http.* options; start from these. */
REDD_API void redd_http_options_init(const redd_worker *w, redd_http_options *out);

/** Serves what `listener` accepts on this worker (NULL: only redd_http_serve_stream feeds it).
 *  `options` NULL: the worker's. The server lives until its close has ended or the worker ends.
 * Call it on each worker, with the same listener. */
REDD_API int redd_http_serve(redd_worker *w, redd_listener *listener,
                             const redd_http_options *options, redd_http_handler_fn handler,
                             void *user, redd_http_server **out);
/** Serves one connection; takes the stream on success. REDD_ECLOSED, UV_ENOMEM. */
REDD_API int redd_http_serve_stream(redd_http_server *s, redd_stream *stream);
/** Graceful: accepts no more, closes idle connections, ends the others with their last response.
 *  Forced: drops them. Callable again, to go from graceful to forced, until the server has ended.
 */
REDD_API void redd_http_server_close(redd_http_server *s, redd_stop_mode mode);
/** Calls `fn` once, when the closed server has no connections left and frees itself; the listener
 * and `user` of redd_http_serve may go then. */
REDD_API void redd_http_server_on_end(redd_http_server *s, void (*fn)(void *user), void *user);
/** Connections that are open, upgraded ones not counted. */
REDD_API size_t redd_http_server_connections(const redd_http_server *s);

/* --- the request --- */

REDD_API redd_slice redd_http_method(const redd_http_request *req);
/** As it was sent: "/a%20b?c=d". */
REDD_API redd_slice redd_http_target(const redd_http_request *req);
/** The target up to "?", not decoded. */
REDD_API redd_slice redd_http_path(const redd_http_request *req);
/** What follows "?", without it; empty when there is none. */
REDD_API redd_slice redd_http_query(const redd_http_request *req);
/** 0 or 1: HTTP/1.minor. */
REDD_API unsigned redd_http_minor_version(const redd_http_request *req);
/** The host that the request is for: the target's authority, else Host. */
REDD_API redd_slice redd_http_host(const redd_http_request *req);
/** Value of the n-th (from 0) field of this name, in any case; data NULL when there is none. */
REDD_API redd_slice redd_http_field_get(const redd_http_request *req, const char *name, size_t nth);
REDD_API size_t redd_http_field_count(const redd_http_request *req);
/** Fields in order of arrival; i < count. */
REDD_API redd_http_field redd_http_field_at(const redd_http_request *req, size_t i);
/** Declared body length; 0 without a body, -1 for a chunked one. */
REDD_API int64_t redd_http_body_length(const redd_http_request *req);
REDD_API void redd_http_peer(const redd_http_request *req, redd_address *out);
REDD_API redd_worker *redd_http_worker(const redd_http_request *req);

REDD_API redd_http_request *redd_http_request_ref(redd_http_request *req);
/** NULL is allowed. */
REDD_API void redd_http_request_unref(redd_http_request *req);

/* --- its body --- */

/** `status` 0: `data` is the next piece, valid during the call, and `last` tells whether it ends
 * the body (the last piece may be empty). Else an error: UV_ECONNRESET, REDD_EMALFORMED,
 * REDD_ELIMIT (413 was answered), UV_ETIMEDOUT, UV_ECANCELED. */
typedef void (*redd_http_read_fn)(redd_http_request *req, int status, redd_slice data, bool last,
                                  void *user);
/** Asks for one piece: `fn` runs exactly once, perhaps before the call returns to the caller's
 * caller but never inside the call. Nothing is read from the peer while nobody asks. REDD_ESTATE
 * while a read is in work, or after the last piece. */
REDD_API int redd_http_read(redd_http_request *req, redd_http_read_fn fn, void *user);
/** As redd_http_read, but with the whole body as one piece (`last` is true). At most `max` bytes:
 * 413 beyond; 0: the server's limit. */
REDD_API int redd_http_read_all(redd_http_request *req, size_t max, redd_http_read_fn fn,
                                void *user);

/* --- the response --- */

/** Answers with a whole response; everything is copied or sent before it returns. Date,
 *  Content-Length and Connection are added. `fields` may be NULL when `n` is 0. HEAD, 204, 205 and
 *  304 send no body. UV_EINVAL: status not 200..599, a name that is no token, CR, LF or NUL in a
 * value, a field that the server sets itself; REDD_ESTATE: answered already; REDD_ECLOSED,
 * UV_ENOMEM. */
REDD_API int redd_http_respond(redd_http_request *req, unsigned status,
                               const redd_http_field *fields, size_t n, redd_slice body);
/** With Content-Type text/plain; charset=utf-8. */
REDD_API int redd_http_respond_text(redd_http_request *req, unsigned status, const char *text);
/** With this Content-Type. */
REDD_API int redd_http_respond_typed(redd_http_request *req, unsigned status, const char *type,
                                     redd_slice body);

/** Begins a streamed response. `length` -1: unknown (chunked, or until close in HTTP/1.0). Errors
 * as redd_http_respond. */
REDD_API int redd_http_start(redd_http_request *req, unsigned status, const redd_http_field *fields,
                             size_t n, int64_t length);
/** redd_http_write took the piece, but output waits: go on when the drain function is called. */
#define REDD_HTTP_FULL 1
/** Sends a piece of the body, all or nothing: 0, REDD_HTTP_FULL, or an error: REDD_ELIMIT when it
 * was not taken because too much waits, REDD_ESTATE, REDD_ECLOSED; UV_EINVAL beyond the declared
 * length. */
REDD_API int redd_http_write(redd_http_request *req, redd_slice piece);
/** Ends the response. UV_EINVAL when bytes of the declared length are missing: the connection is
 * then closed, so that the peer sees it too. */
REDD_API int redd_http_finish(redd_http_request *req);

typedef void (*redd_http_event_fn)(redd_http_request *req, void *user);
/** Called once each time that waiting output went below the low mark after REDD_HTTP_FULL or
 *  REDD_ELIMIT. */
REDD_API void redd_http_on_drain(redd_http_request *req, redd_http_event_fn fn, void *user);

/** `status` 0: the whole response was handed to the system; UV_ECONNRESET, UV_ETIMEDOUT,
 * UV_ECANCELED (stopped), REDD_EMALFORMED (bad body). */
typedef void (*redd_http_end_fn)(redd_http_request *req, int status, void *user);
/** Called exactly once, at the end of the request. */
REDD_API void redd_http_on_end(redd_http_request *req, redd_http_end_fn fn, void *user);

/* --- upgrade --- */

typedef struct redd_http_upgraded {
    redd_stream *stream;
    redd_output output;  /* holds the 101 and whatever waited before it */
    redd_slice leftover; /* bytes behind the request's head; valid until the caller returns to the
                            loop */
    redd_address peer;
} redd_http_upgraded;
/** True when the request asks for an upgrade to `protocol` by its Upgrade and Connection fields. */
REDD_API bool redd_http_wants_upgrade(const redd_http_request *req, const char *protocol);
/** Answers 101 with these fields plus `Connection: Upgrade` and `Upgrade: protocol`, and hands the
 *  connection over: stream and output are the caller's, the request has ended (status 0). UV_EINVAL
 *  for bad fields, a body or HTTP/1.0; REDD_ESTATE, REDD_ECLOSED, UV_ENOMEM. */
REDD_API int redd_http_upgrade(redd_http_request *req, const char *protocol,
                               const redd_http_field *fields, size_t n, redd_http_upgraded *out);

/* --- guests --- */

/** Makes a request a resource (of the ops' kind) that holds a reference; closing it unanswered
 *  answers 500. UV_ENOMEM, REDD_ELIMIT. */
REDD_API int redd_http_request_to_resource(redd_http_request *req, redd_rid *rid);
/** The request behind an id, borrowed until the id is closed. REDD_ERESOURCE. */
REDD_API int redd_http_request_from_resource(redd_worker *w, redd_rid rid, redd_http_request **out);

/** The extension "http"; needs "net". */
REDD_API extern const redd_extension redd_http_extension;

REDD_END_DECLS

#endif
