/* SPDX-License-Identifier: MIT */
/** Connections that change their protocol: what is handed over, and what is refused. */
#include "tests/unit/http_must.h"

#define UPGRADE(fields)                                                                         \
    "GET /up HTTP/1.1\r\nHost: h\r\nUpgrade: foo\r\nConnection: keep-alive, Upgrade\r\n" fields \
    "\r\n"
#define GET "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
#define ANSWER                                                    \
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n" \
    "Upgrade: foo\r\nX-Extra: yes\r\n\r\n"

static const redd_http_field extra = {REDD_SLICE("X-Extra"), REDD_SLICE("yes")};

/** The other protocol: it takes note of every byte, and says "hello" at first. */
typedef struct taken {
    redd_http_upgraded up;
    redd_http_request *req; /* a reference, when later */
    bool later;             /* the test upgrades */
    bool open;
    bytes in;
    unsigned requests, ends;
    int rc, end_status;
} taken;

static void on_end(redd_http_request *req, int status, void *user)
{
    taken *t = user;
    t->ends++;
    t->end_status = status;
    assert_true(redd_slice_equal(redd_http_path(req), redd_slice_str("/up")));
}

static void upgrade(redd_http_request *req, taken *t)
{
    t->rc = redd_http_upgrade(req, "foo", &extra, 1, &t->up);
    assert_int_equal(t->rc, 0);
    t->open = true;
    bytes_add(&t->in, t->up.leftover.data, t->up.leftover.len);
    assert_int_equal(redd_output_write(&t->up.output, redd_slice_str("hello")), 0);
    assert_int_equal(redd_output_flush(&t->up.output), 0);
    assert_int_equal(redd_http_respond_text(req, 200, "x"), REDD_ECLOSED);
}

static void on_request(redd_http_request *req, void *user)
{
    taken *t = user;
    t->requests++;
    if (!redd_http_wants_upgrade(req, "foo")) {
        assert_int_equal(redd_http_respond_text(req, 200, "plain"), 0);
        return;
    }
    redd_http_on_end(req, on_end, t);
    if (t->later)
        t->req = redd_http_request_ref(req);
    else
        upgrade(req, t);
}

/* What the other protocol reads from the stream by itself. */
static void taken_read(taken *t)
{
    char buf[256];
    size_t n;
    redd_stream_interest(t->up.stream, REDD_STREAM_READ);
    while (redd_stream_read(t->up.stream, buf, sizeof buf, &n) == 0 && n > 0)
        bytes_add(&t->in, buf, n);
}

static void taken_close(taken *t)
{
    if (t->open) {
        redd_output_fini(&t->up.output);
        redd_stream_close(t->up.stream, false);
    }
    bytes_free(&t->in);
}

static void expect_answer(const client *c, const char *before)
{
    size_t n = strlen(before);
    assert_true(c->got.len == n + strlen(ANSWER "hello"));
    assert_memory_equal(c->got.data, before, n);
    assert_memory_equal(c->got.data + n, ANSWER "hello", strlen(ANSWER "hello"));
}

/* --- tests --- */

static void test_leftover_at_every_cut(void **state)
{
    (void)state;
    static const char input[] = UPGRADE("") "not HTTP\r\n\r\n\0\xff any more";
    const size_t head = strlen(UPGRADE("")), len = sizeof input - 1;
    bed b;
    taken t;
    bed_begin(&b, on_request, &t);
    for (size_t cut = 1; cut <= len; cut++) {
        client c;
        memset(&t, 0, sizeof t);
        client_open(&b, &c);
        client_send(&c, input, cut);
        assert_int_equal(t.open, cut >= head);
        client_send(&c, input + cut, len - cut);
        assert_true(t.open);
        if (cut > head)
            assert_int_equal(t.up.leftover.len, cut - head);
        taken_read(&t);
        assert_true(bytes_are(&t.in, input + head, len - head));
        expect_answer(&c, "");
        assert_int_equal(t.requests, 1);
        assert_int_equal(t.ends, 1);
        assert_int_equal(t.end_status, 0);
        assert_int_equal(redd_http_server_connections(b.server), 0);
        taken_close(&t);
        client_close(&c);
    }
    bed_end(&b);
}

static void test_leftover_later(void **state)
{
    (void)state;
    static const char input[] = UPGRADE("") "0123456789";
    bed b;
    client c;
    taken t = {.later = true};
    bed_begin(&b, on_request, &t);
    client_open(&b, &c);
    client_send(&c, input, sizeof input - 1 - 5);
    client_text(&c, "56789");
    assert_false(t.open);
    upgrade(t.req, &t);
    assert_int_equal(t.up.leftover.len, 5);
    redd_http_request_unref(t.req);
    client_settle(&c);
    taken_read(&t);
    assert_true(bytes_are(&t.in, "0123456789", 10));
    expect_answer(&c, "");
    assert_int_equal(redd_http_server_connections(b.server), 0);
    /* The stream is no longer the server's. */
    redd_http_server_close(b.server, REDD_STOP_FORCED);
    bed_settle(&b);
    assert_null(b.server);
    client_text(&c, "still");
    taken_read(&t);
    assert_true(bytes_are(&t.in, "0123456789still", 15));
    taken_close(&t);
    client_close(&c);
    bed_end(&b);
}

static void test_behind_other_requests(void **state)
{
    (void)state;
    bed b;
    client c;
    taken t = {0};
    reply r;
    bed_begin(&b, on_request, &t);
    client_open(&b, &c);
    client_text(&c, GET GET UPGRADE("") "tail");
    assert_int_equal(t.requests, 3);
    assert_true(bytes_are(&t.in, "tail", 4));
    reply_begin(&r, &c);
    assert_true(reply_next(&r) && reply_next(&r));
    assert_int_equal(r.status, 200);
    redd_slice rest = reply_rest(&r);
    assert_int_equal(rest.len, strlen(ANSWER "hello"));
    assert_memory_equal(rest.data, ANSWER "hello", rest.len);
    assert_int_equal(c.meter.writes, 1);
    reply_end(&r);
    taken_close(&t);
    client_close(&c);
    bed_end(&b);
}

/** What waits for a slow peer moves along with the connection. */
static void test_with_output_that_waits(void **state)
{
    (void)state;
    bed b;
    client c;
    taken t = {.later = true};
    bed_begin(&b, on_request, &t);
    client_open_sized(&b, &c, 16);
    for (const char *p = UPGRADE(""); *p; p++) {
        client_put(&c, p, 1);
        bed_turns(&b, 2);
    }
    t.rc = redd_http_upgrade(t.req, "foo", &extra, 1, &t.up);
    assert_int_equal(t.rc, 0);
    redd_http_request_unref(t.req);
    bed_settle(&b);
    assert_int_equal(redd_http_server_connections(b.server), 0);
    redd_stream_interest(t.up.stream, REDD_STREAM_WRITE);
    while (redd_output_flush(&t.up.output) == UV_EAGAIN)
        assert_true(client_take(&c, SIZE_MAX) > 0);
    (void)client_take(&c, SIZE_MAX);
    assert_true(bytes_are(&c.got, ANSWER, strlen(ANSWER)));
    t.open = true;
    taken_close(&t);
    client_close(&c);
    bed_end(&b);
}

static void test_wants(void **state)
{
    (void)state;
    static const struct {
        const char *fields;
        bool wants;
    } rows[] = {
        {"Upgrade: foo\r\nConnection: Upgrade\r\n", true},
        {"Upgrade: foo\r\nConnection: keep-alive, UPGRADE\r\n", true},
        {"Upgrade: foo\r\nConnection: keep-alive\r\nConnection: upgrade\r\n", true},
        {"Upgrade: bar, FOO\r\nConnection: upgrade\r\n", true},
        {"Upgrade: bar\r\nUpgrade: Foo\r\nConnection: upgrade\r\n", true},
        {"Upgrade: foo\r\n", false},
        {"Connection: upgrade\r\n", false},
        {"Upgrade: foo\r\nConnection: upgrades\r\n", false},
        {"Upgrade: foobar\r\nConnection: upgrade\r\n", false},
        {"Upgrade: foo/1\r\nConnection: upgrade\r\n", false},
        {"Upgrade:\r\nConnection: upgrade\r\n", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bed b;
        client c;
        taken t = {0};
        bed_begin(&b, on_request, &t);
        client_open(&b, &c);
        client_text(&c, "GET /up HTTP/1.1\r\nHost: h\r\n");
        client_text(&c, rows[i].fields);
        client_text(&c, "\r\n");
        assert_int_equal(t.requests, 1);
        assert_int_equal(t.open, rows[i].wants);
        taken_close(&t);
        client_close(&c);
        bed_end(&b);
    }
}

/* --- refusals --- */

typedef struct refusal {
    const redd_http_field *fields;
    size_t n;
    const char *protocol;
    bool answer_first, close_first;
    redd_http_server **server;
    int rc;
} refusal;

static void try_upgrade(redd_http_request *req, void *user)
{
    refusal *f = user;
    redd_http_upgraded up;
    if (f->answer_first)
        assert_int_equal(redd_http_respond_text(req, 200, "plain"), 0);
    if (f->close_first)
        redd_http_server_close(*f->server, REDD_STOP_GRACEFUL);
    f->rc = redd_http_upgrade(req, f->protocol, f->fields, f->n, &up);
    if (!f->answer_first)
        assert_int_equal(redd_http_respond_text(req, 200, "plain"), 0);
}

static void check_refused(const char *request, refusal f, int rc)
{
    bed b;
    client c;
    reply r;
    bed_begin(&b, try_upgrade, &f);
    f.server = &b.server;
    client_open(&b, &c);
    client_text(&c, request);
    assert_int_equal(f.rc, rc);
    reply_begin(&r, &c);
    assert_true(reply_next(&r));
    assert_int_equal(r.status, 200);
    assert_true(reply_body_is(&r, "plain"));
    assert_true(reply_at_end(&r));
    reply_end(&r);
    client_close(&c);
    bed_end(&b);
}

static void test_refusals(void **state)
{
    (void)state;
    static const redd_http_field bad_name = {REDD_SLICE("a b"), REDD_SLICE("c")};
    static const redd_http_field bad_value = {REDD_SLICE("a"), REDD_SLICE("b\r\nc: d")};
    static const redd_http_field own = {REDD_SLICE("upgrade"), REDD_SLICE("bar")};
    static const redd_http_field close = {REDD_SLICE("connection"), REDD_SLICE("close")};
    check_refused(UPGRADE(""), (refusal){.protocol = "foo", .fields = &bad_name, .n = 1},
                  UV_EINVAL);
    check_refused(UPGRADE(""), (refusal){.protocol = "foo", .fields = &bad_value, .n = 1},
                  UV_EINVAL);
    check_refused(UPGRADE(""), (refusal){.protocol = "foo", .fields = &own, .n = 1}, UV_EINVAL);
    check_refused(UPGRADE(""), (refusal){.protocol = "foo", .fields = &close, .n = 1}, UV_EINVAL);
    check_refused(UPGRADE(""), (refusal){.protocol = "foo\r\nx: y"}, UV_EINVAL);
    check_refused(UPGRADE(""), (refusal){.protocol = ""}, UV_EINVAL);
    check_refused(UPGRADE("Content-Length: 5\r\n") "hello", (refusal){.protocol = "foo"},
                  UV_EINVAL);
    check_refused(UPGRADE("Transfer-Encoding: chunked\r\n"), (refusal){.protocol = "foo"},
                  UV_EINVAL);
    check_refused("GET / HTTP/1.0\r\nUpgrade: foo\r\nConnection: upgrade\r\n\r\n",
                  (refusal){.protocol = "foo"}, UV_EINVAL);
    check_refused(UPGRADE(""), (refusal){.protocol = "foo", .answer_first = true}, REDD_ESTATE);
    check_refused(UPGRADE(""), (refusal){.protocol = "foo", .close_first = true}, REDD_ESTATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leftover_at_every_cut),
        cmocka_unit_test(test_leftover_later),
        cmocka_unit_test(test_behind_other_requests),
        cmocka_unit_test(test_with_output_that_waits),
        cmocka_unit_test(test_wants),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
