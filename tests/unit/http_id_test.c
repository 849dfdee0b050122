/* SPDX-License-Identifier: MIT */
/** X-Request-Id of responses. */
#include "tests/unit/http_peers.h"

typedef struct scene {
    bed b;
    client c;
    reply r;
    char id[160];
    redd_http_upgraded up;
} scene;

static void respond(redd_http_request *req, scene *s, redd_slice path)
{
    static const redd_http_field own = {REDD_SLICE("x-request-ID"), REDD_SLICE("own")};
    if (redd_slice_equal(path, redd_slice_str("/stream"))) {
        assert_int_equal(redd_http_start(req, 200, NULL, 0, -1), 0);
        assert_int_equal(redd_http_finish(req), 0);
    } else if (redd_slice_equal(path, redd_slice_str("/own"))) {
        assert_int_equal(redd_http_respond(req, 200, &own, 1, redd_slice_of(NULL, 0)), 0);
    } else if (redd_slice_equal(path, redd_slice_str("/up"))) {
        assert_int_equal(redd_http_upgrade(req, "foo", NULL, 0, &s->up), 0);
        assert_int_equal(redd_output_flush(&s->up.output), 0);
    } else if (!redd_slice_equal(path, redd_slice_str("/nobody"))) {
        assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
    }
}

static void on_request(redd_http_request *req, void *user)
{
    scene *s = user;
    redd_slice id = redd_http_id(req), path = redd_http_path(req);
    assert_true(id.len < sizeof s->id);
    memcpy(s->id, id.data, id.len);
    s->id[id.len] = '\0';
    respond(req, s, path);
}

static void begin(scene *s, bool on)
{
    memset(s, 0, sizeof *s);
    bed_begin(&s->b, on_request, s);
    s->b.options.request_id = on;
    s->b.options.trusted = "unix";
    bed_serve_anew(&s->b, on_request, s);
    peer_open(&s->b, &s->c, "unix");
}

static void end(scene *s)
{
    reply_end(&s->r);
    client_close(&s->c);
    bed_end(&s->b);
}

/* Sends it on a connection of its own, and reads one response. */
static const char *ask(scene *s, const char *request)
{
    static char id[160];
    client_close(&s->c);
    peer_open(&s->b, &s->c, "unix");
    client_text(&s->c, request);
    reply_end(&s->r);
    reply_begin(&s->r, &s->c);
    assert_true(reply_next(&s->r));
    redd_slice got = reply_field(&s->r, "x-request-id");
    assert_true(got.len < sizeof id);
    memcpy(id, got.data ? got.data : "", got.len);
    id[got.len] = '\0';
    return id;
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: h\r\n"

static void on_every_response(void **state)
{
    (void)state;
    scene s;
    begin(&s, true);
    assert_string_equal(ask(&s, GET("/") "\r\n"), s.id);
    assert_int_equal(strlen(s.id), 32);
    assert_string_equal(ask(&s, GET("/stream") "\r\n"), s.id);
    assert_string_equal(ask(&s, GET("/nobody") "\r\n"), s.id);
    assert_int_equal(s.r.status, 500);
    assert_string_equal(ask(&s, GET("/") "X-Request-Id: theirs\r\n\r\n"), "theirs");
    assert_string_equal(ask(&s, GET("/own") "\r\n"), "own");
    end(&s);
}

static void on_an_upgrade(void **state)
{
    (void)state;
    scene s;
    begin(&s, true);
    assert_string_equal(ask(&s, GET("/up") "Connection: upgrade\r\nUpgrade: foo\r\n\r\n"), s.id);
    assert_int_equal(s.r.status, 101);
    redd_output_fini(&s.up.output);
    redd_stream_close(s.up.stream, false);
    end(&s);
}

static void on_refusals(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "\x01\r\n\r\n",           "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/2.0\r\nHost: h\r\n\r\n",
        "FOO / HTTP/1.1\r\n\r\n", GET("/") "A : b\r\n\r\n", GET("/") "A: b\r\n c\r\n\r\n",
    };
    scene s;
    char before[160] = "";
    begin(&s, true);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        const char *id = ask(&s, requests[i]);
        assert_true(s.r.status >= 400);
        assert_int_equal(strlen(id), 32);
        assert_string_not_equal(id, before);
        memcpy(before, id, strlen(id) + 1);
    }
    end(&s);
}

/* A longest id of a peer's with the longest of everything else. */
static void the_longest(void **state)
{
    (void)state;
    scene s;
    bytes text = {0};
    begin(&s, true);
    bytes_text(&text, "GET / HTTP/1.0\r\nConnection: keep-alive\r\nX-Request-Id: ");
    bytes_fill(&text, 'i', 128);
    bytes_text(&text, "\r\n\r\n");
    assert_string_equal(ask(&s, text.data), s.id);
    assert_int_equal(strlen(s.id), 128);
    bytes_free(&text);
    end(&s);
}

static void off_by_default(void **state)
{
    (void)state;
    scene s;
    begin(&s, false);
    assert_string_equal(ask(&s, GET("/") "X-Request-Id: theirs\r\n\r\n"), "");
    assert_string_equal(ask(&s, GET("/own") "\r\n"), "own");
    assert_string_equal(ask(&s, "GET / HTTP/1.1\r\n\r\n"), "");
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_every_response), cmocka_unit_test(on_an_upgrade),
        cmocka_unit_test(on_refusals),       cmocka_unit_test(the_longest),
        cmocka_unit_test(off_by_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
