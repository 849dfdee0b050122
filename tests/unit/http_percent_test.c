/* SPDX-License-Identifier: MIT */
/** Percent-decoding, and the pairs of queries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <redd/http_router.h>

#include <uv.h>

static void test_decode(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        bool form;
        int rc;
        const char *out;
    } rows[] = {
        {"", false, 0, ""},
        {"abc", false, 0, "abc"},
        {"a+b", false, 0, "a+b"},
        {"a+b", true, 0, "a b"},
        {"a%2Bb", true, 0, "a+b"},
        {"%61%62%63", false, 0, "abc"},
        {"%e4%E4", false, 0, "\xe4\xe4"},
        {"%25", false, 0, "%"},
        {"%2541", false, 0, "%41"},
        {"%2f%5C", false, 0, "/\\"},
        {"%", false, UV_EINVAL, NULL},
        {"a%4", false, UV_EINVAL, NULL},
        {"%4g", false, UV_EINVAL, NULL},
        {"%g4", false, UV_EINVAL, NULL},
        {"%%41", false, UV_EINVAL, NULL},
        {"%+1", true, UV_EINVAL, NULL},
        {"%@a", false, UV_EINVAL, NULL},
        {"%`a", false, UV_EINVAL, NULL},
        {"%:0", false, UV_EINVAL, NULL},
        {"ok%zz", false, UV_EINVAL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char buf[32] = "untouched";
        size_t len = 99;
        redd_slice in = redd_slice_str(rows[i].in);
        assert_int_equal(redd_http_decode_percent(in, rows[i].form, buf, sizeof buf, &len),
                         rows[i].rc);
        if (rows[i].rc) {
            assert_string_equal(buf, "untouched");
            continue;
        }
        assert_int_equal(len, strlen(rows[i].out));
        assert_memory_equal(buf, rows[i].out, len);
        if (len > 0)
            assert_int_equal(redd_http_decode_percent(in, rows[i].form, buf, len - 1, &len),
                             REDD_ELIMIT);
    }
}

static void test_decode_bytes(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        char text[8], buf[1];
        size_t len;
        (void)snprintf(text, sizeof text, byte & 1 ? "%%%02x" : "%%%02X", byte);
        assert_int_equal(
            redd_http_decode_percent(redd_slice_of(text, 3), false, buf, sizeof buf, &len), 0);
        assert_int_equal((unsigned char)buf[0], byte);
    }
}

static void test_decode_in_place(void **state)
{
    (void)state;
    char text[] = "a%62c%64+";
    size_t len;
    assert_int_equal(
        redd_http_decode_percent(redd_slice_of(text, 9), true, text, sizeof text, &len), 0);
    assert_int_equal(len, 5);
    assert_memory_equal(text, "abcd ", 5);
}

/* "name=value;" of each pair; "-" for a value that is not there. */
static void expect_pairs(const char *query, const char *expected)
{
    char text[128] = "";
    size_t n = 0;
    redd_slice rest = redd_slice_str(query), name, value;
    while (redd_http_next_pair(&rest, &name, &value))
        n += (size_t)snprintf(text + n, sizeof text - n, "%.*s=%.*s;", (int)name.len, name.data,
                              value.data ? (int)value.len : 1, value.data ? value.data : "-");
    assert_string_equal(text, expected);
    assert_int_equal(rest.len, 0);
}

static void test_pairs(void **state)
{
    (void)state;
    redd_slice none = {NULL, 0}, name, value;
    assert_false(redd_http_next_pair(&none, &name, &value));
    expect_pairs("", "");
    expect_pairs("&&&", "");
    expect_pairs("a", "a=-;");
    expect_pairs("a=", "a=;");
    expect_pairs("=", "=;");
    expect_pairs("=b", "=b;");
    expect_pairs("a=b", "a=b;");
    expect_pairs("a=b=c", "a=b=c;");
    expect_pairs("a=1&b=2&&c&", "a=1;b=2;c=-;");
    expect_pairs("a%26=%3D+;b", "a%26=%3D+;b;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_decode_bytes),
        cmocka_unit_test(test_decode_in_place),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
