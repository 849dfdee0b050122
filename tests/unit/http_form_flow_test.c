/* SPDX-License-Identifier: MIT */
/** Forms: limits, pauses, ends in the middle. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_form_fixture.h"

#include <uv.h>

static void send_whole(desk *d, const char *type, const char *body)
{
    size_t len = strlen(body);
    desk_send(d, type, body, len, (desk_way){len, len, false});
}

static void expect(const desk *d, const char *log)
{
    assert_string_equal(d->log.data, log);
}

/* --- limits --- */

static void test_max_parts(void **state)
{
    (void)state;
    desk d;
    desk_begin(&d);
    d.options.max_parts = 2;
    send_whole(&d, DESK_MULTIPART, two_parts);
    expect(&d, "[a|-|]1;[f|g|]22;=0");
    send_whole(&d, DESK_URLENCODED, two_pairs);
    expect(&d, "[a|-|]1;[b|-|]22;=0");
    d.options.max_parts = 1;
    send_whole(&d, DESK_MULTIPART, two_parts);
    expect(&d, "[a|-|]1;=REDD_ELIMIT");
    send_whole(&d, DESK_URLENCODED, two_pairs);
    expect(&d, "[a|-|]1;=REDD_ELIMIT");
    desk_end(&d);
}

static void test_max_sizes(void **state)
{
    (void)state;
    desk d;
    desk_begin(&d);
    d.options.max_field = 1;
    d.options.max_file = 2;
    send_whole(&d, DESK_MULTIPART, two_parts);
    expect(&d, "[a|-|]1;[f|g|]22;=0");
    d.options.max_file = 1;
    send_whole(&d, DESK_MULTIPART, two_parts);
    expect(&d, "[a|-|]1;[f|g|]=REDD_ELIMIT");
    desk_send(&d, DESK_MULTIPART, two_parts, strlen(two_parts), (desk_way){1, 1, true});
    expect(&d, "[a|-|]1;[f|g|]2=REDD_ELIMIT");
    send_whole(&d, DESK_URLENCODED, two_pairs);
    expect(&d, "[a|-|]1;=REDD_ELIMIT");
    send_whole(&d, DESK_URLENCODED, "a=%31&bb=%32");
    expect(&d, "[a|-|]1;[bb|-|]2;=0");
    send_whole(&d, DESK_URLENCODED, "a=%31+");
    expect(&d, "=REDD_ELIMIT");
    desk_end(&d);
}

/* The bytes of a head up to its empty line, and with it. */
static void test_max_part_head(void **state)
{
    (void)state;
    desk d;
    desk_begin(&d);
    d.options.max_part_head = strlen(DESK_FIELD("a"));
    send_whole(&d, DESK_MULTIPART, "--XX\r\n" DESK_FIELD("a") "1\r\n--XX--");
    expect(&d, "[a|-|]1;=0");
    d.options.max_part_head--;
    send_whole(&d, DESK_MULTIPART, "--XX\r\n" DESK_FIELD("a") "1\r\n--XX--");
    expect(&d, "=REDD_ELIMIT");
    d.options.max_part_head = 3;
    send_whole(&d, DESK_URLENCODED, "abc=1");
    expect(&d, "[abc|-|]1;=0");
    send_whole(&d, DESK_URLENCODED, "abcd=1");
    expect(&d, "=REDD_ELIMIT");
    desk_end(&d);
}

/* A body beyond the server's limit is answered by the server. */
static void test_max_body(void **state)
{
    (void)state;
    desk d;
    desk_begin(&d);
    d.b.options.max_body = 50;
    bed_serve_anew(&d.b, desk_serve, &d);
    desk_send(&d, DESK_MULTIPART, two_parts, strlen(two_parts), (desk_way){20, 20, true});
    expect(&d, "=REDD_ELIMIT");
    desk_end(&d);
}

static void test_bad_options(void **state)
{
    (void)state;
    desk d;
    desk_begin(&d);
    d.options.struct_size--;
    send_whole(&d, DESK_MULTIPART, two_parts);
    assert_int_equal(d.rc, UV_EINVAL);
    desk_end(&d);
}

/* --- what callbacks do --- */

static unsigned calls_of(desk *d, const char *type, const char *body)
{
    d->act = DESK_NOTHING;
    send_whole(d, type, body);
    return d->calls;
}

/* At each call in turn: refusing ends the form, at once and once; an answer does not. */
static void check_acts(desk *d, const char *type, const char *body)
{
    unsigned calls = calls_of(d, type, body);
    assert_true(calls >= 4);
    for (unsigned n = 1; n <= calls; n++) {
        d->act_at = n;
        d->act = DESK_REFUSE;
        send_whole(d, type, body);
        assert_int_equal(d->calls, n);
        assert_true(log_ends_with(d, "=ECANCELED"));
        d->act = DESK_ANSWER;
        send_whole(d, type, body);
        assert_int_equal(d->calls, calls);
        assert_true(log_ends_with(d, "=0"));
    }
}

static void test_acts(void **state)
{
    (void)state;
    desk d;
    desk_begin(&d);
    check_acts(&d, DESK_MULTIPART, two_parts);
    check_acts(&d, DESK_URLENCODED, two_pairs);
    desk_end(&d);
}

/* The request ends inside of a callback, or with the connection's next turn: the form ends behind
 * the callback. */
static void check_dropped(const char *type, const char *body)
{
    for (unsigned n = 1; n <= 4; n++)
        for (unsigned lose = 0; lose < 2; lose++) {
            desk d;
            desk_begin(&d);
            d.act_at = n;
            d.act = lose ? DESK_LOSE : DESK_CLOSE;
            send_whole(&d, type, body);
            assert_int_equal(d.ends, 1);
            if (lose)
                assert_int_equal(d.calls, n);
            if (lose)
                assert_true(log_ends_with(&d, "=ECONNRESET"));
            desk_end(&d);
        }
}

static void test_dropped_inside(void **state)
{
    (void)state;
    check_dropped(DESK_MULTIPART, two_parts);
    check_dropped(DESK_URLENCODED, two_pairs);
}

/* --- pauses --- */

typedef struct visit {
    desk d;
    client c;
} visit;

/* Up to a form that is paused in its n-th call, with the rest of the body in hand. */
static void visit_begin(visit *v, unsigned n, const char *sent, size_t len)
{
    bytes head = {0};
    desk_begin(&v->d);
    v->d.act = DESK_PAUSE;
    v->d.act_at = n;
    client_open(&v->d.b, &v->c);
    desk_head(&head, DESK_MULTIPART, strlen(two_parts), false);
    bytes_add(&head, sent, len);
    client_send(&v->c, head.data, head.len);
    bytes_free(&head);
}

static void visit_end(visit *v)
{
    client_close(&v->c);
    assert_int_equal(v->d.ends, 1);
    desk_end(&v->d);
}

static void test_pause_and_resume(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 4; n++) {
        visit v;
        visit_begin(&v, n, two_parts, strlen(two_parts));
        assert_int_equal(v.d.calls, n);
        assert_int_equal(v.d.ends, 0);
        redd_http_form_pause(v.d.form);
        redd_http_form_resume(v.d.form);
        redd_http_form_pause(v.d.form);
        client_settle(&v.c);
        assert_int_equal(v.d.calls, n); /* paused before the resumption took effect */
        redd_http_form_resume(v.d.form);
        redd_http_form_resume(v.d.form);
        assert_int_equal(v.d.calls, n);
        client_settle(&v.c);
        expect(&v.d, "[a|-|]1;[f|g|]22;=0");
        visit_end(&v);
    }
}

/* Nothing is read while a form is paused, but for the piece that was asked for before. */
static void test_nothing_is_read(void **state)
{
    (void)state;
    visit v;
    visit_begin(&v, 1, two_parts, 60);
    unsigned reads = v.c.meter.reads;
    client_send(&v.c, two_parts + 60, 10);
    client_send(&v.c, two_parts + 70, 10);
    assert_int_equal(v.c.meter.reads, reads);
    redd_http_form_resume(v.d.form);
    client_settle(&v.c);
    redd_http_form_pause(v.d.form);
    reads = v.c.meter.reads;
    client_send(&v.c, two_parts + 80, 10);
    client_send(&v.c, two_parts + 90, strlen(two_parts) - 90);
    assert_in_range(v.c.meter.reads, reads, reads + 1);
    assert_int_equal(v.d.ends, 0);
    redd_http_form_resume(v.d.form);
    client_settle(&v.c);
    expect(&v.d, "[a|-|]1;[f|g|]22;=0");
    visit_end(&v);
}

/* What was asked for before is told as it comes. */
static void test_pause_while_asking(void **state)
{
    (void)state;
    visit v;
    visit_begin(&v, 9, two_parts, 60);
    redd_http_form_pause(v.d.form);
    client_settle(&v.c);
    redd_http_form_resume(v.d.form);
    client_settle(&v.c);
    client_send(&v.c, two_parts + 60, strlen(two_parts) - 60);
    expect(&v.d, "[a|-|]1;[f|g|]22;=0");
    visit_end(&v);
}

/* A paused form learns of the end of its request. */
static void test_end_while_paused(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 4; n++) {
        visit v;
        visit_begin(&v, n, two_parts, strlen(two_parts));
        redd_http_server_close(v.d.b.server, REDD_STOP_FORCED);
        client_settle(&v.c);
        assert_true(log_ends_with(&v.d, "=ECANCELED"));
        visit_end(&v);
    }
    /* A response is the end of it too: who pauses does not ask for the rest. */
    visit v;
    visit_begin(&v, 1, two_parts, 60);
    assert_int_equal(redd_http_respond_text(redd_http_form_request(v.d.form), 200, "enough"), 0);
    client_send(&v.c, two_parts + 60, strlen(two_parts) - 60);
    assert_true(log_ends_with(&v.d, "=ECANCELED"));
    visit_end(&v);
}

static void test_peer_goes(void **state)
{
    (void)state;
    for (unsigned resumed = 0; resumed < 2; resumed++) {
        visit v;
        visit_begin(&v, 1, two_parts, 60);
        if (resumed)
            redd_http_form_resume(v.d.form);
        client_settle(&v.c);
        client_go(&v.c, true);
        assert_true(log_ends_with(&v.d, "=ECONNRESET"));
        visit_end(&v);
    }
}

static void test_peer_is_silent(void **state)
{
    (void)state;
    visit v;
    visit_begin(&v, 9, two_parts, 60);
    client_wait(&v.c, v.d.b.options.body_timeout_ms + 1000);
    assert_true(log_ends_with(&v.d, "=ETIMEDOUT"));
    assert_true(replies_are(&v.c, "408"));
    visit_end(&v);
}

/* --- a second reader --- */

static void serve_read_twice(redd_http_request *req, void *user)
{
    desk *d = user;
    desk_serve(req, d);
    redd_http_form *form = NULL;
    assert_int_equal(redd_http_form_read(req, &d->options, &form), REDD_ESTATE);
    assert_null(form);
}

static void test_read_twice(void **state)
{
    (void)state;
    desk d;
    desk_begin(&d);
    bed_serve_anew(&d.b, serve_read_twice, &d);
    send_whole(&d, DESK_MULTIPART, two_parts);
    expect(&d, "[a|-|]1;[f|g|]22;=0");
    desk_end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_max_parts),        cmocka_unit_test(test_max_sizes),
        cmocka_unit_test(test_max_part_head),    cmocka_unit_test(test_max_body),
        cmocka_unit_test(test_bad_options),      cmocka_unit_test(test_acts),
        cmocka_unit_test(test_dropped_inside),   cmocka_unit_test(test_pause_and_resume),
        cmocka_unit_test(test_nothing_is_read),  cmocka_unit_test(test_pause_while_asking),
        cmocka_unit_test(test_end_while_paused), cmocka_unit_test(test_peer_goes),
        cmocka_unit_test(test_peer_is_silent),   cmocka_unit_test(test_read_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
