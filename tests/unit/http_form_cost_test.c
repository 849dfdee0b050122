/* SPDX-License-Identifier: MIT */
/** Forms: what would like to cost a lot, and memory that runs out. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_form_fixture.h"

/* Sends and forgets what is told of it. */
static void send_flood(desk *d, const bytes *body)
{
    uint64_t before = bed_memory(&d->b).bytes, peak = bed_memory(&d->b).peak_bytes;
    desk_send(d, DESK_MULTIPART, body->data, body->len, (desk_way){60000, 60000, false});
    uint64_t more = bed_memory(&d->b).peak_bytes - (before > peak ? before : peak);
    assert_true(more < 400000);
    assert_int_equal(d->ends, 1);
}

static void test_many_parts(void **state)
{
    (void)state;
    desk d;
    bytes body = {0};
    desk_begin(&d);
    d.options.max_parts = 100000;
    for (int i = 0; i < 100000; i++)
        bytes_text(&body, "--XX\r\n" DESK_FIELD("a") "\r\n");
    bytes_text(&body, "--XX--");
    send_flood(&d, &body);
    assert_int_equal(d.calls, 200000);
    assert_true(log_ends_with(&d, "[a|-|];=0"));
    d.options.max_parts = 0;
    send_flood(&d, &body);
    assert_int_equal(d.calls, 2000);
    assert_true(log_ends_with(&d, "=REDD_ELIMIT"));
    bytes_free(&body);
    desk_end(&d);
}

static void test_floods(void **state)
{
    (void)state;
    static const char *const floods[] = {"\r", "\r\n", "\r\n--X", "\r\n--\r\n-\r\r\n--X\r\n--Y"};
    desk d;
    desk_begin(&d);
    for (size_t i = 0; i < sizeof floods / sizeof *floods; i++) {
        bytes body = {0};
        bytes_text(&body, "--XX\r\n" DESK_FILE);
        size_t start = body.len;
        while (body.len < 1 << 20)
            bytes_text(&body, floods[i]);
        size_t len = body.len - start;
        bytes_text(&body, "\r\n--XX--");
        send_flood(&d, &body);
        assert_int_equal(d.log.len, strlen("[f|g|];=0") + len);
        assert_true(memcmp(d.log.data + strlen("[f|g|]"), body.data + start, len) == 0);
        bytes_free(&body);
    }
    desk_end(&d);
}

/* Heads, boundaries' lines and preambles without end. */
static void test_bombs(void **state)
{
    (void)state;
    static const struct {
        const char *start, *flood, *log;
    } rows[] = {
        {"--XX\r\n", "x", "=REDD_ELIMIT"},
        {"--XX\r\n"
         "Content-Disposition: form-data; name=a\r\n",
         "X: y\r\n", "=REDD_ELIMIT"},
        {"--XX", " ", "=REDD_EMALFORMED"},
        {"", "preamble\r\n", "=REDD_EMALFORMED"},
        {"--XX--", "\r\n--XX", "=0"},
    };
    desk d;
    desk_begin(&d);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bytes body = {0};
        bytes_text(&body, rows[i].start);
        while (body.len < 1 << 20)
            bytes_text(&body, rows[i].flood);
        send_flood(&d, &body);
        assert_string_equal(d.log.data, rows[i].log);
        bytes_free(&body);
    }
    desk_end(&d);
}

/* Every byte, in pieces of many sizes. */
static void test_binary(void **state)
{
    (void)state;
    desk d;
    bytes body = {0}, log = {0};
    desk_begin(&d);
    bytes_text(&body, "--XX\r\n" DESK_FILE);
    size_t start = body.len;
    for (unsigned i = 0; i < 20000; i++) {
        char ch = (char)(unsigned char)(i * 7919 >> 5);
        bytes_add(&body, &ch, 1);
    }
    bytes_text(&log, "[f|g|]");
    bytes_add(&log, body.data + start, body.len - start);
    bytes_text(&log, ";=0");
    bytes_text(&body, "\r\n--XX--\r\n");
    static const size_t steps[] = {100000, 4096, 1000, 77};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        desk_send(&d, DESK_MULTIPART, body.data, body.len, (desk_way){steps[i], steps[i], i & 1});
        assert_true(bytes_are(&d.log, log.data, log.len));
    }
    bytes_free(&body);
    bytes_free(&log);
    desk_end(&d);
}

/* --- memory runs out --- */

/* Each allocation of a request fails in turn: the form ends once, or was never begun. */
static void check_failing(const char *type, const char *body)
{
    uint64_t failures = 1;
    for (uint64_t n = 1; failures > 0; n++) {
        desk d;
        client c;
        bytes head = {0};
        desk_begin(&d);
        d.act = DESK_PAUSE; /* what is left of a piece is kept */
        d.act_at = 1;
        client_open(&d.b, &c);
        desk_head(&head, type, strlen(body), false);
        bytes_text(&head, body);
        redd_counting_allocator_fail_at(d.b.counting, n, false);
        client_send(&c, head.data, head.len);
        d.act = DESK_NOTHING;
        if (d.form)
            redd_http_form_resume(d.form);
        client_settle(&c);
        failures = bed_memory(&d.b).failures;
        redd_counting_allocator_fail_at(d.b.counting, 0, false);
        client_close(&c);
        assert_null(d.form);
        bytes_free(&head);
        desk_end(&d);
        assert_true(failures > 0 || n > 3);
    }
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    check_failing(DESK_MULTIPART, two_parts);
    check_failing(DESK_URLENCODED, two_pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_parts),      cmocka_unit_test(test_floods),
        cmocka_unit_test(test_bombs),           cmocka_unit_test(test_binary),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
