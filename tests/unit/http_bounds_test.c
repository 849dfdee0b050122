/* SPDX-License-Identifier: MIT */
/** Bounds of messages and of promises: framing without a body, statuses without one, handlers that
 * nothing obliges, options of another time. */
#include "tests/unit/http_must.h"

#define GET     "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
#define CHUNKED "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"

static void on_body(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    (void)data;
    (void)last;
    (void)user;
    if (status == 0)
        assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
}

static void read_all(redd_http_request *req, void *user)
{
    assert_int_equal(redd_http_read_all(req, 0, on_body, user), 0);
}

static void bytes_repeat(bytes *b, const char *text, unsigned n)
{
    while (n-- > 0)
        bytes_text(b, text);
}

static void test_bodies_of_framing(void **state)
{
    (void)state;
    static const struct {
        size_t data; /* bytes of a first chunk */
        const char *chunk;
        unsigned chunks, trailers;
        const char *statuses;
    } rows[] = {
        {16384, "", 0, 20000, "431"},
        {1, "1;abcdefgh\r\nx\r\n", 2000, 0, "413"},
        {1, "1\r\nx\r\n", 5000, 0, "200"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bed b;
        client c;
        bytes input = {0};
        char size[24];
        bed_begin(&b, read_all, NULL);
        client_open(&b, &c);
        (void)snprintf(size, sizeof size, "%zx\r\n", rows[i].data);
        bytes_text(&input, CHUNKED);
        bytes_text(&input, size);
        bytes_fill(&input, 'd', rows[i].data);
        bytes_text(&input, "\r\n");
        bytes_repeat(&input, rows[i].chunk, rows[i].chunks);
        bytes_text(&input, "0\r\n");
        bytes_repeat(&input, "a:b\r\n", rows[i].trailers);
        bytes_text(&input, "\r\n");
        client_send(&c, input.data, input.len);
        assert_true(replies_are(&c, rows[i].statuses));
        bytes_free(&input);
        client_close(&c);
        bed_end(&b);
    }
}

static void reset_content(redd_http_request *req, void *user)
{
    const int64_t *length = user; /* of a streamed response; NULL: a whole one */
    redd_slice body = redd_slice_str("never");
    if (!length) {
        assert_int_equal(redd_http_respond(req, 205, NULL, 0, body), 0);
        return;
    }
    assert_int_equal(redd_http_start(req, 205, NULL, 0, *length), 0);
    assert_int_equal(redd_http_write(req, body), 0);
    assert_int_equal(redd_http_finish(req), 0);
}

/** And says so: unlike a 204 its head alone does not tell (RFC 9110 15.3.6). */
static void test_205_has_no_body(void **state)
{
    (void)state;
    int64_t known = 5, unknown = -1, *lengths[] = {NULL, &known, &unknown};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        bed b;
        client c;
        reply r;
        bed_begin(&b, reset_content, lengths[i]);
        client_open(&b, &c);
        client_text(&c, GET GET);
        reply_begin(&r, &c);
        for (int n = 0; n < 2; n++) {
            assert_true(reply_next(&r));
            assert_int_equal(r.status, 205);
            assert_true(reply_field_is(&r, "content-length", "0"));
        }
        assert_true(reply_at_end(&r));
        reply_end(&r);
        client_close(&c);
        bed_end(&b);
    }
}

static void no_drain(redd_http_request *req, void *user)
{
    (void)req;
    (void)user;
}

static void only_drain(redd_http_request *req, void *user)
{
    redd_http_on_drain(req, no_drain, user);
}

/** A drain event that is not owed is no promise to answer. */
static void test_a_drain_function_alone(void **state)
{
    (void)state;
    bed b;
    client c;
    bed_begin(&b, only_drain, NULL);
    client_open(&b, &c);
    client_text(&c, GET);
    assert_true(replies_are(&c, "500"));
    client_close(&c);
    bed_end(&b);
}

static void test_options_of_another_size(void **state)
{
    (void)state;
    bed b;
    redd_http_server *server = NULL;
    bed_begin(&b, only_drain, NULL);
    static const uint32_t sizes[] = {0, sizeof b.options - 8, sizeof b.options + 8};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        redd_http_options o = b.options;
        o.struct_size = sizes[i];
        assert_int_equal(redd_http_serve(b.w, NULL, &o, only_drain, NULL, &server), UV_EINVAL);
        assert_null(server);
    }
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies_of_framing),
        cmocka_unit_test(test_205_has_no_body),
        cmocka_unit_test(test_a_drain_function_alone),
        cmocka_unit_test(test_options_of_another_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
