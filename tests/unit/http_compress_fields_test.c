/* SPDX-License-Identifier: MIT */
/** Which responses are compressed, and which fields tell of it. */
#include "tests/unit/http_compress.h"

static void test_vary_is_extended(void **state)
{
    static const struct {
        const char *before, *after;
    } rows[] = {
        {"Origin", "Origin, Accept-Encoding"},
        {"Origin, Accept", "Origin, Accept, Accept-Encoding"},
        {"Accept-Encoding", "Accept-Encoding"},
        {"origin, ACCEPT-encoding", "origin, ACCEPT-encoding"},
        {"*", "*"},
        {"", "Accept-Encoding"},
        {"X-Accept-Encoding", "X-Accept-Encoding, Accept-Encoding"},
    };
    scene s;
    (void)state;
    scene_begin(&s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int accepts = 0; accepts < 2; accepts++) {
            reply r;
            s.fields[1] = (redd_http_field){REDD_SLICE("vary"), redd_slice_str(rows[i].before)};
            s.n = 2;
            get(&s, accepts ? "gzip" : "identity", &r);
            assert_true(reply_field_is(&r, "vary", rows[i].after));
            assert_true((reply_field(&r, "content-encoding").data != NULL) == accepts);
            reply_end(&r);
        }
    s.fields[1] = FIELD("Vary", "Origin");
    s.fields[2] = FIELD("Vary", "accept-encoding");
    s.n = 3;
    reply r;
    get(&s, "gzip", &r);
    assert_true(redd_slice_equal(reply_field_nth(&r, "vary", 0), redd_slice_str("Origin")));
    assert_true(
        redd_slice_equal(reply_field_nth(&r, "vary", 1), redd_slice_str("accept-encoding")));
    assert_null(reply_field_nth(&r, "vary", 2).data);
    reply_end(&r);
    scene_end(&s);
}

static void test_etag_becomes_weak(void **state)
{
    static const struct {
        const char *before, *after;
    } rows[] = {{"\"abc\"", "W/\"abc\""}, {"W/\"abc\"", "W/\"abc\""}, {"bad", "bad"}, {"", ""}};
    scene s;
    (void)state;
    scene_begin(&s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        reply r;
        s.fields[1] = (redd_http_field){REDD_SLICE("etag"), redd_slice_str(rows[i].before)};
        s.fields[2] = FIELD("Accept-Ranges", "bytes");
        s.n = 3;
        get(&s, "gzip", &r);
        assert_true(reply_field_is(&r, "etag", rows[i].after));
        assert_null(reply_field(&r, "accept-ranges").data);
        reply_end(&r);
        get(&s, "identity", &r);
        assert_true(reply_field_is(&r, "etag", rows[i].before));
        assert_true(reply_field_is(&r, "accept-ranges", "bytes"));
        reply_end(&r);
    }
    scene_end(&s);
}

/* As a 200 would have been (RFC 9110 15.4.5). */
static void test_304_tells_of_the_coded_200(void **state)
{
    scene s;
    reply r;
    (void)state;
    scene_begin(&s);
    s.status = 304;
    s.fields[0] = FIELD("ETag", "\"abc\"");
    bytes_clear(&s.body);
    for (int streamed = 0; streamed < 2; streamed++) {
        s.streamed = streamed;
        get(&s, "gzip", &r);
        assert_true(reply_field_is(&r, "etag", "W/\"abc\""));
        assert_true(reply_field_is(&r, "vary", "Accept-Encoding"));
        assert_null(reply_field(&r, "content-encoding").data);
        reply_end(&r);
        get(&s, "identity", &r);
        assert_true(reply_field_is(&r, "etag", "\"abc\""));
        reply_end(&r);
    }
    s.fields[1] = FIELD("Content-Type", "image/png");
    s.n = 2;
    get(&s, "gzip", &r);
    assert_true(reply_field_is(&r, "etag", "\"abc\""));
    assert_null(reply_field(&r, "vary").data);
    reply_end(&r);
    scene_end(&s);
}

/* --- what is left as it is --- */

typedef struct left {
    unsigned status;
    const char *name, *value; /* of a field beside Content-Type */
    const char *type;         /* NULL: none */
    redd_http_compression mode;
    bool compressed;
} left;

static const left lefts[] = {
    {200, NULL, NULL, "application/json", REDD_HTTP_COMPRESS_DEFAULT, true},
    {200, NULL, NULL, "application/json", REDD_HTTP_COMPRESS_ON, true},
    {200, NULL, NULL, "application/json", REDD_HTTP_COMPRESS_OFF, false},
    {200, NULL, NULL, "image/png", REDD_HTTP_COMPRESS_DEFAULT, false},
    {200, NULL, NULL, "image/png", REDD_HTTP_COMPRESS_ON, true},
    {200, NULL, NULL, NULL, REDD_HTTP_COMPRESS_DEFAULT, false},
    {200, NULL, NULL, NULL, REDD_HTTP_COMPRESS_ON, true},
    {404, NULL, NULL, "text/html", REDD_HTTP_COMPRESS_DEFAULT, true},
    {500, NULL, NULL, "text/html", REDD_HTTP_COMPRESS_DEFAULT, true},
    {206, NULL, NULL, "text/html", REDD_HTTP_COMPRESS_ON, false},
    {204, NULL, NULL, "text/html", REDD_HTTP_COMPRESS_ON, false},
    {205, NULL, NULL, "text/html", REDD_HTTP_COMPRESS_ON, false},
    {200, "Content-Encoding", "gzip", "text/html", REDD_HTTP_COMPRESS_ON, false},
    {200, "content-encoding", "identity", "text/html", REDD_HTTP_COMPRESS_ON, false},
    {200, "Content-Range", "bytes 0-9999/10000", "text/html", REDD_HTTP_COMPRESS_ON, false},
    {200, "Cache-Control", "no-transform", "text/html", REDD_HTTP_COMPRESS_ON, false},
    {200, "cache-control", "max-age=1, No-Transform", "text/html", REDD_HTTP_COMPRESS_ON, false},
    {200, "Cache-Control", "no-transformers", "text/html", REDD_HTTP_COMPRESS_ON, true},
    {200, "Content-Digest", "sha-256=:x:", "text/html", REDD_HTTP_COMPRESS_ON, false},
    {200, "Repr-Digest", "sha-256=:x:", "text/html", REDD_HTTP_COMPRESS_ON, false},
    {200, "Content-MD5", "x", "text/html", REDD_HTTP_COMPRESS_ON, false},
};

static void check_left(scene *s, const left *l)
{
    reply r;
    s->n = 0;
    s->status = l->status;
    s->mode = l->mode;
    if (l->type)
        s->fields[s->n++] = (redd_http_field){REDD_SLICE("Content-Type"), redd_slice_str(l->type)};
    if (l->name)
        s->fields[s->n++] = (redd_http_field){redd_slice_str(l->name), redd_slice_str(l->value)};
    get(s, "gzip", &r);
    if (l->compressed) {
        assert_decodes(&r, REDD__HTTP_GZIP, &s->body);
    } else {
        bool own = l->name && redd_slice_equal_nocase(redd_slice_str(l->name),
                                                      redd_slice_str("content-encoding"));
        assert_true((reply_field(&r, "content-encoding").data != NULL) == own);
        bool bodyless = l->status == 204 || l->status == 205;
        assert_true(bytes_are(&r.body, s->body.data, bodyless ? 0 : s->body.len));
    }
    assert_true((reply_field(&r, "vary").data != NULL) == l->compressed);
    reply_end(&r);
}

static void test_what_is_left(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    for (size_t i = 0; i < sizeof lefts / sizeof *lefts; i++)
        for (int streamed = 0; streamed < 2; streamed++) {
            s.streamed = streamed;
            check_left(&s, &lefts[i]);
        }
    scene_end(&s);
}

static void test_option_off(void **state)
{
    scene s;
    reply r;
    (void)state;
    scene_begin(&s);
    client_close(&s.c);
    s.b.options.compress = 0;
    bed_serve_anew(&s.b, on_request, &s);
    client_open(&s.b, &s.c);
    get(&s, "gzip", &r);
    assert_true(bytes_are(&r.body, s.body.data, s.body.len));
    assert_null(reply_field(&r, "vary").data);
    reply_end(&r);
    s.mode = REDD_HTTP_COMPRESS_ON;
    get(&s, "gzip", &r);
    assert_decodes(&r, REDD__HTTP_GZIP, &s.body);
    reply_end(&r);
    scene_end(&s);
}

static void test_small_and_what_does_not_shrink(void **state)
{
    scene s;
    reply r;
    (void)state;
    scene_begin(&s);
    s.body.len = 1023;
    get(&s, "gzip", &r);
    assert_true(bytes_are(&r.body, s.body.data, 1023));
    assert_null(reply_field(&r, "vary").data);
    reply_end(&r);
    s.body.len = 1024;
    get(&s, "gzip", &r);
    assert_decodes(&r, REDD__HTTP_GZIP, &s.body);
    reply_end(&r);
    bytes_clear(&s.body);
    noise_fill(&s.body, 5000);
    s.fields[1] = FIELD("ETag", "\"abc\"");
    s.n = 2;
    for (size_t i = 0; i < N_MADE_CODINGS; i++) {
        get(&s, coding_name(made_codings[i]), &r);
        assert_true(bytes_are(&r.body, s.body.data, 5000));
        assert_null(reply_field(&r, "content-encoding").data);
        assert_true(reply_field_is(&r, "etag", "\"abc\""));
        assert_true(reply_field_is(&r, "vary", "Accept-Encoding"));
        reply_end(&r);
    }
    scene_end(&s);
}

static void test_types(void **state)
{
    static const char *const shrink[] = {
        "text/html",
        "text/plain; charset=utf-8",
        "TEXT/CSS",
        "text/x-anything",
        "application/json",
        "application/ld+json",
        "image/svg+xml",
        "application/wasm",
        "font/ttf",
        "application/xml ;a=b",
        "Application/JSON;charset=utf-8",
    };
    static const char *const stay[] = {
        "text/event-stream",
        "text/event-stream; charset=utf-8",
        "image/png",
        "video/mp4",
        "application/zip",
        "application/octet-stream",
        "text/",
        "+json",
        "font/woff2",
        "application/jsonx",
        "",
        ";text/html",
    };
    scene s;
    reply r;
    (void)state;
    scene_begin(&s);
    for (size_t i = 0; i < sizeof shrink / sizeof *shrink; i++) {
        s.fields[0].value = redd_slice_str(shrink[i]);
        get(&s, "gzip", &r);
        assert_decodes(&r, REDD__HTTP_GZIP, &s.body);
        reply_end(&r);
    }
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++) {
        s.fields[0].value = redd_slice_str(stay[i]);
        get(&s, "gzip", &r);
        assert_true(bytes_are(&r.body, s.body.data, s.body.len));
        reply_end(&r);
    }
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vary_is_extended),
        cmocka_unit_test(test_etag_becomes_weak),
        cmocka_unit_test(test_304_tells_of_the_coded_200),
        cmocka_unit_test(test_what_is_left),
        cmocka_unit_test(test_option_off),
        cmocka_unit_test(test_small_and_what_does_not_shrink),
        cmocka_unit_test(test_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
