/* SPDX-License-Identifier: MIT */
/** A row of the conformance tables: what a client sends, and what must come of it. */
#ifndef REDD_TESTS_UNIT_HTTP_ROWS_H
#define REDD_TESTS_UNIT_HTTP_ROWS_H

#include <redd/slice.h>

/** What has become of the connection after the input. */
typedef enum fate {
    OPEN,   /* the next request on it is served */
    CLOSED, /* the server has ended it; what follows the request is not read as one */
    WAITS   /* open, in the midst of a request */
} fate;

typedef struct row {
    const char *id;
    redd_slice input;
    const char *unit; /* NULL, or comes `times` times behind input, and before `after` */
    size_t times;
    redd_slice after;
    const char *statuses; /* of all responses, in order: "200,400" */
    fate fate;
    unsigned seen;    /* requests that the handler was given */
    const char *body; /* all bodies that the handler has read to their end; NULL: not compared */
} row;

#define ROW(id, text, statuses, fate, seen, body)                                 \
    {                                                                             \
        id, REDD_SLICE(text), NULL, 0, REDD_SLICE(""), statuses, fate, seen, body \
    }
/** Refused before a handler saw it. */
#define BAD(id, text, status) ROW(id, text, #status, CLOSED, 0, "")
/** One request without a body, served. */
#define GOOD(id, text) ROW(id, text, "200", OPEN, 1, "")
#define LONG(id, before, unit, times, after, statuses, fate, seen, body)                   \
    {                                                                                      \
        id, REDD_SLICE(before), unit, times, REDD_SLICE(after), statuses, fate, seen, body \
    }
#define LONG_BAD(id, before, unit, times, after, status) \
    LONG(id, before, unit, times, after, #status, CLOSED, 0, "")

#define LINE "GET / HTTP/1.1\r\n"
#define HOST "Host: h.example\r\n"
/** A GET that is served unless what stands in it keeps it from being so. */
#define GET_WITH(fields)  LINE HOST fields "\r\n"
#define POST_WITH(fields) "POST / HTTP/1.1\r\n" HOST fields "\r\n"
#define CHUNKED           "Transfer-Encoding: chunked\r\n"
/** A request that must not be seen as one where it follows on something bad. */
#define HIDDEN "GET /hidden HTTP/1.1\r\n" HOST "\r\n"

#endif
