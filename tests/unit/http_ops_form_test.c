/* SPDX-License-Identifier: MIT */
/** Forms through ops: pulled part by part, and closed at any time. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_ops_host.h"

#include <stdio.h>

#define FORM                                                                    \
    "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nfirst\r\n"        \
    "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\n" \
    "Content-Type: text/plain\r\n\r\nfile data\r\n"                             \
    "--b\r\nContent-Disposition: form-data; name=\"e\"\r\n\r\n\r\n--b--\r\n"

static void post_form(host *h, const char *body)
{
    char head[200];
    (void)snprintf(head, sizeof head,
                   "POST /users/7 HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; "
                   "boundary=b\r\nContent-Length: %zu\r\n\r\n",
                   strlen(body));
    client_text(&h->c, head);
    client_put(&h->c, body, strlen(body));
    bed_settle(&h->b);
}

static void test_form(void **state)
{
    (void)state;
    host h;
    host_begin(&h);
    post_form(&h, FORM);
    redd_value form = OP(&h, "op_http_read_form", id(h.request));
    assert_int_equal(form.kind, REDD_RESOURCE);
    expect_bytes(OP(&h, "op_http_next_form_part", form), "a");
    assert_int_equal(OP(&h, "op_http_get_form_part_filename", form).kind, REDD_NULL);
    expect_bytes(OP(&h, "op_http_read_form_part", form), "first");
    assert_int_equal(OP(&h, "op_http_read_form_part", form).kind, REDD_NULL);
    expect_bytes(OP(&h, "op_http_next_form_part", form), "f");
    expect_bytes(OP(&h, "op_http_get_form_part_filename", form), "x.txt");
    expect_bytes(OP(&h, "op_http_get_form_part_type", form), "text/plain");
    expect_bytes(OP(&h, "op_http_next_form_part", form), "e"); /* its data was not asked for */
    assert_int_equal(OP(&h, "op_http_read_form_part", form).kind, REDD_NULL);
    assert_int_equal(OP(&h, "op_http_next_form_part", form).kind, REDD_NULL);
    assert_int_equal(OP(&h, "op_http_next_form_part", form).kind, REDD_NULL);
    expect_ok(OP(&h, "op_http_set_response_body_text", id(h.request), redd_value_u32(200),
                 text(&h, "ok")));
    expect_ok(OP(&h, "op_close", form));
    expect_ok(OP(&h, "op_close", id(h.request)));
    client_settle(&h.c);
    assert_true(got(&h, "HTTP/1.1 200"));
    host_end(&h);
}

static void test_bad_form(void **state)
{
    (void)state;
    host h;
    host_begin(&h);
    post_form(&h, "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\ncut off");
    redd_value form = OP(&h, "op_http_read_form", id(h.request));
    expect_bytes(OP(&h, "op_http_next_form_part", form), "a");
    expect_error(OP(&h, "op_http_next_form_part", form), REDD_EMALFORMED);
    expect_ok(OP(&h, "op_close", form));
    expect_ok(OP(&h, "op_close", id(h.request)));
    host_end(&h);
}

/* Closed at each stage, with and without somebody who waits. */
static void test_form_closed(void **state)
{
    (void)state;
    for (int stage = 0; stage < 5; stage++) {
        host h;
        redd_value out;
        redd_op_call_id later;
        host_begin(&h);
        post_form(&h, FORM);
        redd_value form = OP(&h, "op_http_read_form", id(h.request));
        if (stage > 0)
            expect_bytes(OP(&h, "op_http_next_form_part", form), "a");
        if (stage > 1)
            expect_bytes(OP(&h, "op_http_read_form_part", form), "first");
        if (stage > 2)
            expect_bytes(OP(&h, "op_http_next_form_part", form), "f");
        if (stage > 3)
            assert_int_equal(
                call(&h, "op_http_read_form_part", (redd_value[]){form}, 1, &out, &later),
                REDD_OP_PARKED);
        expect_ok(OP(&h, "op_close", form));
        client_settle(&h.c);
        if (stage > 3)
            assert_true(take_done(&h, later, &out));
        if (stage > 3)
            redd_value_drop(&out);
        expect_ok(OP(&h, "op_close", id(h.request)));
        host_end(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_form),
        cmocka_unit_test(test_bad_form),
        cmocka_unit_test(test_form_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
