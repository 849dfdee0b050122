/* SPDX-License-Identifier: MIT */
/** A handler under test with all that is told of its requests. */
#ifndef REDD_TESTS_UNIT_HTTP_STAGE_H
#define REDD_TESTS_UNIT_HTTP_STAGE_H

#include "tests/unit/http_reply.h"

#define GET  "GET /a?b HTTP/1.1\r\nHost: h\r\n\r\n"
#define HEAD "HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n"

typedef struct stage {
    bed b;
    client c;
    redd_http_handler_fn handler;
    void (*more)(struct stage *s); /* on drain */
    redd_http_request *req;
    int rc, end_status;
    unsigned ends, drains;
    int fd;
    uint64_t off, left;
    /* of the last exchange */
    unsigned exchanges, status;
    int exchange_status;
    uint64_t sent, received, ms;
    bytes line;
} stage;

static inline void on_end(redd_http_request *req, int status, void *user)
{
    stage *s = user;
    (void)req;
    s->ends++;
    s->end_status = status;
}

static inline void on_exchange(redd_http_request *req, int status, void *user)
{
    stage *s = user;
    s->exchanges++;
    s->exchange_status = status;
    s->status = redd_http_status(req);
    s->sent = redd_http_bytes_sent(req);
    s->received = redd_http_bytes_received(req);
    s->ms = redd_http_duration_ms(req);
    bytes_clear(&s->line);
    redd_slice method = redd_http_method(req), target = redd_http_target(req);
    bytes_add(&s->line, method.data, method.len);
    bytes_add(&s->line, " ", 1);
    bytes_add(&s->line, target.data, target.len);
    for (size_t i = 0; i < redd_http_field_count(req); i++) {
        redd_http_field f = redd_http_field_at(req, i);
        bytes_add(&s->line, f.name.data, f.name.len);
    }
}

static inline void on_request(redd_http_request *req, void *user)
{
    stage *s = user;
    s->req = req;
    redd_http_on_end(req, on_end, s);
    s->handler(req, s);
}

static inline void begin(stage *s, redd_http_handler_fn handler)
{
    memset(s, 0, sizeof *s);
    s->handler = handler;
    bed_begin(&s->b, on_request, s);
    redd_http_server_on_exchange(s->b.server, on_exchange, s);
    client_open(&s->b, &s->c);
}

static inline void finish(stage *s)
{
    client_close(&s->c);
    bytes_free(&s->line);
    bed_end(&s->b);
}

#endif
