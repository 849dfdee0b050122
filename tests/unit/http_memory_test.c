/* SPDX-License-Identifier: MIT */
/** A scenario with everything in it, in which each allocation fails in turn. */
#include "tests/unit/http_must.h"

#define HEAD(target) " " target " HTTP/1.1\r\nHost: h\r\n"

/** What the handlers share. */
typedef struct scene {
    bed b;
    client c;
    unsigned requests, ends;
    unsigned answered; /* whole responses that the client has had */
    redd_http_upgraded up;
    bool upgraded;
} scene;

/** A response that takes more than one call. */
typedef struct work {
    scene *s;
    redd_http_request *req; /* a reference */
    redd_timer timer;
    size_t left;
} work;

static void on_end(redd_http_request *req, int status, void *user)
{
    (void)req;
    (void)status;
    ((scene *)user)->ends++;
}

/* --- handlers: who meets an error gives up --- */

static void on_body(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    (void)user;
    (void)last;
    if (status == 0)
        (void)redd_http_respond(req, 200, NULL, 0, data);
}

static void work_end(work *w)
{
    redd_http_on_drain(w->req, NULL, NULL);
    redd_http_request_unref(w->req);
    redd_timer_stop(&w->timer);
    free(w);
}

static void on_work_end(redd_http_request *req, int status, void *user)
{
    work *w = user;
    on_end(req, status, w->s);
    work_end(w);
}

/* Who watches a response's end and cannot go on lets go of it: it is cut then. */
static void give_up(work *w)
{
    redd_http_on_end(w->req, NULL, NULL);
    w->s->ends++;
    work_end(w);
}

static void pump(redd_http_request *req, void *user)
{
    work *w = user;
    char piece[5000];
    memset(piece, 's', sizeof piece);
    int rc = 0;
    while (w->left > 0 && rc == 0) {
        size_t n = w->left < sizeof piece ? w->left : sizeof piece;
        rc = redd_http_write(req, redd_slice_of(piece, n));
        if (rc >= 0)
            w->left -= n;
    }
    if (rc == 0)
        (void)redd_http_finish(req);
    else if (rc != REDD_HTTP_FULL && rc != REDD_ELIMIT)
        give_up(w);
}

static void on_time(redd_timer *t, void *user)
{
    work *w = user;
    (void)t;
    (void)redd_http_respond_text(w->req, 200, "late");
    work_end(w);
}

static work *work_begin(redd_http_request *req, scene *s)
{
    work *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->s = s;
    w->req = redd_http_request_ref(req);
    redd_timer_init(&w->timer, redd_worker_timers(redd_http_worker(req)), on_time, w);
    return w;
}

static void stream(redd_http_request *req, scene *s)
{
    if (redd_http_start(req, 200, NULL, 0, -1))
        return;
    work *w = work_begin(req, s);
    w->left = 300000;
    redd_http_on_drain(req, pump, w);
    redd_http_on_end(req, on_work_end, w);
    pump(req, w);
}

static void on_request(redd_http_request *req, void *user)
{
    scene *s = user;
    redd_slice path = redd_http_path(req);
    s->requests++;
    redd_http_on_end(req, on_end, s);
    if (redd_slice_equal(path, redd_slice_str("/body")))
        (void)redd_http_read_all(req, 0, on_body, s);
    else if (redd_slice_equal(path, redd_slice_str("/stream")))
        stream(req, s);
    else if (redd_slice_equal(path, redd_slice_str("/late")))
        redd_timer_start(&work_begin(req, s)->timer, 10);
    else if (redd_http_upgrade(req, "foo", NULL, 0, &s->up) == 0) {
        s->upgraded = true;
        (void)redd_output_flush(&s->up.output);
    }
}

/* --- the scenario --- */

static void send_requests(client *c)
{
    bytes b = {0};
    bytes_text(&b, "POST" HEAD("/body") "Content-Length: 5000\r\n\r\n");
    bytes_fill(&b, 'b', 5000);
    bytes_text(&b, "POST" HEAD("/body") "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 5; i++) {
        bytes_text(&b, "1000\r\n");
        bytes_fill(&b, 'c', 4096);
        bytes_text(&b, "\r\n");
    }
    bytes_text(&b, "0\r\nTrailer: ");
    bytes_fill(&b, 't', 600); /* in more memory than a first allocation */
    client_send(c, b.data, b.len / 2);
    client_send(c, b.data + b.len / 2, b.len - b.len / 2);
    client_text(c, "more\r\n\r\n");
    bytes_clear(&b);
    bytes_text(&b, "GET" HEAD("/stream") "\r\nGET" HEAD("/late") "Long: ");
    bytes_fill(&b, 'l', 2000);
    bytes_text(&b, "\r\n\r\nGET" HEAD("/up") "Upgrade: foo\r\n");
    client_send(c, b.data, b.len);
    client_wait(c, 10);
    client_text(c, "Connection: upgrade\r\n\r\nleftover");
    bytes_free(&b);
}

/* Whole responses only, and then perhaps the end. */
static void read_replies(scene *s)
{
    reply r;
    reply_begin(&r, &s->c);
    while (reply_next(&r)) {
        assert_true(r.status == 200 || r.status == 101 || r.status == 500 || r.status == 503);
        s->answered += r.status == 200 || r.status == 101;
    }
    assert_true(reply_at_end(&r) || s->c.reset);
    reply_end(&r);
}

static void play(scene *s)
{
    if (bed_try_begin(&s->b))
        return;
    s->b.options.max_queued = 16 << 10;
    if (bed_try_serve(&s->b, NULL, on_request, s))
        return;
    bool open = client_try_open(&s->b, &s->c, 8192) == 0;
    if (open) {
        send_requests(&s->c);
        read_replies(s);
    }
    if (s->upgraded) {
        redd_output_fini(&s->up.output);
        redd_stream_close(s->up.stream, false);
    }
    if (s->c.stream)
        client_go(&s->c, false);
    bytes_free(&s->c.got);
    redd_clock_advance(s->b.clock, 100000);
    bed_settle(&s->b);
    assert_int_equal(redd_http_server_connections(s->b.server), 0);
    redd_http_server_close(s->b.server, REDD_STOP_GRACEFUL);
    bed_settle(&s->b);
    assert_int_equal(s->b.server_ends, 1);
    assert_int_equal(s->ends, s->requests);
}

/* Returns how many allocations failed. */
static uint64_t play_failing(uint64_t n, bool sticky)
{
    scene s;
    memset(&s, 0, sizeof s);
    bed_prepare(&s.b);
    redd_counting_allocator_fail_at(s.b.counting, n, sticky);
    play(&s);
    uint64_t failures = bed_memory(&s.b).failures;
    if (failures == 0) {
        assert_int_equal(s.requests, 5);
        assert_int_equal(s.answered, 5);
        assert_true(s.upgraded);
    }
    bed_end(&s.b);
    return failures;
}

static void test_without_failure(void **state)
{
    (void)state;
    assert_int_equal(play_failing(0, false), 0);
}

static void test_each_allocation_fails(void **state)
{
    (void)state;
    uint64_t n = 1;
    while (play_failing(n, false) > 0)
        n++;
    assert_true(n > 50);
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    for (uint64_t n = 1; play_failing(n, true) > 0; n++)
        ;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_failure),
        cmocka_unit_test(test_each_allocation_fails),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
