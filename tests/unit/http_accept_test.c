/* SPDX-License-Identifier: MIT */
/** Which coding a response gets, by Accept-Encoding. */
#include "tests/unit/http_coding.h"

typedef struct row {
    const char *accept;  /* field values, one a line; NULL: no field */
    const char *codings; /* what it gets: the first of them that this build makes */
} row;

#define BEST   "zstd br gzip"
#define SECOND "br gzip"

static const row rows[] = {
    {NULL, ""},
    {"", ""},
    {"gzip", "gzip"},
    {"x-gzip", "gzip"},
    {"GZip", "gzip"},
    {"br", "br"},
    {"zstd", "zstd"},
    {"deflate", ""},
    {"compress", ""},
    {"identity", ""},
    {"foo, bar", ""},
    {"gzip, deflate, br, zstd", BEST},
    {"gzip, deflate, br", SECOND},
    {"gzip, deflate", "gzip"},
    {"gzip,deflate", "gzip"},
    {" , gzip ,, ", "gzip"},
    {"*", BEST},
    {"*;q=0", ""},
    {"*;q=0.5", BEST},
    {"gzip;q=1.0, *;q=0", "gzip"},
    {"*;q=0, br", "br"},
    {"zstd;q=0, *", SECOND},
    {"gzip;q=0", ""},
    {"gzip;q=0.000", ""},
    {"gzip;q=0.001", "gzip"},
    {"gzip;q=1", "gzip"},
    {"gzip;q=1.", "gzip"},
    {"gzip;q=1.000", "gzip"},
    {"gzip;Q=0.5", "gzip"},
    {"gzip ; q=0.5", "gzip"},
    {"gzip;\tq=0.5", "gzip"},
    {"gzip;q=0.9, br;q=0.8, zstd;q=0.7", "gzip"},
    {"gzip;q=0.7, br;q=0.9, zstd;q=0.8", "br zstd gzip"},
    {"gzip;q=0.123, zstd;q=0.122", "gzip"},
    {"gzip;q=0.5, zstd;q=0.5", "zstd gzip"},
    {"gzip;q=0.5, br;q=0.5", "br gzip"},
    {"gzip;q=0.5, *;q=0.1", "gzip"},
    {"gzip;q=0.1, *;q=0.5", BEST},
    {"identity;q=1, gzip;q=0.5", ""},
    {"identity;q=0.5, gzip;q=1", "gzip"},
    {"identity;q=0.5, gzip;q=0.5", "gzip"},
    {"identity, gzip", "gzip"},
    {"identity;q=0", ""},
    {"identity;q=0, gzip;q=0.1", "gzip"},
    {"identity;q=0, *;q=0", ""},
    {"identity;q=0.5, *;q=0", ""},
    {"gzip;q=0, gzip;q=0", ""},
    /* Not of the grammar: it says nothing. */
    {"gzip;q=", ""},
    {"gzip;q=2", ""},
    {"gzip;q=1.001", ""},
    {"gzip;q=0.1234", ""},
    {"gzip;q=.5", ""},
    {"gzip;q=-1", ""},
    {"gzip;q=0,5", ""},
    {"gzip;q=a", ""},
    {"gzip;q=0.5a", ""},
    {"gzip;level=9", ""},
    {"gzip;q", ""},
    {"gzip;", ""},
    {";q=1", ""},
    {"gzip;q=0.5;q=1", ""},
    {"gzip br", ""},
    {"\"gzip\"", ""},
    {"gzip;q=9, br", "br"},
    /* Several lines are one list. */
    {"gzip\nbr", "br gzip"},
    {"gzip;q=0.5\nidentity;q=1", ""},
    {"\n\ngzip", "gzip"},
};

static redd_slice expected(const row *r)
{
    for (const char *at = r->codings; *at; at += strcspn(at, " ")) {
        at += *at == ' ';
        redd_slice name = redd_slice_of(at, strcspn(at, " "));
        if (redd__http_coding_named(name) < REDD__HTTP_CODINGS)
            return name;
    }
    return redd_slice_of(NULL, 0);
}

static void on_request(redd_http_request *req, void *user)
{
    (void)user;
    HTTP_MUST(redd_http_respond_text(req, 200,
                                     "------------------------------------------------"
                                     "------------------------------------------------"
                                     "------------------------------------------------"
                                     "------------------------------------------------") == 0);
}

static void write_request(bytes *b, const char *accept)
{
    bytes_text(b, "GET / HTTP/1.1\r\nHost: h\r\n");
    while (accept) {
        const char *end = strchr(accept, '\n');
        bytes_text(b, "Accept-Encoding: ");
        bytes_add(b, accept, end ? (size_t)(end - accept) : strlen(accept));
        bytes_text(b, "\r\n");
        accept = end ? end + 1 : NULL;
    }
    bytes_text(b, "\r\n");
}

static void check_row(client *c, const row *r)
{
    bytes b = {0};
    reply got;
    write_request(&b, r->accept);
    bytes_clear(&c->got);
    client_send(c, b.data, b.len);
    reply_begin(&got, c);
    assert_true(reply_next(&got) && reply_at_end(&got));
    assert_int_equal(got.status, 200);
    redd_slice coding = reply_field(&got, "content-encoding");
    if (!redd_slice_equal(coding, expected(r)))
        print_error("%s: %.*s\n", r->accept, (int)coding.len, coding.data);
    assert_true(redd_slice_equal(coding, expected(r)));
    assert_true(reply_field_is(&got, "vary", "Accept-Encoding"));
    bytes body = {0};
    redd__http_coding known = redd__http_coding_named(coding);
    if (coding.len > 0)
        assert_int_equal(decode_to(&body, known, got.body.data, got.body.len), REDD__HTTP_STEP_END);
    else
        bytes_add(&body, got.body.data, got.body.len);
    assert_int_equal(body.len, 192);
    bytes_free(&body);
    reply_end(&got);
    bytes_free(&b);
}

static void test_rows(void **state)
{
    bed b;
    client c;
    (void)state;
    bed_begin(&b, on_request, NULL);
    b.options.compress = 1;
    b.options.compress_min = 0;
    bed_serve_anew(&b, on_request, NULL);
    client_open(&b, &c);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&c, &rows[i]);
    client_close(&c);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
