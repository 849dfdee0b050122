/* SPDX-License-Identifier: MIT */
/** Bodies to be compressed, and compressed ones to be read:
 *
 *  /whole?N     N bytes of JSON
 *  /stream?N    the same in pieces of 1,000
 *  /waiting     a piece, and a second one as soon as somebody asks for /go
 *  /page        a page that a browser can load the others from
 *  POST         what was sent, decoded
 */
#include <redd/redd.h>

#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 4 << 20 };

static char body[LARGEST];
static redd_http_request *waiting; /* one worker serves this app */

static void fill(void)
{
    unsigned x = 1;
    for (size_t n = 0; n < LARGEST;) {
        char line[64];
        x = x * 1664525U + 1013904223U;
        int len = snprintf(line, sizeof line, "{\"id\":%zu,\"value\":%u},\n", n, x >> 12);
        size_t left = LARGEST - n;
        len = (size_t)len < left ? len : (int)left;
        memcpy(body + n, line, (size_t)len);
        n += (size_t)len;
    }
}

static size_t length_of(redd_http_request *req)
{
    redd_slice query = redd_http_query(req);
    size_t n = 0;
    for (size_t i = 0; i < query.len && n < LARGEST; i++)
        n = n * 10 + (size_t)(query.data[i] - '0');
    return n < LARGEST ? n : LARGEST;
}

static const redd_http_field json[] = {
    {REDD_SLICE("Content-Type"), REDD_SLICE("application/json")},
    {REDD_SLICE("ETag"), REDD_SLICE("\"1\"")},
};

static void whole(redd_http_request *req)
{
    redd_http_respond(req, 200, json, 2, redd_slice_of(body, length_of(req)));
}

static void stream(redd_http_request *req)
{
    size_t n = length_of(req);
    redd_http_start(req, 200, json, 2, -1);
    for (size_t off = 0; off < n; off += 1000)
        redd_http_write(req, redd_slice_of(body + off, n - off < 1000 ? n - off : 1000));
    redd_http_finish(req);
}

static void wait_for_go(redd_http_request *req)
{
    redd_http_start(req, 200, json, 2, -1);
    redd_http_write(req, redd_slice_str("first"));
    waiting = redd_http_request_ref(req);
}

static void go(redd_http_request *req)
{
    redd_http_write(waiting, redd_slice_str("second"));
    redd_http_finish(waiting);
    redd_http_request_unref(waiting);
    redd_http_respond_text(req, 200, "gone");
}

static void on_body(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    (void)last;
    (void)user;
    redd_http_compress(req, REDD_HTTP_COMPRESS_OFF);
    if (status == 0)
        redd_http_respond_typed(req, 200, "application/octet-stream", data);
}

static void decode(redd_http_request *req)
{
    if (redd_http_decode(req, LARGEST))
        redd_http_respond_text(req, 415, "unknown coding");
    else
        redd_http_read_all(req, 0, on_body, NULL);
}

static bool is(redd_slice s, const char *text)
{
    return redd_slice_equal(s, redd_slice_str(text));
}

static void serve(redd_http_request *req, void *user)
{
    redd_slice path = redd_http_path(req);
    (void)user;
    if (is(redd_http_method(req), "POST"))
        decode(req);
    else if (is(path, "/whole"))
        whole(req);
    else if (is(path, "/stream"))
        stream(req);
    else if (is(path, "/waiting"))
        wait_for_go(req);
    else if (is(path, "/go"))
        go(req);
    else if (is(path, "/page"))
        redd_http_respond_typed(req, 200, "text/html",
                                redd_slice_str("<title>coding</title><link rel=icon href=data:,>"));
    else
        redd_http_respond_text(req, 404, "not here");
}

static int begin(redd_runtime *rt, void **shared)
{
    (void)rt;
    (void)shared;
    fill();
    return 0;
}

REDD_APP(.serve = serve, .init = begin)
