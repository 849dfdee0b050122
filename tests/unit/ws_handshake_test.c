/* SPDX-License-Identifier: MIT */
/** The opening handshake: what is let in, what is refused and how, who may come from a browser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WS_MUST(condition) assert_true(condition)
#include "tests/unit/ws_fixture.h"

#define CAPACITY (256U << 10)

#define LINE              "GET /chat HTTP/1.1\r\n"
#define HOST              "Host: example.org\r\n"
#define UPGRADE           "Upgrade: websocket\r\nConnection: Upgrade\r\n"
#define KEY               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define VERSION           "Sec-WebSocket-Version: 13\r\n"
#define WHOLE             LINE HOST UPGRADE KEY VERSION
#define END               "\r\n"
#define PROTOCOL(value)   "Sec-WebSocket-Protocol:" value "\r\n"
#define EXTENSIONS(value) "Sec-WebSocket-Extensions: " value "\r\n"
#define ORIGIN(value)     "Origin: " value "\r\n"

static bool answer_has(const peer *p, const char *line)
{
    return strstr(p->got.data, line) != NULL;
}

typedef struct row {
    const char *id;
    const char *request;
    unsigned status;
    const char *line; /* that the answer must have; may be NULL */
} row;

static const row rows[] = {
    {"ok", WHOLE END, 101, "\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"},
    {"case",
     "GET / HTTP/1.1\r\nhOST: example.org\r\nuPGRADE: WebSocket\r\nCONNECTION: keep-alive, "
     "UPGRADE\r\nsec-websocket-KEY: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n",
     101, NULL},
    {"tokens-in-two-fields",
     LINE HOST
     "Upgrade: websocket\r\nConnection: keep-alive\r\nConnection: Upgrade\r\n" KEY VERSION END,
     101, NULL},
    {"upgrade-list", LINE HOST "Upgrade: foo, websocket\r\nConnection: Upgrade\r\n" KEY VERSION END,
     101, NULL},
    {"post", "POST / HTTP/1.1\r\nContent-Length: 0\r\n" HOST UPGRADE KEY VERSION END, 405,
     "\r\nAllow: GET\r\n"},
    {"head", "HEAD / HTTP/1.1\r\n" HOST UPGRADE KEY VERSION END, 405, NULL},
    {"http-1.0", "GET / HTTP/1.0\r\n" HOST UPGRADE KEY VERSION END, 400, NULL},
    {"no-host", LINE UPGRADE KEY VERSION END, 400, NULL},
    {"no-upgrade", LINE HOST "Connection: Upgrade\r\n" KEY VERSION END, 426,
     "\r\nUpgrade: websocket\r\n"},
    {"no-connection", LINE HOST "Upgrade: websocket\r\n" KEY VERSION END, 426, NULL},
    {"connection-close", LINE HOST "Upgrade: websocket\r\nConnection: close\r\n" KEY VERSION END,
     426, NULL},
    {"upgrade-other", LINE HOST "Upgrade: websockets\r\nConnection: Upgrade\r\n" KEY VERSION END,
     426, NULL},
    {"no-key", LINE HOST UPGRADE VERSION END, 400, NULL},
    {"key-empty", LINE HOST UPGRADE VERSION "Sec-WebSocket-Key:\r\n" END, 400, NULL},
    {"key-short", LINE HOST UPGRADE VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub24=\r\n" END, 400,
     NULL},
    {"key-23", LINE HOST UPGRADE VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=\r\n" END, 400,
     NULL},
    {"key-17-bytes",
     LINE HOST UPGRADE VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZWU=\r\n" END, 400, NULL},
    {"key-long",
     LINE HOST UPGRADE VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==AAAA\r\n" END, 400,
     NULL},
    {"key-no-base64",
     LINE HOST UPGRADE VERSION "Sec-WebSocket-Key: dGhlIHNhbXBs*SBub25jZQ==\r\n" END, 400, NULL},
    {"key-pad-bits",
     LINE HOST UPGRADE VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZR==\r\n" END, 400, NULL},
    {"key-two", WHOLE KEY END, 400, NULL},
    {"no-version", LINE HOST UPGRADE KEY END, 426, "\r\nSec-WebSocket-Version: 13\r\n"},
    {"version-8", LINE HOST UPGRADE KEY "Sec-WebSocket-Version: 8\r\n" END, 426,
     "\r\nSec-WebSocket-Version: 13\r\n"},
    {"version-14", LINE HOST UPGRADE KEY "Sec-WebSocket-Version: 14\r\n" END, 426,
     "\r\nConnection: upgrade, close\r\n"},
    {"version-0", LINE HOST UPGRADE KEY "Sec-WebSocket-Version: 0\r\n" END, 426, NULL},
    {"version-list", LINE HOST UPGRADE KEY "Sec-WebSocket-Version: 13, 8\r\n" END, 400, NULL},
    {"version-013", LINE HOST UPGRADE KEY "Sec-WebSocket-Version: 013\r\n" END, 400, NULL},
    {"version-empty", LINE HOST UPGRADE KEY "Sec-WebSocket-Version:\r\n" END, 400, NULL},
    {"version-256", LINE HOST UPGRADE KEY "Sec-WebSocket-Version: 256\r\n" END, 400, NULL},
    {"version-13x", LINE HOST UPGRADE KEY "Sec-WebSocket-Version: 13x\r\n" END, 400, NULL},
    {"version-two", WHOLE VERSION END, 400, NULL},
    {"version-two-different", WHOLE "Sec-WebSocket-Version: 8\r\n" END, 400, NULL},
    {"body", WHOLE "Content-Length: 5\r\n" END "hello", 400, NULL},
    {"body-chunked", WHOLE "Transfer-Encoding: chunked\r\n" END "0\r\n\r\n", 400, NULL},
    {"body-of-0", WHOLE "Content-Length: 0\r\n" END, 101, NULL},
    {"protocol-none-known", WHOLE PROTOCOL(" other") END, 101, NULL},
    {"protocol", WHOLE PROTOCOL(" chat") END, 101, "\r\nSec-WebSocket-Protocol: chat\r\n"},
    {"protocol-preferred", WHOLE PROTOCOL(" chat, superchat") END, 101,
     "\r\nSec-WebSocket-Protocol: superchat\r\n"},
    {"protocol-lines", WHOLE PROTOCOL(" chat") PROTOCOL("superchat") END, 101,
     "\r\nSec-WebSocket-Protocol: superchat\r\n"},
    {"protocol-bad-token", WHOLE PROTOCOL(" cha t") END, 400, NULL},
    {"protocol-bad-token-2", WHOLE PROTOCOL(" a@b") END, 400, NULL},
    {"protocol-twice", WHOLE PROTOCOL(" chat, chat") END, 400, NULL},
    {"protocol-twice-lines", WHOLE PROTOCOL(" chat") PROTOCOL(" x, chat") END, 400, NULL},
    {"protocol-empty", WHOLE PROTOCOL("") END, 400, NULL},
    {"protocol-comma", WHOLE PROTOCOL(" ,") END, 400, NULL},
    {"protocol-comma-first", WHOLE PROTOCOL(" ,chat") END, 400, NULL},
    {"protocol-comma-last", WHOLE PROTOCOL(" chat,") END, 400, NULL},
    {"protocol-comma-double", WHOLE PROTOCOL(" chat,,superchat") END, 400, NULL},
    {"extension-unknown", WHOLE EXTENSIONS("x-foo; a=1, x-bar") END, 101, NULL},
    {"extension-deflate", WHOLE EXTENSIONS("permessage-deflate; client_max_window_bits") END, 101,
     NULL},
    {"extension-odd", WHOLE EXTENSIONS(",,,permessage-deflate; server_max_window_bits=7; =\"") END,
     101, NULL},
    {"origin-same", WHOLE ORIGIN("https://example.org") END, 101, NULL},
    {"origin-same-case", WHOLE ORIGIN("HTTP://Example.ORG") END, 101, NULL},
    {"origin-default-port", WHOLE ORIGIN("https://example.org:443") END, 101, NULL},
    {"origin-foreign", WHOLE ORIGIN("https://evil.example") END, 403, "\r\nConnection: close\r\n"},
    {"origin-null", WHOLE ORIGIN("null") END, 403, NULL},
    {"origin-empty", WHOLE "Origin:\r\n" END, 403, NULL},
    {"origin-suffix", WHOLE ORIGIN("https://example.org.evil.example") END, 403, NULL},
    {"origin-prefix", WHOLE ORIGIN("https://evil-example.org") END, 403, NULL},
    {"origin-user", WHOLE ORIGIN("https://example.org@evil.example") END, 403, NULL},
    {"origin-path", WHOLE ORIGIN("https://example.org/") END, 403, NULL},
    {"origin-port", WHOLE ORIGIN("https://example.org:8443") END, 403, NULL},
    {"origin-port-bad", WHOLE ORIGIN("https://example.org:99999") END, 403, NULL},
    {"origin-port-empty", WHOLE ORIGIN("https://example.org:") END, 403, NULL},
    {"origin-scheme", WHOLE ORIGIN("file://example.org") END, 403, NULL},
    {"origin-two", WHOLE ORIGIN("https://example.org") ORIGIN("https://example.org") END, 400,
     NULL},
    {"origin-with-port",
     LINE "Host: example.org:8443\r\n" UPGRADE KEY VERSION ORIGIN("https://example.org:8443") END,
     101, NULL},
    {"origin-host-port-default",
     LINE "Host: example.org:80\r\n" UPGRADE KEY VERSION ORIGIN("http://example.org") END, 101,
     NULL},
    {"origin-other-default",
     LINE "Host: example.org:80\r\n" UPGRADE KEY VERSION ORIGIN("https://example.org") END, 403,
     NULL},
    {"origin-v6", LINE "Host: [::1]:8000\r\n" UPGRADE KEY VERSION ORIGIN("http://[::1]:8000") END,
     101, NULL},
    {"origin-v6-other",
     LINE "Host: [::1]:8000\r\n" UPGRADE KEY VERSION ORIGIN("http://[::2]:8000") END, 403, NULL},
    {"origin-absolute-target",
     "GET http://example.org/chat HTTP/1.1\r\nHost: other.example\r\n" UPGRADE KEY VERSION ORIGIN(
         "https://example.org") END,
     101, NULL},
};

static const char *const known[] = {"superchat", "chat", NULL};

static void rows_hold(void **state)
{
    (void)state;
    bed b;
    bed_begin(&b);
    b.options.protocols = known;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        peer p;
        exchange(&b, &p, r->request);
        unsigned status = status_of(&p);
        bool open = status == 101;
        if (status != r->status || (r->line && !answer_has(&p, r->line)))
            fail_msg("%s: wanted %u, got\n%s", r->id, r->status, p.got.data);
        if (p.opens != open || p.eof == open || answer_has(&p, "Sec-WebSocket-Extensions"))
            fail_msg("%s: %u opens, end %d, got\n%s", r->id, p.opens, p.eof, p.got.data);
        assert_int_equal(redd_ws_count(b.w), open);
        peer_close(&p);
        peer_free(&p);
    }
    bed_end(&b);
}

/* What follows a refused upgrade may be a request that somebody hid: it must not be answered. */
static void nothing_follows_a_refusal(void **state)
{
    (void)state;
    bed b;
    bed_begin(&b);
    peer p;
    exchange(&b, &p, LINE HOST UPGRADE KEY "Sec-WebSocket-Version: 99\r\n" END WHOLE END);
    assert_int_equal(status_of(&p), 426);
    assert_true(answer_has(&p, "close\r\n"));
    assert_null(strstr(p.got.data + 9, "HTTP/1.1"));
    assert_int_equal(p.opens, 0);
    assert_int_equal(b.upgraded, REDD_WS_REFUSED);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

static unsigned status_with_origin(bed *b, const char *origin)
{
    char request[512];
    peer p;
    int n = snprintf(request, sizeof request, WHOLE "%s%s%s" END, origin ? "Origin: " : "",
                     origin ? origin : "", origin ? "\r\n" : "");
    assert_true(n > 0 && (size_t)n < sizeof request);
    exchange(b, &p, request);
    unsigned status = status_of(&p);
    peer_close(&p);
    peer_free(&p);
    return status;
}

static void origins_by_list(void **state)
{
    (void)state;
    static const char *const list[] = {"https://one.example", "http://two.example:8080", NULL};
    bed b;
    bed_begin(&b);
    b.options.origin_policy = REDD_WS_ORIGIN_LIST;
    b.options.origins = list;
    assert_int_equal(status_with_origin(&b, NULL), 101);
    assert_int_equal(status_with_origin(&b, "https://one.example"), 101);
    assert_int_equal(status_with_origin(&b, "https://ONE.example:443"), 101);
    assert_int_equal(status_with_origin(&b, "http://one.example"), 403);
    assert_int_equal(status_with_origin(&b, "http://two.example:8080"), 101);
    assert_int_equal(status_with_origin(&b, "http://two.example"), 403);
    assert_int_equal(status_with_origin(&b, "https://example.org"), 403);
    assert_int_equal(status_with_origin(&b, "null"), 403);
    b.options.origin_policy = REDD_WS_ORIGIN_ANY;
    assert_int_equal(status_with_origin(&b, "https://evil.example"), 101);
    assert_int_equal(status_with_origin(&b, "null"), 101);
    bed_end(&b);
}

/* Too many subprotocols to compare with one another, and long lists of nothing: all in linear time.
 */
static void long_lists(void **state)
{
    (void)state;
    bed b;
    bed_begin(&b);
    bytes request = {0};
    bytes_text(&request, WHOLE "Sec-WebSocket-Protocol: ");
    for (int i = 0; i < 10000; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "%sp%d", i ? "," : "", i);
        bytes_text(&request, name);
    }
    bytes_text(&request, "\r\n\r\n");
    peer p;
    exchange(&b, &p, request.data);
    assert_int_equal(status_of(&p), 400);
    peer_close(&p);
    peer_free(&p);
    bytes_free(&request);
    bed_end(&b);
}

static void fields_of_the_101(void **state)
{
    (void)state;
    static const redd_http_field own[] = {{REDD_SLICE("Set-Cookie"), REDD_SLICE("a=b")},
                                          {REDD_SLICE("X-Any"), REDD_SLICE("thing")}};
    static const redd_http_field reserved[] = {
        {REDD_SLICE("Sec-WebSocket-Accept"), REDD_SLICE("mine")}};
    static const redd_http_field split[] = {{REDD_SLICE("X"), REDD_SLICE("a\r\nB: c")}};
    bed b;
    bed_begin(&b);
    b.options.fields = own;
    b.options.n_fields = 2;
    peer p;
    exchange(&b, &p, WHOLE END);
    assert_int_equal(status_of(&p), 101);
    assert_true(answer_has(&p, "\r\nSet-Cookie: a=b\r\nX-Any: thing\r\n"));
    peer_close(&p);
    peer_free(&p);

    const redd_http_field *bad[] = {reserved, split};
    for (size_t i = 0; i < 2; i++) {
        b.options.fields = bad[i];
        b.options.n_fields = 1;
        exchange(&b, &p, WHOLE END);
        assert_int_equal(b.upgraded, UV_EINVAL);
        assert_int_equal(status_of(&p), 500);
        assert_int_equal(p.opens, 0);
        peer_close(&p);
        peer_free(&p);
    }
    bed_end(&b);
}

static void the_chosen_protocol(void **state)
{
    (void)state;
    bed b;
    bed_begin(&b);
    b.options.protocols = known;
    peer p, q;
    exchange(&b, &p, WHOLE PROTOCOL(" x, chat") END);
    assert_true(redd_slice_equal(redd_ws_protocol(p.ws), redd_slice_str("chat")));
    exchange(&b, &q, WHOLE END);
    assert_int_equal(redd_ws_protocol(q.ws).len, 0);
    assert_int_equal(redd_ws_count(b.w), 2);
    assert_ptr_equal(redd_ws_worker(p.ws), b.w);
    assert_ptr_equal(redd_ws_user(p.ws), &p);
    redd_address a;
    redd_ws_peer(p.ws, &a);
    assert_string_equal(a.host, "");
    peer_close(&p);
    peer_close(&q);
    peer_free(&p);
    peer_free(&q);
    bed_end(&b);
}

static int answered_first;

static void answer_and_upgrade(redd_http_request *req, void *user)
{
    bed *b = user;
    answered_first = redd_http_respond_text(req, 200, "done\n");
    on_request(req, b);
}

static void upgrade_of_an_answered_request(void **state)
{
    (void)state;
    bed b;
    peer p;
    bed_begin(&b);
    assert_int_equal(redd_http_serve(b.w, NULL, NULL, answer_and_upgrade, &b, &b.server), 0);
    exchange(&b, &p, WHOLE END);
    assert_int_equal(answered_first, 0);
    assert_true(b.upgraded == REDD_ESTATE || b.upgraded == REDD_ECLOSED);
    assert_int_equal(status_of(&p), 200);
    peer_close(&p);
    peer_free(&p);
    bed_end(&b);
}

typedef struct odd_sizes {
    bed b;
    int results[3];
} odd_sizes;

static void upgrade_with_odd_sizes(redd_http_request *req, void *user)
{
    static const redd_ws_handlers no_size = {.open = on_open, .close = on_close};
    odd_sizes *odd = user;
    redd_ws_options options = odd->b.options;
    int *results = odd->results;
    results[0] = redd_ws_upgrade(req, NULL, &no_size, NULL);
    options.struct_size = 0;
    results[1] = redd_ws_upgrade(req, &options, &peer_handlers, NULL);
    options.struct_size = sizeof options + 8;
    results[2] = redd_ws_upgrade(req, &options, &peer_handlers, NULL);
    (void)redd_http_respond_text(req, 200, "none\n");
}

/* A policy is never passed over in silence. */
static void sizes_that_are_not_known(void **state)
{
    (void)state;
    odd_sizes odd = {.results = {0}};
    bed *b = &odd.b;
    peer p;
    bed_begin(b);
    assert_int_equal(redd_http_serve(b->w, NULL, NULL, upgrade_with_odd_sizes, &odd, &b->server),
                     0);
    exchange(b, &p, WHOLE END);
    for (int i = 0; i < 3; i++)
        assert_int_equal(odd.results[i], UV_EINVAL);
    assert_int_equal(status_of(&p), 200);
    peer_close(&p);
    peer_free(&p);
    bed_end(b);
}

static void look(redd_http_request *req, void *user)
{
    *(bool *)user = redd_ws_wants_upgrade(req);
    (void)redd_http_respond_text(req, 200, "seen\n");
}

static void who_asks_for_a_websocket(void **state)
{
    (void)state;
    static const struct {
        const char *request;
        bool wants;
    } cases[] = {
        {WHOLE END, true},
        {LINE HOST END, false},
        {LINE HOST "Upgrade: h2c\r\nConnection: Upgrade\r\n" END, false},
        {LINE HOST "Upgrade: h2c, WEBSOCKET\r\n" END, true},
        {"POST / HTTP/1.1\r\nContent-Length: 0\r\n" HOST "Upgrade: websocket\r\n" END, true},
    };
    bed b;
    bed_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool wants = !cases[i].wants;
        redd_http_server *server;
        assert_int_equal(redd_http_serve(b.w, NULL, NULL, look, &wants, &server), 0);
        redd_stream *ends[2];
        assert_int_equal(redd_stream_pair(b.w, CAPACITY, ends), 0);
        assert_int_equal(redd_http_serve_stream(server, ends[1]), 0);
        peer p = {.bed = &b, .stream = ends[0]};
        peer_send(&p, cases[i].request, strlen(cases[i].request));
        peer_settle(&p);
        assert_int_equal(status_of(&p), 200);
        assert_int_equal(wants, cases[i].wants);
        peer_close(&p);
        peer_free(&p);
        redd_http_server_close(server, REDD_STOP_GRACEFUL);
        bed_turns(&b, 3);
    }
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_hold),
        cmocka_unit_test(nothing_follows_a_refusal),
        cmocka_unit_test(origins_by_list),
        cmocka_unit_test(long_lists),
        cmocka_unit_test(fields_of_the_101),
        cmocka_unit_test(the_chosen_protocol),
        cmocka_unit_test(upgrade_of_an_answered_request),
        cmocka_unit_test(sizes_that_are_not_known),
        cmocka_unit_test(who_asks_for_a_websocket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
