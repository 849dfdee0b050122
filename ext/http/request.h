/* SPDX-License-Identifier: MIT */
/** One request: where its head lies, what its handler asked for, how far its response is. */
#ifndef REDD_HTTP_REQUEST_H
#define REDD_HTTP_REQUEST_H

#include "ext/http/chunked.h"
#include "ext/http/proxy/origin.h"
#include "ext/http/state.h"

#include <redd/buffer.h>

typedef struct redd__http_connection redd__http_connection;

/** A field line as offsets into the head. */
typedef struct redd__http_span {
    uint32_t name_off, name_len;
    uint32_t value_off, value_len;
} redd__http_span;

typedef enum redd__http_answer {
    REDD__HTTP_UNANSWERED = 0,
    REDD__HTTP_STREAMING, /* redd_http_start was called */
    REDD__HTTP_ANSWERED   /* the whole response is in the connection's output */
} redd__http_answer;

typedef enum redd__http_read_mode {
    REDD__HTTP_READ_NONE = 0,
    REDD__HTTP_READ_PIECE,
    REDD__HTTP_READ_ALL,
    REDD__HTTP_READ_DISCARD /* answered without the body having been asked for */
} redd__http_read_mode;

/** A declared body up to this size that nobody asked for is read and dropped. */
#define REDD__HTTP_DISCARD_MAX (64U << 10)

/** What works for a request beside its handler, in the worker's own memory: told before the end
 *  function of the request's end. */
typedef struct redd__http_watch redd__http_watch;
struct redd__http_watch {
    redd__http_watch *next;
    void (*end)(redd__http_watch *w, int status); /* the watch is off by then */
    void (*hangup)(redd__http_watch *w); /* the peer sends no more; told once, NULL from then on */
};

/** Head bytes that a request stores without an allocation when it outlives the read buffer. */
#define REDD__HTTP_INLINE_HEAD 512

struct redd_http_request {
    redd__http_connection *conn; /* NULL after the end */
    redd__http_state *state;
    uint32_t refs;

    /* The head. `head` points into the connection's input while the handler runs, and to memory of
     * the request's own (inline_head, or own) from its return on. */
    const char *head;
    char *own;
    uint32_t head_len;
    uint32_t method_len;
    uint32_t target_off, target_len;
    uint32_t host_off, host_len;
    uint32_t n_fields; /* of the head; those of the trailers lie behind them */
    uint32_t n_lines;  /* fields in all */
    uint8_t minor;
    bool keep_alive;
    bool chunked;
    bool expects_continue;
    bool wants_upgrade; /* Connection has the token upgrade */
    bool is_head;

    /* The body. */
    bool body_ended; /* its last byte was parsed */
    bool last_given; /* the handler has had the last piece */
    uint8_t read_mode;
    int64_t body_length; /* -1: chunked */
    uint64_t body_received;
    uint64_t body_max;
    redd__http_chunked chunks;
    redd_buffer trailers; /* the trailer section as it came; empty until there is one */
    bool awaited;         /* since awaited_since, ms */
    uint64_t awaited_since;
    uint64_t awaited_ms; /* before that, in all */
    redd_buffer body;    /* of a READ_ALL */
    redd_http_read_fn read_fn;
    void *read_user;

    /* The response. */
    uint8_t answer;
    bool close_after;
    bool chunked_out;
    bool bodyless_out; /* HEAD, 204, 205, 304 */
    bool full;         /* a drain event is owed, once no more than low_mark bytes wait */
    uint64_t low_mark;
    int64_t declared; /* bytes of a streamed body still to come; -1: unknown */
    redd_http_event_fn drain_fn;
    void *drain_user;
    redd_http_end_fn end_fn;
    void *end_user;
    void *data; /* the handler's own */

    /* file_body.c: a part of a file that is being sent; file_left > 0 while it is. */
    int file;
    bool file_chunked; /* it is a chunk, whose end is still owed */
    uint64_t file_off, file_left;

    /* What became of it. */
    bool dispatched; /* a handler has seen it */
    uint16_t status; /* of the response; 0: none yet */
    uint64_t sent;   /* bytes of its body */
    uint64_t began_at, ended_at;
    redd_http_request *next; /* of connection->leaving */

    const struct redd__http_route *route; /* that the router took */
    redd__http_watch *watches;

    /* coding/ */
    uint8_t compress;                     /* redd_http_compression */
    redd__http_encoder *encoder;          /* of a streamed response that is coded */
    struct redd__http_decoding *decoding; /* of a body that is decoded */

    /* proxy/ */
    bool origin_known;
    uint8_t id_len;  /* 0: it has none yet */
    uint32_t id_off; /* of an id that the head holds; 0: it is in `id` */

    redd_address peer; /* filled in at the end, for those who hold a reference */
    char inline_head[REDD__HTTP_INLINE_HEAD];
    redd__http_origin origin; /* once origin_known */
    char id[REDD__HTTP_ID_LEN];
    redd__http_span fields[];
};

redd_http_request *redd__http_request_new(redd__http_connection *conn);
/** Moves the head to memory of the request's own. UV_ENOMEM. */
int redd__http_request_retain(redd_http_request *req);
/** Somebody is told of its end, and so of when its response has left. */
static inline bool redd__http_end_is_told(const redd_http_request *req)
{
    return req->end_fn || req->watches;
}
/** Ends the request: what it still waits for is told, then the end function; drops the connection's
 *  reference. */
void redd__http_request_end(redd_http_request *req, int status);
/** Frees a request that has ended and has no references left. */
void redd__http_request_settle(redd_http_request *req);
/** Before the end of the request. */
void redd__http_watch_add(redd_http_request *req, redd__http_watch *w);
/** Does nothing for a watch that is off. */
void redd__http_watch_remove(redd_http_request *req, redd__http_watch *w);
/** The peer has ended its side, which is no reason yet to end the request: tells the one that wants
 *  to know (redd__http_hangup_watch). */
void redd__http_watch_hangup(redd_http_request *req);
/** True when somebody holds the request or will be called with it. */
bool redd__http_request_expected(const redd_http_request *req);

/** A watch that is to be told when the peer ends its side, or NULL. */
static inline redd__http_watch *redd__http_hangup_watch(const redd_http_request *req)
{
    redd__http_watch *w = req ? req->watches : NULL;
    while (w && !w->hangup)
        w = w->next;
    return w;
}

/** Bytes of the head; none when it was lost for want of memory. */
static inline redd_slice redd__http_in_head(const redd_http_request *req, uint32_t off,
                                            uint32_t len)
{
    return off + len <= req->head_len ? redd_slice_of(req->head + off, len)
                                      : redd_slice_of(NULL, 0);
}
static inline redd_slice redd__http_name(const redd_http_request *req, size_t i)
{
    return redd_slice_of(req->head + req->fields[i].name_off, req->fields[i].name_len);
}
static inline redd_slice redd__http_value(const redd_http_request *req, size_t i)
{
    return redd_slice_of(req->head + req->fields[i].value_off, req->fields[i].value_len);
}

#endif
