/* SPDX-License-Identifier: MIT */
#include <redd/error.h>

#include <ctype.h>
#include <string.h>
#include <uv.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ENTRY(name, number, text) {REDD_##name, number, "REDD_" #name, text},
static const struct {
    int code, number;
    const char *name, *text;
} table[] = {REDD_ERROR_MAP(ENTRY)};
enum { COUNT = sizeof(table) / sizeof(table[0]) };

static void own_codes_have_name_and_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(table[i].code, table[i].number);
        assert_string_equal(redd_error_name(table[i].code), table[i].name);
        assert_string_equal(redd_error_text(table[i].code), table[i].text);
    }
}

static void own_numbers_are_consecutive_and_end_at_last(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(table[i].number, -10001 - (int)i);
    assert_int_equal(REDD_ERRNO_LAST, table[COUNT - 1].number - 1);
}

static void own_texts_are_phrases(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        size_t len = strlen(table[i].text);
        assert_true(len > 0);
        assert_true(table[i].text[len - 1] != '.');
        assert_true(islower((unsigned char)table[i].text[0]));
    }
}

static void system_codes_are_libuv_s(void **state)
{
    (void)state;
    assert_string_equal(redd_error_name(UV_EADDRINUSE), "EADDRINUSE");
    assert_string_equal(redd_error_text(UV_EADDRINUSE), "address already in use");
    assert_string_equal(redd_error_name(UV_ENOMEM), "ENOMEM");
    assert_string_equal(redd_error_name(UV_EOF), "EOF");
}

static void unknown_codes_have_static_text(void **state)
{
    (void)state;
    const int unknown[] = {0, 1, -9999, -10000, REDD_ERRNO_LAST, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        assert_string_equal(redd_error_name(unknown[i]), "UNKNOWN");
        assert_string_equal(redd_error_text(unknown[i]), "unknown error");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_codes_have_name_and_text),
        cmocka_unit_test(own_numbers_are_consecutive_and_end_at_last),
        cmocka_unit_test(own_texts_are_phrases),
        cmocka_unit_test(system_codes_are_libuv_s),
        cmocka_unit_test(unknown_codes_have_static_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
