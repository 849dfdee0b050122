/* SPDX-License-Identifier: MIT */
/** Where the memory of compressed responses comes from, and where it goes. */
#include "tests/unit/http_compress.h"

#include "ext/http/state.h"

static const redd__http_encoders *encoders_of(const scene *s)
{
    return &redd__http_state_of(s->b.w)->encoders;
}

static void exchange(scene *s, redd__http_coding coding)
{
    reply r;
    get(s, coding_name(coding), &r);
    assert_decodes(&r, coding, &s->body);
    reply_end(&r);
}

static void test_encoders_are_used_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_MADE_CODINGS; i++)
        for (int streamed = 0; streamed < 2; streamed++) {
            scene s;
            scene_begin(&s);
            s.streamed = streamed;
            for (int n = 0; n < 20; n++) /* by then brotli's blocks suit what it asks for */
                exchange(&s, made_codings[i]);
            redd_allocator_stats first = bed_memory(&s.b), last;
            for (int n = 0; n < 10; n++)
                exchange(&s, made_codings[i]);
            last = bed_memory(&s.b);
            assert_int_equal(last.bytes, first.bytes);
            assert_int_equal(last.allocations, first.allocations);
            assert_int_equal(encoders_of(&s)->n_kept[made_codings[i]], 1);
            scene_end(&s);
        }
}

/* --- many streams --- */

enum { MANY = REDD__HTTP_ENCODERS_MAX + 2 };

typedef struct crowd {
    scene s;
    client clients[MANY];
    redd_http_request *reqs[MANY];
    size_t n;
} crowd;

static void on_many(redd_http_request *req, void *user)
{
    crowd *w = user;
    assert_int_equal(redd_http_start(req, 200, w->s.fields, w->s.n, -1), 0);
    w->reqs[w->n++] = redd_http_request_ref(req);
}

static crowd *crowd_begin(const char *coding, size_t n)
{
    crowd *w = calloc(1, sizeof *w);
    assert_non_null(w);
    scene_begin(&w->s);
    client_close(&w->s.c);
    bed_serve_anew(&w->s.b, on_many, w);
    for (size_t i = 0; i < n; i++) {
        char text[100];
        client_open(&w->s.b, &w->clients[i]);
        (void)snprintf(text, sizeof text,
                       "GET / HTTP/1.1\r\nHost: h\r\nAccept-Encoding: %s\r\n\r\n", coding);
        client_text(&w->clients[i], text);
    }
    assert_int_equal(w->n, n);
    return w;
}

static void crowd_end(crowd *w)
{
    for (size_t i = 0; i < w->n; i++)
        client_close(&w->clients[i]);
    for (size_t i = 0; i < w->n; i++)
        redd_http_request_unref(w->reqs[i]);
    bed_settle(&w->s.b);
    assert_int_equal(encoders_of(&w->s)->in_use, 0);
    client_open(&w->s.b, &w->s.c);
    scene_end(&w->s);
    free(w);
}

static void test_few_are_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_MADE_CODINGS; i++) {
        enum { STREAMS = REDD__HTTP_ENCODERS_KEPT + 3 };
        crowd *w = crowd_begin(coding_name(made_codings[i]), STREAMS);
        assert_int_equal(encoders_of(&w->s)->in_use, STREAMS);
        for (size_t n = 0; n < w->n; n++) {
            assert_int_equal(redd_http_write(w->reqs[n], redd_slice_of(w->s.body.data, 5000)), 0);
            assert_int_equal(redd_http_finish(w->reqs[n]), 0);
            client_settle(&w->clients[n]);
        }
        assert_int_equal(encoders_of(&w->s)->in_use, 0);
        assert_int_equal(encoders_of(&w->s)->n_kept[made_codings[i]], REDD__HTTP_ENCODERS_KEPT);
        crowd_end(w);
    }
}

static void test_too_many_are_sent_as_they_are(void **state)
{
    (void)state;
    crowd *w = crowd_begin("gzip", MANY);
    assert_int_equal(encoders_of(&w->s)->in_use, REDD__HTTP_ENCODERS_MAX);
    for (size_t i = 0; i < MANY; i++) {
        reply r;
        assert_int_equal(redd_http_finish(w->reqs[i]), 0);
        client_settle(&w->clients[i]);
        reply_begin(&r, &w->clients[i]);
        assert_true(reply_next(&r));
        bool coded = reply_field(&r, "content-encoding").data != NULL;
        assert_true(coded == (i < REDD__HTTP_ENCODERS_MAX));
        assert_true(reply_field_is(&r, "vary", "Accept-Encoding"));
        reply_end(&r);
    }
    crowd_end(w);
}

/* Clients that go, responses that are given up, and a server that stops. */
static void test_streams_that_do_not_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_MADE_CODINGS; i++)
        for (int how = 0; how < 4; how++) {
            crowd *w = crowd_begin(coding_name(made_codings[i]), 3);
            for (size_t n = 0; n < 3; n++)
                assert_int_equal(redd_http_write(w->reqs[n], redd_slice_of(w->s.body.data, 5000)),
                                 0);
            if (how == 1) {
                redd_http_request_unref(w->reqs[0]); /* nobody can finish it */
                w->reqs[0] = NULL;
                client_settle(&w->clients[0]);
                assert_true(w->clients[0].reset);
            } else if (how == 2)
                client_go(&w->clients[1], true);
            else if (how == 3) {
                redd_http_server_close(w->s.b.server, REDD_STOP_FORCED);
                bed_settle(&w->s.b);
                assert_int_equal(encoders_of(&w->s)->in_use, 0);
                HTTP_MUST(bed_try_serve(&w->s.b, NULL, on_many, w) == 0);
            }
            crowd_end(w);
        }
}

/* --- a slow reader --- */

typedef struct slow {
    scene *s;
    size_t off;
    unsigned refusals, fulls;
} slow;

static void pump(redd_http_request *req, void *user)
{
    slow *w = user;
    int rc = 0;
    while (w->off < w->s->body.len && rc == 0) {
        size_t left = w->s->body.len - w->off, n = left < 3000 ? left : 3000;
        rc = redd_http_write(req, redd_slice_of(w->s->body.data + w->off, n));
        if (rc >= 0)
            w->off += n;
        w->refusals += rc == REDD_ELIMIT;
        w->fulls += rc == REDD_HTTP_FULL;
    }
    assert_true(rc == 0 || rc == REDD_HTTP_FULL || rc == REDD_ELIMIT);
    if (rc == 0)
        assert_int_equal(redd_http_finish(req), 0);
}

static void check_slow(redd__http_coding coding)
{
    scene s;
    slow w = {.s = &s};
    reply r;
    scene_begin(&s);
    client_close(&s.c);
    s.b.options.max_queued = 16 << 10;
    bed_serve_anew(&s.b, on_request, &s);
    client_open_sized(&s.b, &s.c, 1024);
    bytes_clear(&s.body);
    noise_fill(&s.body, 200000);
    s.streamed = true;
    s.piece = 0;
    char text[100];
    (void)snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: h\r\nAccept-Encoding: %s\r\n\r\n",
                   coding_name(coding));
    assert_int_equal(client_put(&s.c, text, strlen(text)), strlen(text));
    bed_settle(&s.b);
    redd_http_on_drain(s.req, pump, &w);
    pump(s.req, &w);
    assert_true(w.fulls > 0);
    assert_true(w.off < s.body.len);
    client_settle(&s.c);
    redd_http_request_unref(s.req);
    reply_begin(&r, &s.c);
    assert_true(reply_next(&r) && reply_at_end(&r));
    assert_decodes(&r, coding, &s.body);
    reply_end(&r);
    scene_end(&s);
}

static void test_slow_reader(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_MADE_CODINGS; i++)
        check_slow(made_codings[i]);
}

/* --- each allocation fails --- */

static void on_failing(redd_http_request *req, void *user)
{
    scene *s = user;
    bool streamed = redd_slice_equal(redd_http_path(req), redd_slice_str("/stream"));
    if (!streamed) {
        (void)redd_http_respond(req, 200, s->fields, s->n,
                                redd_slice_of(s->body.data, s->body.len));
        return;
    }
    if (redd_http_start(req, 200, s->fields, s->n, -1))
        return;
    for (size_t off = 0; off < s->body.len; off += 10000)
        if (redd_http_write(req, redd_slice_of(s->body.data + off, 10000)) < 0)
            return;
    (void)redd_http_finish(req);
}

/* Whole responses, coded or not, that hold the body; or a 500; or the end of the connection. */
static void read_failing(const scene *s)
{
    reply r;
    reply_begin(&r, &s->c);
    while (reply_next(&r)) {
        redd_slice coding = reply_field(&r, "content-encoding");
        if (coding.data)
            assert_decodes(&r, redd__http_coding_named(coding), &s->body);
        else if (r.status == 200)
            assert_true(bytes_are(&r.body, s->body.data, s->body.len));
        else
            assert_true(r.status == 500 || r.status == 503);
    }
    assert_true(reply_at_end(&r) || s->c.reset);
    reply_end(&r);
}

static void play(scene *s)
{
    if (bed_try_begin(&s->b))
        return;
    s->b.options.compress = 1;
    if (bed_try_serve(&s->b, NULL, on_failing, s))
        return;
    for (size_t i = 0; i < N_MADE_CODINGS; i++) {
        char text[200];
        const char *name = coding_name(made_codings[i]);
        (void)snprintf(text, sizeof text,
                       "GET / HTTP/1.1\r\nHost: h\r\nAccept-Encoding: %s\r\n\r\n"
                       "GET /stream HTTP/1.1\r\nHost: h\r\nAccept-Encoding: %s\r\n\r\n",
                       name, name);
        if (client_try_open(&s->b, &s->c, CLIENT_CAPACITY) == 0) {
            client_text(&s->c, text);
            read_failing(s);
        }
        client_close(&s->c);
    }
}

/* Returns how many allocations failed. */
static uint64_t play_failing(uint64_t n, bool sticky)
{
    scene s;
    memset(&s, 0, sizeof s);
    s.fields[0] = FIELD("Content-Type", "text/html");
    s.n = 1;
    json_fill(&s.body, 100000);
    bed_prepare(&s.b);
    redd_counting_allocator_fail_at(s.b.counting, n, sticky);
    play(&s);
    uint64_t failures = bed_memory(&s.b).failures;
    bytes_free(&s.body);
    bed_end(&s.b);
    return failures;
}

static void test_each_allocation_fails(void **state)
{
    uint64_t n = 1;
    (void)state;
    while (play_failing(n, false) > 0)
        n++;
    assert_true(n > 25);
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
        cmocka_unit_test(test_encoders_are_used_again),
        cmocka_unit_test(test_few_are_kept),
        cmocka_unit_test(test_too_many_are_sent_as_they_are),
        cmocka_unit_test(test_streams_that_do_not_end),
        cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_each_allocation_fails),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
