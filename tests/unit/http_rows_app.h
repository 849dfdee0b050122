/* SPDX-License-Identifier: MIT */
/** The app that the conformance tables are meant for. Any other that does the same, a guest too,
 * can be held to them.
 *
 * What it does with a request, by its method and path:
 *
 *   CONNECT    403, at once
 *   /unread    200, at once: the body is not asked for
 *   /pieces    reads the body piece by piece, then 200
 *   otherwise  reads the body as a whole, then 200
 *
 * It counts the requests that it is given (`seen` of a row), and keeps, one behind the other, the
 * bodies that it has read to their end (`body` of a row), those of /trailers each followed by
 * "[name:value]" for every trailer. A read that fails is left to the server: no answer. */
#ifndef REDD_TESTS_UNIT_HTTP_ROWS_APP_H
#define REDD_TESTS_UNIT_HTTP_ROWS_APP_H

#include "tests/unit/http_fixture.h"

/** What the app has seen. */
typedef struct rows_app {
    unsigned requests;
    bytes body;
    bytes pieces; /* of a body that has not ended */
} rows_app;

static inline void rows_app_clear(rows_app *app)
{
    app->requests = 0;
    bytes_clear(&app->body);
    bytes_clear(&app->pieces);
}

static inline void rows_app_free(rows_app *app)
{
    bytes_free(&app->body);
    bytes_free(&app->pieces);
}

static inline bool rows_app_is(redd_slice s, const char *text)
{
    return redd_slice_equal(s, redd_slice_str(text));
}

static inline void rows_app_note_trailers(rows_app *app, const redd_http_request *req)
{
    for (size_t i = 0; i < redd_http_trailer_count(req); i++) {
        redd_http_field f = redd_http_trailer_at(req, i);
        bytes_text(&app->body, "[");
        bytes_add(&app->body, f.name.data, f.name.len);
        bytes_text(&app->body, ":");
        bytes_add(&app->body, f.value.data, f.value.len);
        bytes_text(&app->body, "]");
    }
}

static inline void rows_app_on_body(redd_http_request *req, int status, redd_slice data, bool last,
                                    void *user)
{
    rows_app *app = user;
    if (status)
        return;
    bytes_add(&app->pieces, data.data, data.len);
    if (!last) {
        HTTP_MUST(redd_http_read(req, rows_app_on_body, app) == 0);
        return;
    }
    bytes_add(&app->body, app->pieces.data, app->pieces.len);
    bytes_clear(&app->pieces);
    if (rows_app_is(redd_http_path(req), "/trailers"))
        rows_app_note_trailers(app, req);
    HTTP_MUST(redd_http_respond_text(req, 200, "ok") == 0);
}

static inline void rows_app_handler(redd_http_request *req, void *user)
{
    rows_app *app = user;
    redd_slice path = redd_http_path(req);
    app->requests++;
    bytes_clear(&app->pieces);
    if (rows_app_is(redd_http_method(req), "CONNECT"))
        HTTP_MUST(redd_http_respond_text(req, 403, "no") == 0);
    else if (rows_app_is(path, "/unread"))
        HTTP_MUST(redd_http_respond_text(req, 200, "ok") == 0);
    else if (rows_app_is(path, "/pieces"))
        HTTP_MUST(redd_http_read(req, rows_app_on_body, app) == 0);
    else
        HTTP_MUST(redd_http_read_all(req, 0, rows_app_on_body, app) == 0);
}

#endif
