/* SPDX-License-Identifier: MIT */
/** Trailers of requests: there when the body has come to its end, apart from the fields, for as
 * long as the request. What is refused stands in the conformance tables. */
#include "tests/unit/http_must.h"

#define CHUNKED "POST / HTTP/1.1\r\nHost: h\r\nA: head\r\nTransfer-Encoding: chunked\r\n\r\n"
#define BODY    "5\r\nhello\r\n"
#define GET     "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

/** A handler that keeps the request, and reads when the test asks. */
typedef struct keeper {
    redd_http_request *req; /* a reference */
    unsigned reads;
    int status;
    bool last;
} keeper;

static void on_piece(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    keeper *k = user;
    (void)data;
    k->reads++;
    k->status = status;
    k->last = last;
    if (!last || status)
        assert_int_equal(redd_http_trailer_count(req), 0);
}

static void on_request(redd_http_request *req, void *user)
{
    ((keeper *)user)->req = redd_http_request_ref(req);
}

typedef struct setting {
    bed b;
    client c;
    keeper k;
} setting;

static void setting_begin(setting *s)
{
    memset(s, 0, sizeof *s);
    bed_begin(&s->b, on_request, &s->k);
    client_open(&s->b, &s->c);
}

static void setting_end(setting *s)
{
    redd_http_request_unref(s->k.req);
    client_close(&s->c);
    bed_end(&s->b);
}

static void read_to_the_end(setting *s)
{
    s->k.last = false;
    while (!s->k.last) {
        assert_int_equal(redd_http_read(s->k.req, on_piece, &s->k), 0);
        client_settle(&s->c);
    }
}

static void expect(redd_slice got, const char *text)
{
    assert_non_null(got.data);
    assert_true(redd_slice_equal(got, redd_slice_str(text)));
}

static void expect_three(const redd_http_request *req)
{
    static const char *const names[] = {"A", "Digest", "a"}, *const values[] = {"one", "", "x y"};
    assert_int_equal(redd_http_trailer_count(req), 3);
    for (size_t i = 0; i < 3; i++) {
        expect(redd_http_trailer_at(req, i).name, names[i]);
        expect(redd_http_trailer_at(req, i).value, values[i]);
    }
    expect(redd_http_trailer_get(req, "a", 0), "one");
    expect(redd_http_trailer_get(req, "A", 1), "x y");
    assert_null(redd_http_trailer_get(req, "A", 2).data);
    expect(redd_http_trailer_get(req, "DIGEST", 0), "");
    assert_null(redd_http_trailer_get(req, "Host", 0).data);
    /* The fields are what they were. */
    assert_int_equal(redd_http_field_count(req), 3);
    expect(redd_http_field_get(req, "a", 0), "head");
    assert_null(redd_http_field_get(req, "a", 1).data);
}

static void test_trailers(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s);
    client_text(&s.c, CHUNKED BODY "0\r\nA: one\r\nDigest:\r\na: \tx y \r\n\r\n" GET);
    assert_int_equal(redd_http_trailer_count(s.k.req), 0);
    assert_null(redd_http_trailer_get(s.k.req, "A", 0).data);
    read_to_the_end(&s);
    assert_int_equal(s.k.status, 0);
    assert_int_equal(s.k.reads, 2);
    expect_three(s.k.req);
    /* And beyond the request's end, while the next one is in work. */
    redd_http_request *first = s.k.req;
    assert_int_equal(redd_http_respond_text(first, 200, "ok"), 0);
    client_settle(&s.c);
    assert_ptr_not_equal(s.k.req, first);
    assert_int_equal(redd_http_respond_text(s.k.req, 200, "ok"), 0);
    client_close(&s.c);
    expect_three(first);
    assert_int_equal(redd_http_trailer_count(s.k.req), 0);
    redd_http_request_unref(first);
    setting_end(&s);
}

static void test_none(void **state)
{
    (void)state;
    static const char *const requests[] = {
        CHUNKED BODY "0\r\n\r\n", GET, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx"};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        setting s;
        setting_begin(&s);
        client_text(&s.c, requests[i]);
        read_to_the_end(&s);
        assert_int_equal(redd_http_trailer_count(s.k.req), 0);
        assert_null(redd_http_trailer_get(s.k.req, "A", 0).data);
        setting_end(&s);
    }
}

/** They cost no memory where there are none, and what there is goes with the request. */
static void test_memory(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s);
    client_text(&s.c, CHUNKED BODY "0\r\n");
    assert_int_equal(redd_http_read(s.k.req, on_piece, &s.k), 0);
    client_settle(&s.c);
    assert_int_equal(redd_http_read(s.k.req, on_piece, &s.k), 0);
    client_settle(&s.c);
    uint64_t before = bed_memory(&s.b).blocks;
    client_text(&s.c, "A: b\r\n");
    assert_int_equal(bed_memory(&s.b).blocks, before + 1);
    client_text(&s.c, "\r\n");
    assert_true(s.k.last);
    assert_int_equal(bed_memory(&s.b).blocks, before + 1);
    assert_int_equal(redd_http_respond_text(s.k.req, 200, "ok"), 0);
    client_settle(&s.c);
    assert_int_equal(bed_memory(&s.b).blocks, before + 1);
    redd_http_request_unref(s.k.req);
    s.k.req = NULL;
    assert_int_equal(bed_memory(&s.b).blocks, before);
    setting_end(&s);
}

/** Given up in their midst. */
static void test_the_peer_goes(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s);
    client_text(&s.c, CHUNKED BODY "0\r\nA: b\r\nB");
    assert_int_equal(redd_http_read_all(s.k.req, 0, on_piece, &s.k), 0);
    client_settle(&s.c);
    client_go(&s.c, false);
    assert_int_equal(s.k.reads, 1);
    assert_int_equal(s.k.status, UV_ECONNRESET);
    assert_int_equal(redd_http_trailer_count(s.k.req), 0);
    setting_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trailers),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_the_peer_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
