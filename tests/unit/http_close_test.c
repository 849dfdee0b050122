/* SPDX-License-Identifier: MIT */
/** How servers end: gracefully, by force, with their worker, and inside their own callbacks. */
#include "tests/unit/http_must.h"

#define POST(fields) "POST / HTTP/1.1\r\nHost: h\r\n" fields "\r\n"
#define GET          POST("")

/** A handler that answers at once, or leaves that to the test. */
typedef struct hold {
    redd_http_request *req; /* a reference until the end, unless `answer` */
    bool answer;
    unsigned requests, ends;
    int end_status;
} hold;

static void on_end(redd_http_request *req, int status, void *user)
{
    hold *h = user;
    h->ends++;
    h->end_status = status;
    if (h->req == req)
        redd_http_request_unref(req);
}

static void on_request(redd_http_request *req, void *user)
{
    hold *h = user;
    h->requests++;
    redd_http_on_end(req, on_end, h);
    if (h->answer)
        assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
    else
        h->req = redd_http_request_ref(req);
}

typedef struct setting {
    bed b;
    client c;
    hold h;
} setting;

static void setting_begin(setting *s, hold h)
{
    memset(s, 0, sizeof *s);
    s->h = h;
    bed_begin(&s->b, on_request, &s->h);
    client_open(&s->b, &s->c);
}

static void setting_end(setting *s)
{
    client_close(&s->c);
    assert_null(s->b.server);
    assert_int_equal(s->h.ends, s->h.requests);
    bed_end(&s->b);
}

static void expect_status(const client *c, unsigned status, bool closed)
{
    reply r;
    reply_begin(&r, c);
    assert_true(reply_next(&r));
    assert_int_equal(r.status, status);
    assert_int_equal(reply_closes(&r), closed);
    assert_true(reply_at_end(&r));
    reply_end(&r);
}

static void test_graceful_idle(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (hold){.answer = true});
    client_text(&s.c, GET);
    redd_http_server_close(s.b.server, REDD_STOP_GRACEFUL);
    client_settle(&s.c);
    assert_true(s.c.eof);
    assert_false(s.c.reset);
    assert_null(s.b.server);
    assert_int_equal(s.b.server_ends, 1);
    setting_end(&s);
}

static void test_graceful_with_a_request_in_work(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (hold){0});
    client_text(&s.c, GET GET);
    redd_http_server_close(s.b.server, REDD_STOP_GRACEFUL);
    client_settle(&s.c);
    assert_false(client_ended(&s.c));
    assert_int_equal(s.b.server_ends, 0);
    redd_stream *ends[2];
    assert_int_equal(redd_stream_pair(s.b.w, 10, ends), 0);
    assert_int_equal(redd_http_serve_stream(s.b.server, ends[0]), REDD_ECLOSED);
    redd_stream_close(ends[0], false);
    redd_stream_close(ends[1], false);
    assert_int_equal(redd_http_respond_text(s.h.req, 200, "last"), 0);
    client_settle(&s.c);
    expect_status(&s.c, 200, true);
    assert_true(s.c.eof);
    assert_int_equal(s.h.requests, 1);
    assert_int_equal(s.h.ends, 1);
    assert_int_equal(s.h.end_status, 0);
    client_close(&s.c);
    assert_int_equal(s.b.server_ends, 1);
    setting_end(&s);
}

/* The first bytes are read before the close, the others are there when it comes. */
static void check_graceful_in_a_head(const char *head, size_t first, size_t others, bool whole)
{
    setting s;
    setting_begin(&s, (hold){.answer = true});
    client_send(&s.c, head, first);
    assert_int_equal(client_put(&s.c, head + first, others), others);
    redd_http_server_close(s.b.server, REDD_STOP_GRACEFUL);
    client_settle(&s.c);
    assert_true(s.c.eof);
    assert_false(s.c.reset);
    assert_int_equal(s.h.requests, whole);
    if (whole)
        expect_status(&s.c, 200, true);
    else
        assert_int_equal(s.c.got.len, 0);
    client_close(&s.c);
    assert_int_equal(s.b.server_ends, 1);
    setting_end(&s);
}

/** One that stays half sent does not hold up a close; one that has come to its end is a request. */
static void test_graceful_in_a_head(void **state)
{
    (void)state;
    static const char head[] = "POST /p?q HTTP/1.1\r\nHost: h.example\r\nX-Mark: m\r\n\r\n";
    size_t n = sizeof head - 1;
    for (size_t first = 1; first < n; first++) {
        check_graceful_in_a_head(head, first, 0, false);
        check_graceful_in_a_head(head, first, n - first - 1, false);
        check_graceful_in_a_head(head, first, n - first, true);
    }
}

/** More of it than one read takes. */
static void test_graceful_in_a_long_head(void **state)
{
    (void)state;
    setting s;
    bytes rest = {0};
    bytes_fill(&rest, 'v', 40000);
    bytes_text(&rest, "\r\n\r\n");
    setting_begin(&s, (hold){.answer = true});
    client_text(&s.c, "POST /p?q HTTP/1.1\r\nHost: h.example\r\nX-Mark: ");
    assert_int_equal(client_put(&s.c, rest.data, rest.len), rest.len);
    redd_http_server_close(s.b.server, REDD_STOP_GRACEFUL);
    client_settle(&s.c);
    expect_status(&s.c, 200, true);
    assert_true(s.c.eof);
    bytes_free(&rest);
    setting_end(&s);
}

static void test_graceful_then_forced(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (hold){0});
    client_text(&s.c, GET);
    redd_http_server_close(s.b.server, REDD_STOP_GRACEFUL);
    client_settle(&s.c);
    assert_int_equal(s.b.server_ends, 0);
    redd_http_server_close(s.b.server, REDD_STOP_FORCED);
    client_settle(&s.c);
    assert_int_equal(s.h.ends, 1);
    assert_int_equal(s.h.end_status, UV_ECANCELED);
    assert_true(client_ended(&s.c));
    assert_int_equal(s.b.server_ends, 1);
    setting_end(&s);
}

static void test_worker_stops(void **state)
{
    (void)state;
    for (int mode = REDD_STOP_GRACEFUL; mode <= REDD_STOP_FORCED; mode++) {
        setting s;
        client idle;
        setting_begin(&s, (hold){0});
        client_open(&s.b, &idle);
        client_text(&s.c, POST("Content-Length: 5\r\n"));
        bed_detach(&s.b, (redd_stop_mode)mode);
        bed_settle(&s.b);
        if (mode == REDD_STOP_GRACEFUL) {
            assert_int_equal(s.h.ends, 0);
            assert_int_equal(redd_http_respond_text(s.h.req, 200, "last"), 0);
            client_settle(&s.c);
            assert_true(s.c.eof);
        }
        (void)client_take(&idle, 1);
        assert_true(idle.eof);
        assert_int_equal(s.h.ends, 1);
        assert_int_equal(s.h.end_status, mode == REDD_STOP_FORCED ? UV_ECANCELED : 0);
        redd_stream_close(s.c.stream, false);
        redd_stream_close(idle.stream, false);
        s.c.stream = idle.stream = NULL;
        while (!s.b.gone)
            (void)uv_run(&s.b.loop, UV_RUN_ONCE);
        bytes_free(&s.c.got);
        bytes_free(&idle.got);
        bed_end(&s.b);
    }
}

/* --- closing inside callbacks --- */

typedef struct closer {
    bed *b;
    redd_stop_mode mode;
    bool answer_first, answer_after, in_end, in_read;
    unsigned requests, ends;
} closer;

static void close_in_end(redd_http_request *req, int status, void *user)
{
    closer *k = user;
    (void)req;
    (void)status;
    k->ends++;
    if (k->in_end && k->b->server)
        redd_http_server_close(k->b->server, k->mode);
}

static void close_in_read(redd_http_request *req, int status, redd_slice data, bool last,
                          void *user)
{
    closer *k = user;
    (void)data;
    (void)last;
    assert_int_equal(status, 0);
    redd_http_server_close(k->b->server, k->mode);
    if (k->answer_after)
        assert_int_equal(redd_http_respond_text(req, 200, "after"), 0);
}

static void close_inside(redd_http_request *req, void *user)
{
    closer *k = user;
    k->requests++;
    redd_http_on_end(req, close_in_end, k);
    if (k->in_read) {
        assert_int_equal(redd_http_read(req, close_in_read, k), 0);
        return;
    }
    if (k->answer_first)
        assert_int_equal(redd_http_respond_text(req, 200, "before"), 0);
    if (!k->in_end)
        redd_http_server_close(k->b->server, k->mode);
    if (k->answer_after)
        assert_int_equal(redd_http_respond_text(req, 200, "after"), 0);
}

static void test_closed_inside_callbacks(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 32; kind++) {
        bed b;
        client c;
        closer k = {.b = &b,
                    .mode = kind & 1 ? REDD_STOP_FORCED : REDD_STOP_GRACEFUL,
                    .in_end = kind & 2,
                    .in_read = kind & 4,
                    .answer_first = kind & 8,
                    .answer_after = kind & 16};
        if (k.answer_first && k.answer_after)
            continue;
        if (k.in_read && (k.answer_first || k.in_end))
            continue;
        bed_begin(&b, close_inside, &k);
        client_open(&b, &c);
        client_text(&c, POST("Content-Length: 5\r\n") "hello" GET);
        if (b.server && !k.answer_first && !k.answer_after)
            redd_http_server_close(b.server, REDD_STOP_FORCED);
        client_settle(&c);
        client_close(&c);
        assert_int_equal(k.ends, k.requests);
        assert_int_equal(b.server_ends, 1);
        bed_end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graceful_idle),
        cmocka_unit_test(test_graceful_with_a_request_in_work),
        cmocka_unit_test(test_graceful_in_a_head),
        cmocka_unit_test(test_graceful_in_a_long_head),
        cmocka_unit_test(test_graceful_then_forced),
        cmocka_unit_test(test_worker_stops),
        cmocka_unit_test(test_closed_inside_callbacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
