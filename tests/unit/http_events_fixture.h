/* SPDX-License-Identifier: MIT */
/** A server whose every request gets a stream of events, and a client of it. */
#ifndef REDD_TESTS_UNIT_HTTP_EVENTS_FIXTURE_H
#define REDD_TESTS_UNIT_HTTP_EVENTS_FIXTURE_H

#include "tests/unit/http_must.h"

#include <redd/http_events.h>

#define REQUEST(method) method " /events HTTP/1.1\r\nHost: h\r\n"
#define GET             REQUEST("GET") "\r\n"

typedef struct stage {
    bed b;
    client c;
    redd_http_events_options options;
    redd_http_events *events;
    int rc;
    unsigned ends, drains;
    int status;
    bool close_inside; /* in whatever is called */
    bytes last_id;
} stage;

static inline void on_end(redd_http_events *events, int status, void *user)
{
    stage *s = user;
    assert_ptr_equal(events, s->events);
    s->ends++;
    s->status = status;
    redd_slice text = redd_slice_str("late");
    int rc = redd_http_events_send(events, text, text, text);
    assert_int_equal(rc, REDD_ECLOSED);
    redd_http_events_close(events);
    assert_non_null(redd_http_events_request(events));
    s->events = NULL;
}

static inline void on_drain(redd_http_events *events, void *user)
{
    stage *s = user;
    assert_ptr_equal(events, s->events);
    s->drains++;
    if (s->close_inside)
        redd_http_events_close(events);
}

static inline void serve(redd_http_request *req, void *user)
{
    stage *s = user;
    redd_slice id = redd_http_last_event_id(req);
    bytes_clear(&s->last_id);
    bytes_text(&s->last_id, id.data ? "" : "none");
    bytes_add(&s->last_id, id.data, id.len);
    s->options.on_end = on_end;
    s->options.on_drain = on_drain;
    s->options.user = s;
    s->rc = redd_http_events_start(req, &s->options, &s->events);
    if (s->rc == 0)
        assert_ptr_equal(redd_http_events_request(s->events), req);
}

static inline void stage_begin(stage *s)
{
    memset(s, 0, sizeof *s);
    s->options = (redd_http_events_options)REDD_HTTP_EVENTS_OPTIONS_INIT;
    bed_begin(&s->b, serve, s);
}

/** Up to the head of the response. */
static inline void stage_open(stage *s, const char *request)
{
    client_open(&s->b, &s->c);
    client_text(&s->c, request);
}

static inline void stage_end(stage *s)
{
    client_close(&s->c);
    bytes_free(&s->last_id);
    assert_int_equal(s->ends, 1);
    assert_null(s->events);
    bed_end(&s->b);
}

static inline int send_text(stage *s, const char *type, const char *id, const char *data)
{
    int rc = redd_http_events_send(s->events, redd_slice_str(type), redd_slice_str(id),
                                   redd_slice_str(data));
    client_settle(&s->c);
    return rc;
}

/** Closes, and compares all that came. */
static inline void expect_stream(stage *s, const char *text)
{
    reply r;
    redd_http_events_close(s->events);
    client_settle(&s->c);
    reply_begin(&r, &s->c);
    assert_true(reply_next(&r));
    assert_int_equal(r.status, 200);
    assert_true(reply_field_is(&r, "content-type", "text/event-stream"));
    assert_true(reply_field_is(&r, "cache-control", "no-store"));
    assert_true(reply_at_end(&r));
    bytes_add(&r.body, "", 0);
    assert_string_equal(r.body.data, text);
    reply_end(&r);
    assert_int_equal(s->status, 0);
}

#endif
