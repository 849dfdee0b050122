/* SPDX-License-Identifier: MIT */
/** The PROXY protocol: each header alone, and before requests. */
#include "tests/unit/http_peers.h"
#include "tests/unit/http_proxy_rows.h"

#include <redd/metrics.h>

static void must_be(const row *r, size_t i, const redd__proxy_header *h)
{
    bool peer = strcmp(r->client, "peer") == 0, local = strcmp(r->client, "unix") == 0;
    if (h->named == peer || h->https != r->https || h->client.port != r->port ||
        h->client.local != local || (!peer && !local && strcmp(h->client.host, r->client) != 0))
        fail_msg("row %zu: %s %u", i, h->client.host, h->client.port);
}

static void each_header(void **state)
{
    (void)state;
    redd__proxy_header h;
    for (size_t i = 0; i < N_ROWS; i++) {
        const row *r = &rows[i];
        for (size_t n = 0; n < r->header.len; n++) {
            redd__proxy_parsed got = redd__proxy_parse(redd_slice_of(r->header.data, n), &h);
            if (got == REDD__PROXY_DONE || (got == REDD__PROXY_BAD && r->is != REDD__PROXY_BAD))
                fail_msg("row %zu is %d after %zu bytes", i, got, n);
        }
        if (redd__proxy_parse(r->header, &h) != r->is)
            fail_msg("row %zu is not %d", i, r->is);
        if (r->is == REDD__PROXY_DONE) {
            assert_int_equal(h.len, r->header.len);
            must_be(r, i, &h);
        }
    }
}

/* What follows is no part of it. */
static void bytes_behind(void **state)
{
    (void)state;
    redd__proxy_header h;
    for (size_t i = 0; i < N_ROWS; i++) {
        bytes b = {0};
        bytes_add(&b, rows[i].header.data, rows[i].header.len);
        bytes_text(&b, "PROXY TCP4 6.6.6.6 6.6.6.6 6 6\r\n");
        if (rows[i].is == REDD__PROXY_DONE) {
            assert_int_equal(redd__proxy_parse(redd_slice_of(b.data, b.len), &h), REDD__PROXY_DONE);
            assert_int_equal(h.len, rows[i].header.len);
            must_be(&rows[i], i, &h);
        }
        bytes_free(&b);
    }
}

/* A line of 107 bytes is the longest, a block of 4,096 too. */
static void the_largest(void **state)
{
    (void)state;
    redd__proxy_header h;
    bytes b = {0};
    bytes_text(&b, "PROXY UNKNOWN ");
    bytes_fill(&b, 'x', 107 - 14 - 2);
    bytes_text(&b, "\r\n");
    assert_int_equal(b.len, 107);
    assert_int_equal(redd__proxy_parse(redd_slice_of(b.data, b.len), &h), REDD__PROXY_DONE);
    assert_int_equal(redd__proxy_parse(redd_slice_of(b.data, 106), &h), REDD__PROXY_MORE);
    b.data[105] = 'x';
    assert_int_equal(redd__proxy_parse(redd_slice_of(b.data, 106), &h), REDD__PROXY_MORE);
    assert_int_equal(redd__proxy_parse(redd_slice_of(b.data, 107), &h), REDD__PROXY_BAD);
    b.data[106] = '\r'; /* its line feed would be the 108th byte */
    assert_int_equal(redd__proxy_parse(redd_slice_of(b.data, 107), &h), REDD__PROXY_BAD);
    bytes_clear(&b);
    bytes_add(&b, SIGNATURE "\x21\x11\x0f\xf0" V4 "\x04\x0f\xe1", 31);
    bytes_fill(&b, 'x', 4096 - 31);
    assert_int_equal(redd__proxy_parse(redd_slice_of(b.data, 4095), &h), REDD__PROXY_MORE);
    assert_int_equal(redd__proxy_parse(redd_slice_of(b.data, b.len), &h), REDD__PROXY_DONE);
    assert_int_equal(h.len, 4096);
    bytes_free(&b);
}

/* --- before requests --- */

#define GET "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

typedef struct scene {
    bed b;
    redd_address client, peer;
    bool https;
    unsigned requests;
} scene;

static void on_request(redd_http_request *req, void *user)
{
    scene *s = user;
    redd_http_client(req, &s->client);
    redd_http_peer(req, &s->peer);
    s->https = redd_slice_equal(redd_http_scheme(req), redd_slice_str("https"));
    s->requests++;
    (void)redd_http_respond_text(req, 200, "ok");
}

static void scene_options(scene *s)
{
    s->b.options.trusted = "10.0.0.0/8, unix";
    s->b.options.proxy_protocol = 1;
    s->b.options.head_timeout_ms = 5000;
    s->b.options.keep_alive_ms = 60000;
}

static void scene_begin(scene *s)
{
    memset(s, 0, sizeof *s);
    bed_begin(&s->b, on_request, s);
    scene_options(s);
    bed_serve_anew(&s->b, on_request, s);
}

static uint64_t refused(scene *s)
{
    return redd_metric_sum(s->b.rt, "redd_http_proxy_refused", 0);
}

/* The header and a request, in two pieces, or byte by byte when `cut` is 0. */
static void send_cut(scene *s, client *c, redd_slice header, size_t cut)
{
    bytes b = {0};
    peer_open(&s->b, c, "10.0.0.1");
    bytes_add(&b, header.data, header.len);
    bytes_text(&b, GET);
    if (cut == 0) {
        client_send_cut(c, b.data, b.len, 1);
    } else {
        client_send(c, b.data, cut);
        client_send(c, b.data + cut, b.len - cut);
    }
    bytes_free(&b);
}

static void play_row(scene *s, size_t i, size_t cut)
{
    const row *r = &rows[i];
    client c;
    unsigned requests = s->requests;
    uint64_t before = refused(s);
    send_cut(s, &c, r->header, cut);
    if (r->is == REDD__PROXY_DONE) {
        redd__proxy_header h = {.named = true, .client = s->client, .https = s->https};
        assert_int_equal(s->requests, requests + 1);
        if (strcmp(r->client, "peer") == 0)
            assert_string_equal(s->client.host, "10.0.0.1");
        else
            must_be(r, i, &h);
        assert_string_equal(s->peer.host, "10.0.0.1");
        assert_int_equal(refused(s), before);
        client_text(&c, GET); /* the connection's, not the request's */
        assert_int_equal(s->requests, requests + 2);
    } else {
        assert_int_equal(s->requests, requests);
        assert_int_equal(c.got.len, 0);
        assert_true(c.eof);
        assert_int_equal(refused(s), before + 1);
    }
    client_close(&c);
}

static void cut_everywhere(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    for (size_t i = 0; i < N_ROWS; i++)
        for (size_t cut = 0; cut <= rows[i].header.len + 1; cut++)
            play_row(&s, i, cut);
    bed_end(&s.b);
}

/* Who begins with HTTP where a header is due is not answered in HTTP. */
static void without_a_header(void **state)
{
    (void)state;
    scene s;
    client c;
    scene_begin(&s);
    peer_open(&s.b, &c, "unix");
    client_text(&c, GET);
    assert_true(c.eof);
    assert_int_equal(c.got.len, 0);
    assert_int_equal(s.requests, 0);
    assert_int_equal(refused(&s), 1);
    client_close(&c);
    bed_end(&s.b);
}

static void peers_that_are_not_trusted(void **state)
{
    (void)state;
    static const redd_slice headers[] = {REDD_SLICE("PROXY UNKNOWN\r\n"), REDD_SLICE(PROXY4 V4)};
    scene s;
    client c;
    scene_begin(&s);
    peer_open(&s.b, &c, "203.0.113.9");
    client_text(&c, GET);
    assert_int_equal(s.requests, 1);
    assert_string_equal(s.client.host, "203.0.113.9");
    client_close(&c);
    for (size_t i = 0; i < 2; i++) {
        reply r;
        peer_open(&s.b, &c, "203.0.113.9");
        client_send(&c, headers[i].data, headers[i].len);
        client_text(&c, GET);
        reply_begin(&r, &c);
        assert_true(reply_next(&r));
        assert_true(r.status == 400 || r.status == 501); /* PROXY is a method that we do not have */
        assert_true(reply_closes(&r));
        reply_end(&r);
        client_close(&c);
    }
    assert_int_equal(s.requests, 1);
    assert_int_equal(refused(&s), 0);
    bed_end(&s.b);
}

/* A second header is part of HTTP. */
static void one_header_a_connection(void **state)
{
    (void)state;
    scene s;
    client c;
    scene_begin(&s);
    peer_open(&s.b, &c, "10.0.0.1");
    client_text(&c, "PROXY UNKNOWN\r\nPROXY UNKNOWN\r\n" GET);
    assert_int_equal(s.requests, 0);
    assert_memory_equal(c.got.data, "HTTP/1.1 ", 9);
    client_close(&c);
    bed_end(&s.b);
}

/* The header's client is one hop more: it is asked on when it is trusted itself. */
static void with_forwarded(void **state)
{
    (void)state;
    scene s;
    client c;
    scene_begin(&s);
    peer_open(&s.b, &c, "10.0.0.1");
    client_text(&c, "PROXY TCP4 10.7.7.7 10.0.0.1 1 2\r\nGET / HTTP/1.1\r\nHost: h\r\n"
                    "Forwarded: for=198.51.100.1;proto=https\r\n\r\n");
    assert_string_equal(s.client.host, "198.51.100.1");
    assert_true(s.https);
    client_close(&c);
    peer_open(&s.b, &c, "10.0.0.1");
    client_text(&c, "PROXY TCP4 203.0.113.9 10.0.0.1 1 2\r\nGET / HTTP/1.1\r\nHost: h\r\n"
                    "Forwarded: for=198.51.100.1;proto=https\r\n\r\n");
    assert_string_equal(s.client.host, "203.0.113.9");
    assert_int_equal(s.client.port, 1);
    assert_false(s.https);
    client_close(&c);
    bed_end(&s.b);
}

static void late(void **state)
{
    (void)state;
    scene s;
    client c;
    scene_begin(&s);
    peer_open(&s.b, &c, "10.0.0.1"); /* silent */
    client_wait(&c, 4999);
    assert_false(c.eof);
    client_wait(&c, 2);
    assert_true(c.eof);
    assert_int_equal(c.got.len, 0);
    assert_int_equal(refused(&s), 1);
    client_close(&c);
    peer_open(&s.b, &c, "10.0.0.1"); /* drop by drop */
    for (int i = 0; i < 10; i++) {
        assert_false(c.eof);
        client_send(&c, &"PROXY TCP4"[i], 1);
        client_wait(&c, 501);
    }
    assert_true(c.eof);
    assert_int_equal(c.got.len, 0);
    assert_int_equal(refused(&s), 2);
    client_close(&c);
    peer_open(&s.b, &c, "10.0.0.1"); /* in time: then it is a connection like any other */
    client_wait(&c, 4000);
    client_text(&c, "PROXY UNKNOWN\r\n");
    client_wait(&c, 59000);
    assert_false(c.eof);
    client_text(&c, GET);
    assert_int_equal(s.requests, 1);
    client_close(&c);
    assert_int_equal(refused(&s), 2);
    bed_end(&s.b);
}

static void ends_before_its_header(void **state)
{
    (void)state;
    static const char *const parts[] = {"", "P", "PROXY TCP4 ", "\r\n\r\n"};
    scene s;
    client c;
    scene_begin(&s);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        peer_open(&s.b, &c, "10.0.0.1");
        client_text(&c, parts[i]);
        client_finish(&c);
        assert_true(c.eof);
        assert_int_equal(c.got.len, 0);
        client_close(&c);
    }
    assert_int_equal(redd_http_server_connections(s.b.server), 0);
    bed_end(&s.b);
}

static void a_server_that_closes(void **state)
{
    (void)state;
    scene s;
    client silent, half, ready;
    scene_begin(&s);
    peer_open(&s.b, &silent, "10.0.0.1");
    peer_open(&s.b, &half, "10.0.0.1");
    client_text(&half, "PROXY ");
    peer_open(&s.b, &ready, "10.0.0.1");
    (void)client_put(&ready, "PROXY UNKNOWN\r\n" GET, strlen("PROXY UNKNOWN\r\n" GET));
    redd_http_server_close(s.b.server, REDD_STOP_GRACEFUL);
    client_settle(&silent);
    client_settle(&half);
    client_settle(&ready);
    assert_true(silent.eof && half.eof && ready.eof);
    assert_int_equal(silent.got.len + half.got.len, 0);
    assert_int_equal(s.requests, 1);
    client_close(&silent);
    client_close(&half);
    client_close(&ready);
    assert_null(s.b.server);
    bed_end(&s.b);
}

/* --- want of memory --- */

static uint64_t play_failing(uint64_t n)
{
    scene s;
    client c;
    memset(&s, 0, sizeof s);
    memset(&c, 0, sizeof c);
    bed_prepare(&s.b);
    redd_counting_allocator_fail_at(s.b.counting, n, false);
    if (bed_try_begin(&s.b) == 0) {
        scene_options(&s);
        if (bed_try_serve(&s.b, NULL, on_request, &s) == 0 &&
            peer_try_open(&s.b, &c, "10.0.0.1") == 0) {
            client_text(&c, "PROXY TCP4 198.51.100.1 ");
            client_text(&c, "10.0.0.1 4711 443\r\n" GET);
        }
    }
    uint64_t failures = bed_memory(&s.b).failures;
    if (failures == 0) {
        assert_int_equal(s.requests, 1);
        assert_string_equal(s.client.host, "198.51.100.1");
    }
    if (s.b.w)
        client_close(&c);
    bytes_free(&c.got);
    bed_end(&s.b);
    return failures;
}

static void each_allocation_fails(void **state)
{
    (void)state;
    uint64_t n = 1;
    while (play_failing(n) > 0)
        n++;
    assert_true(n > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_header),
        cmocka_unit_test(bytes_behind),
        cmocka_unit_test(the_largest),
        cmocka_unit_test(cut_everywhere),
        cmocka_unit_test(without_a_header),
        cmocka_unit_test(peers_that_are_not_trusted),
        cmocka_unit_test(one_header_a_connection),
        cmocka_unit_test(with_forwarded),
        cmocka_unit_test(late),
        cmocka_unit_test(ends_before_its_header),
        cmocka_unit_test(a_server_that_closes),
        cmocka_unit_test(each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
