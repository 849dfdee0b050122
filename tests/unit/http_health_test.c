/* SPDX-License-Identifier: MIT */
/** The handlers for those who watch a server: metrics and health. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_metrics_scene.h"

/* --- handlers --- */

static void expect_reply(client *c, bool to_head, unsigned status, const char *type)
{
    reply r;
    reply_begin(&r, c);
    assert_true(reply_next_to(&r, to_head));
    assert_int_equal(r.status, status);
    assert_true(reply_at_end(&r));
    if (type)
        assert_true(reply_field_is(&r, "content-type", type));
    if (!to_head && status == 200)
        om_check(redd_slice_of(r.body.data, r.body.len));
    reply_end(&r);
}

static void metrics_handler(void **state)
{
    const char *type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    (void)state;
    scene s;
    scene_begin(&s);
    client_text(&s.c, GET("/metrics?a=b"));
    expect_reply(&s.c, false, 200, type);
    send_anew(&s, REQUEST("HEAD", "/metrics", ""));
    expect_reply(&s.c, true, 200, type);
    send_anew(&s, REQUEST("POST", "/metrics", ""));
    expect_reply(&s.c, false, 405, NULL);
    reply r;
    reply_begin(&r, &s.c);
    assert_true(reply_next(&r));
    assert_true(reply_field_is(&r, "allow", "GET, HEAD"));
    reply_end(&r);
    scene_end(&s);
}

static void metrics_without_memory(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    client_text(&s.c, GET("/200"));
    for (uint64_t n = 1; count(&s, "redd_http_responses_total{class=\"2xx\"}") == 1; n++) {
        bytes_clear(&s.c.got);
        redd_counting_allocator_fail_at(s.b.counting, n, false);
        client_text(&s.c, GET("/metrics"));
        redd_counting_allocator_fail_at(s.b.counting, 0, false);
        if (client_ended(&s.c)) /* no memory even for the refusal */
            anew(&s);
        assert_true(n < 20);
    }
    assert_true(responses(&s, "5xx") >= 2);
    scene_end(&s);
}

static void health_handler(void **state)
{
    (void)state;
    scene s;
    reply r;
    scene_begin(&s);
    client_text(&s.c, GET("/health"));
    client_text(&s.c, REQUEST("HEAD", "/health", ""));
    reply_begin(&r, &s.c);
    assert_true(reply_next(&r) && reply_body_is(&r, "ok\n") && r.status == 200);
    assert_true(reply_next_to(&r, true) && r.status == 200);
    reply_end(&r);
    send_anew(&s, REQUEST("DELETE", "/health", ""));
    expect_reply(&s.c, false, 405, NULL);
    scene_end(&s);
}

/** A request that is in hand when the stop comes is still answered, and learns of it. */
static void health_while_stopping(void **state)
{
    (void)state;
    scene s;
    reply r;
    scene_begin(&s);
    client_text(&s.c, GET("/hold"));
    bed_detach(&s.b, REDD_STOP_GRACEFUL);
    client_settle(&s.c);
    redd_http_health_handler(s.req, NULL);
    client_settle(&s.c);
    reply_begin(&r, &s.c);
    assert_true(reply_next(&r));
    assert_int_equal(r.status, 503);
    assert_true(reply_body_is(&r, "stopping\n"));
    assert_true(reply_closes(&r));
    reply_end(&r);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_handler),
        cmocka_unit_test(metrics_without_memory),
        cmocka_unit_test(health_handler),
        cmocka_unit_test(health_while_stopping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
