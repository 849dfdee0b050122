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
 * getters, ref and unref returns REDD_ECLOSED. Slices that getters return inside the handler are
 * valid until it returns; those that they return later, as long as the request.
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
    uint64_t max_head;       /* bytes of request line and fields: 431 */
    uint64_t max_fields;     /* 431 */
    uint64_t max_target;     /* bytes: 414 */
    uint64_t max_body;       /* bytes: 413 */
    uint64_t max_extensions; /* bytes of all chunk extensions of a body: 413 */
    uint64_t max_trailers;   /* bytes of a body's trailer section: 431 */
    uint64_t max_requests; /* per connection, the last is answered with Connection: close; 0: any */
    uint64_t max_queued;   /* bytes of output that may wait per connection */
    uint64_t head_timeout_ms;  /* from a head's first byte to its end: 408 */
    uint64_t body_timeout_ms;  /* between two pieces of a body: 408 */
    uint64_t write_timeout_ms; /* output that waits without progress: the connection is reset */
    uint64_t keep_alive_ms;    /* between two requests: closed */
    uint64_t min_body_rate;  /* bytes a second, over the time that the body was waited for, from its
                                fifth second on: 408; 0: any */
    uint64_t connect;        /* 1: CONNECT goes to the handler (redd_http_tunnel); 0: 501 */
    uint64_t compress;       /* 1: responses may be compressed (redd_http_compress) */
    uint64_t compress_min;   /* bytes: shorter bodies are sent as they are */
    uint64_t compress_level; /* 1 (fast) to 9 (small) */
    uint64_t request_id;     /* 1: each response has X-Request-Id */
    uint64_t proxy_protocol; /* 1: connections from `trusted` begin with a PROXY header, version 1
                                or 2, within head_timeout_ms; others are closed */
    const char *trusted;     /* networks whose word on the client counts, "10.0.0.0/8, ::1, unix";
                                "": none. Read when the server begins */
} redd_http_options;
/** Fills in the worker's values of the http.* options; start from these. */
REDD_API void redd_http_options_init(const redd_worker *w, redd_http_options *out);

/** Serves what `listener` accepts on this worker (NULL: only redd_http_serve_stream feeds it).
 *  `options` NULL: the worker's. The server lives until its close has ended or the worker ends.
 * Call it on each worker, with the same listener. */
REDD_API int redd_http_serve(redd_worker *w, redd_listener *listener,
                             const redd_http_options *options, redd_http_handler_fn handler,
                             void *user, redd_http_server **out);
/** Called at the end of every request, also of those that the server itself refused (their getters
 *  tell what was understood), before the request's own end function. `status` as redd_http_end_fn.
 *  NULL: nobody. */
typedef void (*redd_http_exchange_fn)(redd_http_request *req, int status, void *user);
REDD_API void redd_http_server_on_exchange(redd_http_server *s, redd_http_exchange_fn fn,
                                           void *user);
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
/** The other end of the connection. */
REDD_API void redd_http_peer(const redd_http_request *req, redd_address *out);
/** Who asks: the peer, or whom a trusted peer names by the PROXY protocol, Forwarded (RFC 7239) or
 *  X-Forwarded-For: the nearest address that is not trusted itself. What is malformed, hidden or
 *  unknown ends the search at the address before. A request with both Forwarded and an X-Forwarded
 *  field tells nothing: a proxy that writes the one and lets the other pass would let the client
 *  speak for itself. Port 0: not told. */
REDD_API void redd_http_client(const redd_http_request *req, redd_address *out);
/** "http" or "https": what the client speaks, as a trusted peer tells, else the connection. */
REDD_API redd_slice redd_http_scheme(const redd_http_request *req);
/** The host that the client asked for, as a trusted peer tells, else redd_http_host. */
REDD_API redd_slice redd_http_client_host(const redd_http_request *req);
/** X-Request-Id of a trusted peer (at most 128 bytes of a token's), else one made for this request:
 *  32 hex digits, the same at each call. */
REDD_API redd_slice redd_http_id(redd_http_request *req);
REDD_API redd_worker *redd_http_worker(const redd_http_request *req);
/** A pointer of the handler's own; NULL until set. */
REDD_API void *redd_http_data(const redd_http_request *req);
REDD_API void redd_http_set_data(redd_http_request *req, void *data);

/** What became of it, for logs and metrics; valid to the last reference. Status of the response, 0
 *  while there is none; bytes of its body; bytes of the request's body; from the head's first byte
 *  to now or, after the end, to the end. */
REDD_API unsigned redd_http_status(const redd_http_request *req);
REDD_API uint64_t redd_http_bytes_sent(const redd_http_request *req);
REDD_API uint64_t redd_http_bytes_received(const redd_http_request *req);
REDD_API uint64_t redd_http_duration_ms(const redd_http_request *req);

REDD_API redd_http_request *redd_http_request_ref(redd_http_request *req);
/** NULL is allowed. */
REDD_API void redd_http_request_unref(redd_http_request *req);

/* --- its body --- */

/** `status` 0: `data` is the next piece, valid during the call, and `last` tells whether it ends
 * the body (the last piece may be empty). Else an error: UV_ECONNRESET, REDD_EMALFORMED,
 * REDD_ELIMIT (413 or 431 was answered), UV_ETIMEDOUT, UV_ECANCELED. */
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
/** Another limit than the server's for this body, larger or smaller, before its first read.
 *  REDD_ESTATE later, REDD_ECLOSED. */
REDD_API int redd_http_set_max_body(redd_http_request *req, uint64_t max);
/** Reads give the body decoded by its Content-Encoding (gzip, deflate, br or zstd; at most two), in
 *  pieces of up to 32 KiB and up to `max` decoded bytes (0: the limit of the body, which still
 * holds for what comes): 413 beyond, 400 for what cannot be decoded, is cut, or has bytes behind
 * its end. A body of no bytes is an empty one. Before the first read. UV_ENOTSUP: another coding,
 *  answer it with 415; REDD_ESTATE, REDD_ECLOSED, UV_ENOMEM. */
REDD_API int redd_http_decode(redd_http_request *req, uint64_t max);
/** A future of the next piece, with which it ends: bytes, or null behind the last one; an error as
 *  redd_http_read_fn. Dropping it gives the piece up. Errors as redd_http_read, UV_ENOMEM. */
REDD_API int redd_http_read_future(redd_http_request *req, redd_future **out);
/** Trailer fields (RFC 9110 6.5), once the last piece was given; never merged into the fields. */
REDD_API size_t redd_http_trailer_count(const redd_http_request *req);
REDD_API redd_http_field redd_http_trailer_at(const redd_http_request *req, size_t i);
REDD_API redd_slice redd_http_trailer_get(const redd_http_request *req, const char *name,
                                          size_t nth);

/* --- the response --- */

/** Sends an interim response, 102 to 199 but not 101: 103 with Link fields for instance (RFC 8297).
 *  HTTP/1.0 clients get none, and no error. Errors as redd_http_respond. */
REDD_API int redd_http_inform(redd_http_request *req, unsigned status,
                              const redd_http_field *fields, size_t n);

typedef enum redd_http_compression {
    REDD_HTTP_COMPRESS_DEFAULT = 0, /* as the server's option says, for types that compress well */
    REDD_HTTP_COMPRESS_ON,          /* whatever the option and the type */
    REDD_HTTP_COMPRESS_OFF
} redd_http_compression;
/** Whether the response may be compressed, by what the client accepts (Accept-Encoding, RFC 9110
 *  12.5.3): zstd, br or gzip, in this order among equals. A compressed one gets Content-Encoding, a
 *  weak ETag and no Accept-Ranges; it, and each that could have been compressed, gets Vary. Never
 *  done: to 204, 205 and 206, with Content-Encoding, Content-Range, Cache-Control: no-transform or
 *  a digest, below http.compress_min, or when it would not become smaller. A 304 has the Vary and
 *  the ETag of its 200. DEFAULT leaves event streams alone. Call it before the response; each piece
 *  of a streamed one can be decoded as soon as it has come. */
REDD_API void redd_http_compress(redd_http_request *req, redd_http_compression mode);

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
/** As redd_http_finish, with trailer fields, which only a chunked response to HTTP/1.1 can carry:
 *  others are finished without them. UV_EINVAL also for fields that may be no trailers (framing,
 *  routing, authentication, content and control fields, RFC 9110 6.5.1): nothing is done then. */
REDD_API int redd_http_finish_with(redd_http_request *req, const redd_http_field *trailers,
                                   size_t n);
/** Sends `length` bytes of a file from `offset`, by sendfile where the stream can; counts as a
 * piece of the body, as redd_http_write. 0: sent; REDD_HTTP_FULL: `fd` must stay open until the
 * drain function, or the end, was called; nothing else may be written before. A file that ends too
 * early breaks the connection. A response that is compressed reads it instead. UV_EINVAL,
 * REDD_ESTATE, REDD_ECLOSED, or an error of reading. */
REDD_API int redd_http_write_file(redd_http_request *req, int fd, uint64_t offset, uint64_t length);
/** Cuts the response: the connection ends by a reset, so that the peer cannot take it for a whole
 *  one; the end function is told UV_ECANCELED. REDD_ECLOSED. */
REDD_API int redd_http_abort(redd_http_request *req);

typedef void (*redd_http_event_fn)(redd_http_request *req, void *user);
/** Called once each time that waiting output went below the low mark after REDD_HTTP_FULL or
 *  REDD_ELIMIT. */
REDD_API void redd_http_on_drain(redd_http_request *req, redd_http_event_fn fn, void *user);
/** A future that ends with undefined as soon as redd_http_write would not say FULL or ELIMIT, or
 *  with the error that ended the request. In place of a drain function. UV_ENOMEM, REDD_ESTATE:
 *  there is one. */
REDD_API int redd_http_drain_future(redd_http_request *req, redd_future **out);

/** How a request ended. `status` 0: done, the whole response was handed to the system;
 * UV_ECONNRESET: the peer gave up; UV_ETIMEDOUT; UV_ECANCELED: stopped or aborted by ourselves;
 * REDD_EMALFORMED or REDD_ELIMIT: a bad body. */
typedef void (*redd_http_end_fn)(redd_http_request *req, int status, void *user);
/** Called exactly once, at the end of the request. */
REDD_API void redd_http_on_end(redd_http_request *req, redd_http_end_fn fn, void *user);
/** A future that ends with undefined or with the status, when the request ends. UV_ENOMEM,
 *  REDD_ECLOSED. */
REDD_API int redd_http_end_future(redd_http_request *req, redd_future **out);

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

/** Answers a CONNECT (option connect) with 200 and these fields, and hands the connection over like
 *  redd_http_upgrade. UV_EINVAL also for another method. A CONNECT that is answered otherwise ends
 *  its connection. */
REDD_API int redd_http_tunnel(redd_http_request *req, const redd_http_field *fields, size_t n,
                              redd_http_upgraded *out);

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
