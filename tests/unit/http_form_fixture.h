/* SPDX-License-Identifier: MIT */
/** A server that reads forms, and what it was told of them as text. */
#ifndef REDD_TESTS_UNIT_HTTP_FORM_FIXTURE_H
#define REDD_TESTS_UNIT_HTTP_FORM_FIXTURE_H

#include "ext/http/connection.h"
#include "tests/unit/http_fixture.h"

#include <redd/http_form.h>

typedef struct desk {
    bed b;
    redd_http_form_options options;
    bytes log; /* "[name|filename|type]data;" for each part, "=" and the end */
    redd_http_form *form;
    bool in_part;
    unsigned calls, ends; /* since the request */
    int rc;               /* of redd_http_form_read */
    unsigned act_at;      /* the call, from 1, in which `act` is done */
    enum { DESK_NOTHING, DESK_REFUSE, DESK_PAUSE, DESK_CLOSE, DESK_LOSE, DESK_ANSWER } act;
    unsigned pauses; /* 1: every call pauses */
} desk;

static inline void desk_slice(desk *d, redd_slice s)
{
    bytes_add(&d->log, s.data, s.len);
}

/** Returns what the callback shall. */
static inline bool desk_act(desk *d)
{
    bool now = ++d->calls == d->act_at;
    HTTP_MUST(d->ends == 0);
    if (d->pauses || (now && d->act == DESK_PAUSE))
        redd_http_form_pause(d->form);
    if (now && d->act == DESK_CLOSE)
        redd_http_server_close(d->b.server, REDD_STOP_FORCED);
    if (now && d->act == DESK_LOSE)
        redd__http_connection_lose(redd_http_form_request(d->form)->conn, UV_ECONNRESET);
    if (now && d->act == DESK_ANSWER)
        HTTP_MUST(redd_http_respond_text(redd_http_form_request(d->form), 200, "early") == 0);
    return !(now && d->act == DESK_REFUSE);
}

static inline bool desk_on_part(redd_http_form *form, const redd_http_part *part, void *user)
{
    desk *d = user;
    HTTP_MUST(form == d->form && !d->in_part);
    d->in_part = true;
    bytes_text(&d->log, "[");
    desk_slice(d, part->name);
    bytes_text(&d->log, "|");
    if (part->filename.data)
        desk_slice(d, part->filename);
    else
        bytes_text(&d->log, "-");
    bytes_text(&d->log, "|");
    desk_slice(d, part->type);
    bytes_text(&d->log, "]");
    return desk_act(d);
}

static inline bool desk_on_data(redd_http_form *form, redd_slice data, bool last, void *user)
{
    desk *d = user;
    HTTP_MUST(form == d->form && d->in_part);
    HTTP_MUST(last || data.len > 0);
    d->in_part = !last;
    desk_slice(d, data);
    if (last)
        bytes_text(&d->log, ";");
    return desk_act(d);
}

static inline void desk_on_end(redd_http_form *form, int status, void *user)
{
    desk *d = user;
    redd_http_request *req = redd_http_form_request(form);
    HTTP_MUST(form == d->form && d->ends == 0);
    d->ends++;
    redd_http_form_pause(form);
    redd_http_form_resume(form);
    bytes_text(&d->log, "=");
    bytes_text(&d->log, status ? redd_error_name(status) : "0");
    d->form = NULL;
    (void)redd_http_respond_text(req, status ? 400 : 200, "done");
}

static inline void desk_serve(redd_http_request *req, void *user)
{
    desk *d = user;
    bytes_clear(&d->log);
    bytes_text(&d->log, "");
    d->calls = d->ends = 0;
    d->in_part = false;
    d->options.on_part = desk_on_part;
    d->options.on_data = desk_on_data;
    d->options.on_end = desk_on_end;
    d->options.user = d;
    d->rc = redd_http_form_read(req, &d->options, &d->form);
    if (d->rc) {
        bytes_text(&d->log, redd_error_name(d->rc));
        (void)redd_http_respond_text(req, 415, "no form");
    }
}

static inline void desk_begin(desk *d)
{
    memset(d, 0, sizeof *d);
    d->options = (redd_http_form_options)REDD_HTTP_FORM_OPTIONS_INIT;
    bed_begin(&d->b, desk_serve, d);
}

static inline void desk_end(desk *d)
{
    bytes_free(&d->log);
    bed_end(&d->b);
}

#define DESK_MULTIPART  "multipart/form-data; boundary=XX"
#define DESK_URLENCODED "application/x-www-form-urlencoded"

/** How a body is sent. */
typedef struct desk_way {
    size_t first, step; /* bytes of the first segment of the body, and of the others */
    bool chunked;
} desk_way;

static inline void desk_head(bytes *out, const char *type, size_t len, bool chunked)
{
    char line[64];
    bytes_text(out, "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: ");
    bytes_text(out, type);
    (void)snprintf(line, sizeof line, "\r\nContent-Length: %zu\r\n\r\n", len);
    bytes_text(out, chunked ? "\r\nTransfer-Encoding: chunked\r\n\r\n" : line);
}

/* One segment, which is one chunk where there are chunks. */
static inline void desk_segment(client *c, const char *data, size_t len, bool chunked)
{
    bytes b = {0};
    char size[32];
    (void)snprintf(size, sizeof size, "%zx\r\n", len);
    if (chunked && len > 0)
        bytes_text(&b, size);
    bytes_add(&b, data, len);
    if (chunked && len > 0)
        bytes_text(&b, "\r\n");
    client_send(c, b.data, b.len);
    bytes_free(&b);
}

/** Resumes until nothing is paused any more. */
static inline void desk_unpause(desk *d, client *c)
{
    while (d->form && d->pauses) {
        unsigned before = d->calls;
        redd_http_form_resume(d->form);
        HTTP_MUST(d->calls == before);
        client_settle(c);
        if (d->calls == before)
            return;
    }
}

/** Sends a form on a connection of its own; what became of it is in the log. */
static inline void desk_send(desk *d, const char *type, const char *body, size_t len, desk_way way)
{
    client c;
    bytes head = {0};
    client_open(&d->b, &c);
    desk_head(&head, type, len, way.chunked);
    client_send(&c, head.data, head.len);
    for (size_t off = 0, n = way.first; off < len && !client_ended(&c); off += n, n = way.step) {
        n = n < len - off ? n : len - off;
        desk_segment(&c, body + off, n, way.chunked);
        desk_unpause(d, &c);
    }
    if (way.chunked && !client_ended(&c))
        client_text(&c, "0\r\n\r\n");
    desk_unpause(d, &c);
    bytes_free(&head);
    client_close(&c);
}

/* --- forms of two --- */

#define DESK_FIELD(name) "Content-Disposition: form-data; name=" name "\r\n\r\n"
#define DESK_FILE        "Content-Disposition: form-data; name=f; filename=g\r\n\r\n"

static const char two_parts[] =
    "--XX\r\n" DESK_FIELD("a") "1\r\n--XX\r\n" DESK_FILE "22\r\n--XX--\r\n";
static const char two_pairs[] = "a=1&b=22";

static inline bool log_ends_with(const desk *d, const char *text)
{
    size_t n = strlen(text);
    return d->log.len >= n && strcmp(d->log.data + d->log.len - n, text) == 0;
}

#endif
