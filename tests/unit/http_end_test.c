/* SPDX-License-Identifier: MIT */
/** How requests end: once, with the right status, whoever holds them. */
#include "tests/unit/http_must.h"

#define POST(fields) "POST /p?q HTTP/1.1\r\nHost: h.example\r\nX-Mark: m\r\n" fields "\r\n"
#define GET          POST("")

/** A handler that leaves everything to the test. */
typedef struct hold {
    redd_http_request *req; /* a reference, until dropped */
    bool watch;             /* an end function */
    bool read;              /* asks for a piece of the body */
    bool answer;
    bool answer_next; /* from the second request on */
    bool no_ref;
    unsigned requests, reads, ends;
    int read_status, end_status;
} hold;

/* Getters hold as long as the request does, whatever has become of its connection. */
static void expect_getters(const redd_http_request *req)
{
    assert_true(redd_slice_equal(redd_http_method(req), redd_slice_str("POST")));
    assert_true(redd_slice_equal(redd_http_target(req), redd_slice_str("/p?q")));
    assert_true(redd_slice_equal(redd_http_path(req), redd_slice_str("/p")));
    assert_true(redd_slice_equal(redd_http_query(req), redd_slice_str("q")));
    assert_true(redd_slice_equal(redd_http_host(req), redd_slice_str("h.example")));
    assert_int_equal(redd_http_minor_version(req), 1);
    assert_true(redd_slice_equal(redd_http_field_get(req, "x-mark", 0), redd_slice_str("m")));
    assert_null(redd_http_field_get(req, "x-mark", 1).data);
    assert_non_null(redd_http_worker(req));
    redd_address peer;
    redd_http_peer(req, &peer);
    assert_string_equal(peer.host, "");
}

static void drop(hold *h)
{
    expect_getters(h->req);
    redd_http_request_unref(h->req);
    h->req = NULL;
}

static void on_read(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    hold *h = user;
    (void)data;
    (void)last;
    h->reads++;
    h->read_status = status;
    expect_getters(req);
}

static void on_end(redd_http_request *req, int status, void *user)
{
    hold *h = user;
    assert_int_equal(h->ends++, 0);
    h->end_status = status;
    expect_getters(req);
    /* Nothing can be done with it any more. */
    assert_int_equal(redd_http_respond_text(req, 200, "x"), REDD_ECLOSED);
    assert_int_equal(redd_http_start(req, 200, NULL, 0, -1), REDD_ECLOSED);
    assert_int_equal(redd_http_read(req, on_read, h), REDD_ECLOSED);
    assert_int_equal(redd_http_read_all(req, 0, on_read, h), REDD_ECLOSED);
    redd_http_upgraded up;
    assert_int_equal(redd_http_upgrade(req, "x", NULL, 0, &up), REDD_ECLOSED);
}

static void on_request(redd_http_request *req, void *user)
{
    hold *h = user;
    h->requests++;
    expect_getters(req);
    bool answer = h->answer || (h->answer_next && h->requests > 1);
    if (!h->no_ref && !(answer && h->answer_next))
        h->req = redd_http_request_ref(req);
    if (h->watch)
        redd_http_on_end(req, on_end, h);
    if (h->read)
        assert_int_equal(redd_http_read(req, on_read, h), 0);
    if (answer)
        assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
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
    if (s->h.req)
        drop(&s->h);
    client_close(&s->c);
    if (s->b.server)
        assert_int_equal(redd_http_server_connections(s->b.server), 0);
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

/* --- one end event --- */

static void test_done(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (hold){.watch = true, .answer = true});
    client_text(&s.c, GET);
    expect_status(&s.c, 200, false);
    assert_int_equal(s.h.ends, 1);
    assert_int_equal(s.h.end_status, 0);
    setting_end(&s);
}

/** Without a reference: the end function still finds the head. Other connections have used the
 * worker's read buffer since. */
static void test_getters_at_a_late_end(void **state)
{
    (void)state;
    bed b;
    client slow, other;
    hold h = {.watch = true, .answer = true, .no_ref = true};
    bytes noise = {0};
    bytes_fill(&noise, 'n', 60000);
    bed_begin(&b, on_request, &h);
    client_open_sized(&b, &slow, 64);
    client_put(&slow, "POST /p?q HTTP/1.1\r\nHost: h.example\r\n", 37);
    bed_settle(&b);
    client_put(&slow, "X-Mark: m\r\n\r\n", 13);
    bed_settle(&b);
    assert_int_equal(h.requests, 1);
    assert_int_equal(h.ends, 0);
    client_open(&b, &other);
    client_send(&other, noise.data, noise.len);
    client_settle(&slow);
    assert_int_equal(h.ends, 1);
    assert_int_equal(h.end_status, 0);
    bytes_free(&noise);
    client_close(&slow);
    client_close(&other);
    bed_end(&b);
}

static void test_peer_reset_while_working(void **state)
{
    (void)state;
    for (int read = 0; read < 2; read++) {
        setting s;
        setting_begin(&s, (hold){.watch = true, .read = read});
        client_text(&s.c, read ? POST("Content-Length: 5\r\n") : GET);
        assert_int_equal(s.h.requests, 1);
        client_go(&s.c, true);
        assert_int_equal(s.h.ends, 1);
        assert_int_equal(s.h.end_status, UV_ECONNRESET);
        if (read)
            assert_int_equal(s.h.read_status, UV_ECONNRESET);
        assert_int_equal(s.h.reads, read ? 1 : 0);
        assert_int_equal(redd_http_server_connections(s.b.server), 0);
        drop(&s.h);
        setting_end(&s);
    }
}

/** Also when requests wait behind the one in work. */
static void test_peer_reset_with_pipelined_requests(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (hold){.watch = true});
    client_text(&s.c, GET GET GET);
    client_text(&s.c, GET);
    client_go(&s.c, true);
    assert_int_equal(s.h.requests, 1);
    assert_int_equal(s.h.ends, 1);
    assert_int_equal(s.h.end_status, UV_ECONNRESET);
    setting_end(&s);
}

static void test_half_closed_peer_gets_its_answer(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (hold){.watch = true});
    client_text(&s.c, GET);
    client_finish(&s.c);
    assert_int_equal(s.h.ends, 0);
    assert_false(client_ended(&s.c));
    assert_int_equal(redd_http_respond_text(s.h.req, 200, "still"), 0);
    client_settle(&s.c);
    expect_status(&s.c, 200, false);
    assert_int_equal(s.h.ends, 1);
    assert_int_equal(s.h.end_status, 0);
    assert_true(s.c.eof);
    assert_int_equal(redd_http_server_connections(s.b.server), 0);
    setting_end(&s);
}

static void test_half_closed_at_once(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (hold){.answer = true, .no_ref = true});
    client_put(&s.c, GET GET, 2 * strlen(GET));
    client_finish(&s.c);
    assert_int_equal(s.h.requests, 2);
    reply r;
    reply_begin(&r, &s.c);
    assert_true(reply_next(&r) && reply_next(&r));
    assert_true(reply_at_end(&r));
    reply_end(&r);
    assert_true(s.c.eof);
    setting_end(&s);
}

/** A peer that half-closes and reads slowly gets all of its answers. */
static void test_half_closed_slow_reader(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (hold){.answer = true, .no_ref = true});
    client_close(&s.c);
    client_open_sized(&s.b, &s.c, 200);
    client_put(&s.c, GET GET, 2 * strlen(GET));
    (void)redd_stream_shutdown(s.c.stream);
    for (int i = 0; i < 100; i++) {
        bed_turns(&s.b, 1);
        (void)client_take(&s.c, 10);
    }
    client_settle(&s.c);
    assert_int_equal(s.h.requests, 2);
    reply r;
    reply_begin(&r, &s.c);
    assert_true(reply_next(&r) && reply_next(&r));
    reply_end(&r);
    assert_true(s.c.eof);
    setting_end(&s);
}

/** Responses that are made while the peer's end is found go out all the same. */
static void test_half_closed_with_held_requests(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (hold){.answer_next = true});
    client_close(&s.c);
    client_open_sized(&s.b, &s.c, 120);
    client_put(&s.c, GET GET, 2 * strlen(GET));
    (void)redd_stream_shutdown(s.c.stream);
    bed_settle(&s.b);
    assert_int_equal(s.h.requests, 1);
    assert_int_equal(redd_http_respond_text(s.h.req, 200, "first"), 0);
    drop(&s.h);
    bed_settle(&s.b);
    client_settle(&s.c);
    assert_int_equal(s.h.requests, 2);
    assert_true(replies_are(&s.c, "200,200"));
    assert_true(s.c.eof);
    setting_end(&s);
}

static void test_peer_goes_in_a_head(void **state)
{
    (void)state;
    for (int reset = 0; reset < 2; reset++) {
        setting s;
        setting_begin(&s, (hold){.watch = true});
        client_text(&s.c, "GET / HTTP/1.1\r\nHo");
        client_go(&s.c, reset);
        assert_int_equal(s.h.requests, 0);
        assert_int_equal(redd_http_server_connections(s.b.server), 0);
        setting_end(&s);
    }
}

/* --- who holds it --- */

static void test_outlives_the_connection(void **state)
{
    (void)state;
    setting s;
    bytes long_head = {0};
    setting_begin(&s, (hold){.watch = true});
    bytes_text(&long_head, "POST /p?q HTTP/1.1\r\nHost: h.example\r\nX-Mark: m\r\nLong: ");
    bytes_fill(&long_head, 'l', 5000);
    bytes_text(&long_head, "\r\n\r\n");
    client_send(&s.c, long_head.data, long_head.len);
    client_go(&s.c, true);
    assert_int_equal(s.h.ends, 1);
    assert_int_equal(redd_http_server_connections(s.b.server), 0);
    expect_getters(s.h.req);
    assert_int_equal(redd_http_field_get(s.h.req, "long", 0).len, 5000);
    assert_int_equal(redd_http_field_count(s.h.req), 3);
    redd_http_field f = redd_http_field_at(s.h.req, 1);
    assert_true(redd_slice_equal(f.name, redd_slice_str("X-Mark")));
    assert_int_equal(redd_http_respond_text(s.h.req, 200, "late"), REDD_ECLOSED);
    redd_http_on_end(s.h.req, on_end, &s.h); /* has no effect any more */
    redd_http_server_close(s.b.server, REDD_STOP_FORCED);
    bed_settle(&s.b);
    assert_null(s.b.server);
    expect_getters(s.h.req);
    bytes_free(&long_head);
    setting_end(&s);
}

static void test_nobody_answers(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (hold){.no_ref = true});
    client_text(&s.c, GET);
    expect_status(&s.c, 500, false);
    assert_int_equal(s.b.warnings, 1);
    client_text(&s.c, GET);
    assert_int_equal(s.h.requests, 2);
    setting_end(&s);
}

/** Who gives up the last reference without an answer has answered with 500. */
static void test_reference_dropped_unanswered(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (hold){0});
    client_text(&s.c, GET);
    assert_int_equal(s.c.got.len, 0);
    drop(&s.h);
    client_settle(&s.c);
    expect_status(&s.c, 500, false);
    setting_end(&s);
}

/** Who has read the body, and neither answers nor keeps the request. */
static void test_body_read_unanswered(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (hold){.no_ref = true, .read = true});
    client_text(&s.c, POST("Content-Length: 5\r\n"));
    assert_int_equal(s.c.got.len, 0);
    client_text(&s.c, "hello");
    assert_int_equal(s.h.reads, 1);
    expect_status(&s.c, 500, false);
    setting_end(&s);
}

/** An end function alone is a promise to answer. */
static void test_end_function_holds(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (hold){.no_ref = true, .watch = true});
    client_text(&s.c, GET);
    assert_int_equal(s.c.got.len, 0);
    assert_int_equal(s.b.warnings, 0);
    client_go(&s.c, false);
    /* A peer that has gone for good is found when something is written to it. */
    assert_int_equal(s.h.ends, 0);
    redd_http_server_close(s.b.server, REDD_STOP_FORCED);
    bed_settle(&s.b);
    assert_int_equal(s.h.ends, 1);
    assert_int_equal(s.h.end_status, UV_ECANCELED);
    setting_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_done),
        cmocka_unit_test(test_getters_at_a_late_end),
        cmocka_unit_test(test_peer_reset_while_working),
        cmocka_unit_test(test_peer_reset_with_pipelined_requests),
        cmocka_unit_test(test_half_closed_peer_gets_its_answer),
        cmocka_unit_test(test_half_closed_at_once),
        cmocka_unit_test(test_half_closed_slow_reader),
        cmocka_unit_test(test_half_closed_with_held_requests),
        cmocka_unit_test(test_peer_goes_in_a_head),
        cmocka_unit_test(test_outlives_the_connection),
        cmocka_unit_test(test_nobody_answers),
        cmocka_unit_test(test_reference_dropped_unanswered),
        cmocka_unit_test(test_body_read_unanswered),
        cmocka_unit_test(test_end_function_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
