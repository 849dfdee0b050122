/* SPDX-License-Identifier: MIT */
/** One connection: a future that reads heads, hands requests to the handler and sends responses. */
#ifndef REDD_HTTP_CONNECTION_H
#define REDD_HTTP_CONNECTION_H

#include "ext/http/proxy/source.h"
#include "ext/http/request.h"
#include "ext/http/server.h"

typedef enum redd__http_phase {
    REDD__HTTP_HEAD = 0, /* between requests, or inside a head */
    REDD__HTTP_REQUEST,  /* a handler has a request */
    REDD__HTTP_LINGER,   /* the last response was given: discard input until the peer closes */
    REDD__HTTP_PROXY,    /* before everything else: a PROXY header must come */
    REDD__HTTP_CLOSED    /* the next poll ends the task */
} redd__http_phase;

/** What the one timer of a connection is running for. */
typedef enum redd__http_wait {
    REDD__HTTP_WAIT_NONE = 0,
    REDD__HTTP_WAIT_IDLE,
    REDD__HTTP_WAIT_HEAD,
    REDD__HTTP_WAIT_BODY,
    REDD__HTTP_WAIT_WRITE,
    REDD__HTTP_WAIT_LINGER,
    REDD__HTTP_WAIT_PROXY
} redd__http_wait;

struct redd__http_connection {
    redd_future future;
    redd__list link; /* of server->connections */
    redd_http_server *server;
    redd_stream *stream;
    redd_output output;
    redd_waker *waker;
    redd_http_request *request;
    /* Answered requests whose end is told when their responses have left, the oldest first. */
    redd_http_request *leaving, **leaving_end;
    uint32_t n_leaving;
    llhttp_t parser;

    /* Input: bytes pos..len are not parsed yet. The memory is the worker's read buffer during a
     * poll, or the connection's own (`held` = its size) when bytes must outlive it. */
    char *in;
    size_t in_pos, in_len;
    size_t head_off; /* start of the head in work */
    size_t held;
    bool head_begun;
    uint8_t empty_lines; /* line ends before the head */

    const char *lines; /* what the parser's spans are offsets into */
    uint16_t refusal;  /* status of what the parser met, which ends the connection */
    uint64_t requests; /* heads so far */

    uint8_t phase;
    uint8_t wait;
    bool polling;
    bool poll_again;  /* a drain function ran after the rest of the poll */
    bool progress;    /* since the deadline was last set */
    bool closing;     /* graceful: the response in hand is the last */
    bool overdue;     /* the timer found the deadline passed */
    bool shut;        /* the sending side was ended */
    bool reset;       /* close by a reset */
    size_t discarded; /* while lingering */
    redd__http_source source;
    redd_timer timer;
    uint64_t timer_at; /* when the running timer fires */
    uint64_t deadline; /* when `wait` is over; the timer may fire earlier and is then set anew */
};

/* --- connection.c --- */

/** Takes the stream on success. */
int redd__http_connection_new(redd_http_server *server, redd_stream *stream);
/** Graceful: closes when idle, else after the response in hand. */
void redd__http_connection_close(redd__http_connection *c);
/** Drops the connection at its next poll; its request is told UV_ECANCELED. */
void redd__http_connection_abort(redd__http_connection *c);
/** Ends it by a reset, so that the peer cannot take a cut response for a whole one. */
void redd__http_connection_break(redd__http_connection *c);
/** As break, and tells the request in hand. */
void redd__http_connection_lose(redd__http_connection *c, int status);
/** Asks for a poll, unless one is running. */
static inline void redd__http_connection_wake(redd__http_connection *c)
{
    if (!c->polling && c->waker)
        redd_waker_wake(c->waker);
}

/* --- exchange.c --- */

/** Does everything that the input and output in hand allow. */
void redd__http_advance(redd__http_connection *c);
/** Error response, end of the request in hand, lingering close. */
void redd__http_connection_refuse(redd__http_connection *c, unsigned status);
/** The request in hand can come to its end. */
bool redd__http_can_finish(redd__http_connection *c);

/* --- input.c --- */

bool redd__http_wants_input(const redd__http_connection *c);
/** One read, and what follows from it. */
void redd__http_input_read(redd__http_connection *c);
/** At the end of a poll: bytes that are still needed leave the worker's buffer for memory of the
 *  connection's own; an idle connection keeps none. UV_ENOMEM. */
int redd__http_input_settle(redd__http_connection *c);
void redd__http_input_release(redd__http_connection *c);

/* --- deadline.c --- */

void redd__http_on_timer(redd_timer *t, void *user);
/** Acts on a deadline that the timer found passed, unless there was progress since. */
void redd__http_judge(redd__http_connection *c);
/** At the end of a poll: two stores, unless the new deadline comes before the running timer. */
void redd__http_set_deadline(redd__http_connection *c);

/* --- parse.c --- */

void redd__http_parse_init(redd__http_state *st);
/** Makes the connection's parser a copy of one of the state's: nothing of the message before is
 *  left. */
void redd__http_parse_begin(redd__http_connection *c, const llhttp_t *from);

typedef enum redd__http_parsed {
    REDD__HTTP_NEED_INPUT,
    REDD__HTTP_GOT_LINES, /* up to and with the empty line */
    REDD__HTTP_GOT_ERROR  /* `refusal` holds the status, when a limit was met */
} redd__http_parsed;

/** Runs the parser over the input in hand, up to the end of the head. An error's status is in
 *  `refusal`. */
redd__http_parsed redd__http_parse_head(redd__http_connection *c);
/** Runs the parser over *in, which lies within `lines`, and moves it past what was taken. */
redd__http_parsed redd__http_parse_lines(redd__http_connection *c, const char *lines,
                                         redd_slice *in);

/** A method that HTTP/1.1 knows, and llhttp since its version 8; it has those of RTSP, too. */
static inline bool redd__http_method_is_ours(unsigned method)
{
    return method <= HTTP_SOURCE;
}

/* --- head.c --- */

/** Judges a complete head (RFC 9112 2 to 6) and fills in what it means. Returns 0 or the status of
 * the refusal. */
unsigned redd__http_head_check(redd__http_connection *c, redd_http_request *req);
/** True when `text` is, from `pos` to its end, "name: OWS value OWS CRLF" for each of the lines,
 *  and CRLF (RFC 9112 5): nothing between them, nothing folded. Trims the values. */
bool redd__http_lines_check(redd_slice text, uint32_t pos, redd__http_span *lines, uint32_t n);

/* --- body.c --- */

/** True while somebody waits for body bytes. */
bool redd__http_body_wanted(const redd_http_request *req);
/** What is left of the body is cheap to read and drop. */
bool redd__http_body_is_small(const redd_http_request *req);
/** Parses input into the read in work. Returns false when input is missing. */
bool redd__http_body_step(redd__http_connection *c);
/** Hands what has come of the body, decoded, to whoever reads. */
void redd__http_body_deliver(redd__http_connection *c, redd_http_request *req, redd_slice piece,
                             bool last);
/** The body cannot be had: whoever reads it is told why. */
void redd__http_body_fail(redd__http_connection *c, redd_http_request *req, unsigned refusal);

/* --- coding/body.c --- */

/** One step of a body that is decoded. Returns false when others are to have their turn first. */
bool redd__http_decode_step(redd__http_connection *c, redd_http_request *req);

/* --- proxy/receive.c --- */

/** A new connection of a server with the option proxy_protocol. */
void redd__http_proxy_begin(redd__http_connection *c);
/** Takes the header, or closes the connection. Returns false when input is missing. */
bool redd__http_proxy_step(redd__http_connection *c);
/** Closes the connection without an answer: nothing of it is HTTP. */
void redd__http_proxy_refuse(redd__http_connection *c);

/* --- leaving.c --- */

/** How many answered requests may wait for the output to leave. */
#define REDD__HTTP_MAX_LEAVING 64

/** Takes the answered request in hand off the connection's hands, to be told of its end once the
 *  output has left. */
void redd__http_leave(redd__http_connection *c);
/** Tells those that left, when no output waits any more. */
void redd__http_left(redd__http_connection *c);
/** Tells all of them, the oldest first, whatever has become of the output. */
void redd__http_leaving_end(redd__http_connection *c, int status);

/* --- file_body.c --- */

/** Sends of the file in hand what the stream takes, up to a budget per poll. */
void redd__http_file_step(redd__http_connection *c);
static inline bool redd__http_sends_file(const redd__http_connection *c)
{
    return c->request && c->request->file_left > 0;
}

/* --- response.c --- */

/** Writes a bodyless error response of the server's own with Connection: close. */
void redd__http_refuse(redd__http_connection *c, unsigned status);

/* --- interim.c --- */

/** A 101. UV_EINVAL, UV_ENOMEM, REDD_ECLOSED. */
int redd__http_write_switch(redd_http_request *req, const char *protocol,
                            const redd_http_field *fields, size_t n);
/** The 200 to a CONNECT. Errors as above. */
int redd__http_write_tunnel(redd_http_request *req, const redd_http_field *fields, size_t n);

#endif
