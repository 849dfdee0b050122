/* SPDX-License-Identifier: MIT */
/** Many requests on one connection: order, calls of the stream, memory. */
#include "tests/unit/http_must.h"

#include <stdio.h>

#define GET(target) "GET " target " HTTP/1.1\r\nHost: h\r\n\r\n"

/* --- handlers --- */

/** Answers with its request's target at once. */
static void at_once(redd_http_request *req, void *user)
{
    (void)user;
    redd_slice t = redd_http_target(req);
    assert_int_equal(redd_http_respond_typed(req, 200, "text/plain", t), 0);
}

/** A response that comes after some virtual time. */
typedef struct late {
    redd_timer timer;
    redd_http_request *req;
} late;

static void on_time(redd_timer *t, void *user)
{
    late *l = user;
    (void)t;
    at_once(l->req, NULL);
    redd_http_request_unref(l->req);
    free(l);
}

/** "/later?..." is answered after 10 ms, everything else at once. */
static void mixed(redd_http_request *req, void *user)
{
    late *l;
    if (!redd_slice_equal(redd_http_path(req), redd_slice_str("/later"))) {
        at_once(req, user);
        return;
    }
    l = malloc(sizeof *l);
    assert_non_null(l);
    l->req = redd_http_request_ref(req);
    redd_timer_init(&l->timer, redd_worker_timers(redd_http_worker(req)), on_time, l);
    redd_timer_start(&l->timer, 10);
}

static void expect_bodies(const client *c, const char *const *bodies)
{
    reply r;
    reply_begin(&r, c);
    for (; *bodies; bodies++) {
        assert_true(reply_next(&r));
        assert_int_equal(r.status, 200);
        assert_true(reply_body_is(&r, *bodies));
    }
    assert_true(reply_at_end(&r));
    reply_end(&r);
}

/* --- tests --- */

static void test_one_after_the_other(void **state)
{
    (void)state;
    bed b;
    client c;
    bed_begin(&b, at_once, NULL);
    client_open(&b, &c);
    for (int i = 0; i < 5; i++)
        client_text(&c, GET("/again"));
    expect_bodies(&c, (const char *[]){"/again", "/again", "/again", "/again", "/again", NULL});
    assert_false(client_ended(&c));
    assert_int_equal(redd_http_server_connections(b.server), 1);
    client_close(&c);
    bed_end(&b);
}

/** What a client may rely on in each response. */
static void test_head_of_a_response(void **state)
{
    (void)state;
    bed b;
    client c;
    reply r;
    bed_begin(&b, at_once, NULL);
    client_open(&b, &c);
    client_text(&c, GET("/"));
    reply_begin(&r, &c);
    assert_true(reply_next(&r));
    assert_true(reply_field_is(&r, "date", "Thu, 28 May 2026 20:26:40 GMT"));
    assert_true(reply_field_is(&r, "content-length", "1"));
    assert_true(reply_field_is(&r, "content-type", "text/plain"));
    assert_null(reply_field(&r, "connection").data);
    client_wait(&c, 61000);
    client_text(&c, GET("/"));
    assert_true(reply_next(&r));
    assert_true(reply_field_is(&r, "date", "Thu, 28 May 2026 20:27:41 GMT"));
    reply_end(&r);
    client_close(&c);
    bed_end(&b);
}

static void test_pipelined_at_once(void **state)
{
    (void)state;
    bed b;
    client c;
    bed_begin(&b, at_once, NULL);
    client_open(&b, &c);
    client_text(&c, GET("/1") GET("/2") GET("/3"));
    expect_bodies(&c, (const char *[]){"/1", "/2", "/3", NULL});
    client_close(&c);
    bed_end(&b);
}

static void test_pipelined_later(void **state)
{
    (void)state;
    bed b;
    client c;
    bed_begin(&b, mixed, NULL);
    client_open(&b, &c);
    client_text(&c, GET("/later?1") GET("/later?2") GET("/later?3"));
    assert_int_equal(c.got.len, 0);
    for (int i = 0; i < 3; i++)
        client_wait(&c, 10);
    expect_bodies(&c, (const char *[]){"/later?1", "/later?2", "/later?3", NULL});
    client_close(&c);
    bed_end(&b);
}

static void test_pipelined_mixed(void **state)
{
    (void)state;
    bed b;
    client c;
    bed_begin(&b, mixed, NULL);
    client_open(&b, &c);
    client_text(&c, GET("/1") GET("/later?2") GET("/3") GET("/later?4") GET("/5"));
    expect_bodies(&c, (const char *[]){"/1", NULL});
    client_wait(&c, 10);
    expect_bodies(&c, (const char *[]){"/1", "/later?2", "/3", NULL});
    client_wait(&c, 10);
    expect_bodies(&c, (const char *[]){"/1", "/later?2", "/3", "/later?4", "/5", NULL});
    client_close(&c);
    bed_end(&b);
}

/** While a handler works on one connection, the others are served. */
static void test_others_go_on(void **state)
{
    (void)state;
    bed b;
    client slow, quick;
    bed_begin(&b, mixed, NULL);
    client_open(&b, &slow);
    client_open(&b, &quick);
    client_text(&slow, GET("/later?1"));
    client_text(&quick, GET("/2"));
    expect_bodies(&quick, (const char *[]){"/2", NULL});
    assert_int_equal(slow.got.len, 0);
    client_wait(&slow, 10);
    expect_bodies(&slow, (const char *[]){"/later?1", NULL});
    client_close(&slow);
    client_close(&quick);
    bed_end(&b);
}

static void test_calls_per_batch(void **state)
{
    (void)state;
    bed b;
    client c;
    bytes batch = {0};
    bed_begin(&b, at_once, NULL);
    client_open(&b, &c);
    for (int i = 0; i < 16; i++)
        bytes_text(&batch, GET("/x"));
    client_text(&c, GET("/x"));
    assert_int_equal(c.meter.reads, 1);
    assert_int_equal(c.meter.writes, 1);
    client_send(&c, batch.data, batch.len);
    assert_int_equal(c.meter.reads, 2);
    assert_int_equal(c.meter.writes, 2);
    /* Cut inside a request: a batch each. */
    client_send(&c, batch.data, batch.len / 2 + 3);
    client_send(&c, batch.data + batch.len / 2 + 3, batch.len - batch.len / 2 - 3);
    assert_int_equal(c.meter.reads, 4);
    assert_int_equal(c.meter.writes, 4);
    bytes_free(&batch);
    client_close(&c);
    bed_end(&b);
}

/** Sends the batch `times` times; returns how many allocations that took. */
static uint64_t allocations_of(client *c, const bytes *batch, int times)
{
    uint64_t before = bed_memory(c->bed).allocations;
    for (int i = 0; i < times; i++) {
        assert_int_equal(client_put(c, batch->data, batch->len), batch->len);
        bed_turns(c->bed, 2);
        assert_true(client_take(c, SIZE_MAX) > 0);
        bytes_clear(&c->got);
    }
    return bed_memory(c->bed).allocations - before;
}

static void test_no_allocation_once_warm(void **state)
{
    (void)state;
    bed b;
    client c;
    bytes one = {0}, batch = {0}, posts = {0};
    bytes_text(&one, GET("/x"));
    for (int i = 0; i < 16; i++)
        bytes_text(&batch, GET("/x"));
    for (int i = 0; i < 4; i++)
        bytes_text(&posts, "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello");
    bed_begin(&b, at_once, NULL);
    client_open(&b, &c);
    (void)allocations_of(&c, &batch, 2);
    assert_int_equal(allocations_of(&c, &one, 10000), 0);
    assert_int_equal(allocations_of(&c, &batch, 625), 0);
    assert_int_equal(allocations_of(&c, &posts, 100), 0);
    bytes_free(&one);
    bytes_free(&batch);
    bytes_free(&posts);
    client_close(&c);
    bed_end(&b);
}

/** An answer that comes later needs a copy of the head: its place is in the pooled request. */
static void test_no_allocation_when_late(void **state)
{
    (void)state;
    bed b;
    client c;
    bed_begin(&b, mixed, NULL);
    client_open(&b, &c);
    uint64_t before = 0;
    for (int i = 0; i < 100; i++) {
        if (i == 2)
            before = bed_memory(&b).allocations;
        client_text(&c, GET("/later"));
        client_wait(&c, 10);
    }
    assert_int_equal(bed_memory(&b).allocations, before);
    client_close(&c);
    bed_end(&b);
}

/** An idle connection keeps nothing but itself. */
static void test_idle_holds_no_buffer(void **state)
{
    (void)state;
    enum { CLIENTS = 8 };
    bed b;
    client c[CLIENTS];
    bed_begin(&b, at_once, NULL);
    for (int i = 0; i < CLIENTS; i++)
        client_open_sized(&b, &c[i], 1024);
    uint64_t before = bed_memory(&b).bytes;
    for (int i = 0; i < CLIENTS; i++) {
        client_text(&c[i], "GET /");
        client_text(&c[i], "half HTTP/1.1\r\nHost: h\r\n\r\n");
        expect_bodies(&c[i], (const char *[]){"/half", NULL});
    }
    /* One request is in the pool now, for all of them. */
    assert_in_range(bed_memory(&b).bytes - before, 0, 4096);
    for (int i = 0; i < CLIENTS; i++)
        client_close(&c[i]);
    bed_end(&b);
}

/** A peer that sends requests and reads no answers is not read from for ever. */
static void test_flood_without_reading(void **state)
{
    (void)state;
    bed b;
    client c;
    bytes batch = {0};
    for (int i = 0; i < 1000; i++)
        bytes_text(&batch, GET("/x"));
    bed_begin(&b, at_once, NULL);
    client_open_sized(&b, &c, 16 * 1024);
    uint64_t before = bed_memory(&b).bytes;
    size_t sent = 0;
    for (int i = 0; i < 1000; i++) {
        sent += client_put(&c, batch.data + sent % batch.len, batch.len - sent % batch.len);
        bed_turns(&b, 1);
    }
    assert_true(sent < 256 * 1024);
    assert_true(bed_memory(&b).bytes - before < 256 * 1024);
    /* All that was taken is answered as soon as the peer reads. */
    client_settle(&c);
    reply r;
    size_t n = 0;
    reply_begin(&r, &c);
    while (reply_next(&r))
        n++;
    assert_true(reply_at_end(&r));
    assert_int_equal(n, sent / (batch.len / 1000));
    reply_end(&r);
    bytes_free(&batch);
    client_close(&c);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_head_of_a_response),
        cmocka_unit_test(test_pipelined_at_once),
        cmocka_unit_test(test_pipelined_later),
        cmocka_unit_test(test_pipelined_mixed),
        cmocka_unit_test(test_others_go_on),
        cmocka_unit_test(test_calls_per_batch),
        cmocka_unit_test(test_no_allocation_once_warm),
        cmocka_unit_test(test_no_allocation_when_late),
        cmocka_unit_test(test_idle_holds_no_buffer),
        cmocka_unit_test(test_flood_without_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
