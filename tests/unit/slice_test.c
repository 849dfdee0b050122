/* SPDX-License-Identifier: MIT */
#include <redd/slice.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static redd_slice str(const char *text)
{
    return redd_slice_str(text);
}

static void assert_slice(redd_slice s, const char *expected)
{
    assert_int_equal(s.len, strlen(expected));
    if (s.len > 0)
        assert_memory_equal(s.data, expected, s.len);
}

static void literal_and_null(void **state)
{
    (void)state;
    static const redd_slice constant = REDD_SLICE("abc");
    assert_slice(constant, "abc");
    assert_int_equal(redd_slice_str(NULL).len, 0);
    assert_true(redd_slice_equal(redd_slice_of(NULL, 0), str("")));
}

static void equality(void **state)
{
    (void)state;
    assert_true(redd_slice_equal(str("ab"), str("ab")));
    assert_false(redd_slice_equal(str("ab"), str("aB")));
    assert_false(redd_slice_equal(str("ab"), str("abc")));
    assert_true(redd_slice_equal_nocase(str("Content-Length"), str("cONTENT-lENGTH")));
    assert_false(redd_slice_equal_nocase(str("ab"), str("abc")));
    assert_true(redd_slice_equal_nocase(redd_slice_of(NULL, 0), str("")));
}

static void nocase_folds_ascii_letters_only(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 256; i++)
        for (unsigned k = 0; k < 256; k++) {
            char a = (char)i, b = (char)k;
            bool letters = (i | 0x20U) >= 'a' && (i | 0x20U) <= 'z' && (i | 0x20U) == (k | 0x20U);
            assert_int_equal(redd_slice_equal_nocase(redd_slice_of(&a, 1), redd_slice_of(&b, 1)),
                             i == k || letters);
        }
}

static void trim(void **state)
{
    (void)state;
    assert_slice(redd_slice_trim(str(" \t a b\t ")), "a b");
    assert_slice(redd_slice_trim(str(" \t ")), "");
    assert_slice(redd_slice_trim(str("")), "");
    assert_slice(redd_slice_trim(str("\r\nx\r\n")), "\r\nx\r\n");
}

static void assert_elements(const char *list, const char *const *expected)
{
    redd_slice rest = str(list), element;
    for (; *expected; expected++) {
        assert_true(redd_slice_next_element(&rest, &element));
        assert_slice(element, *expected);
    }
    assert_false(redd_slice_next_element(&rest, &element));
    assert_false(redd_slice_next_element(&rest, &element));
}

static void list_elements(void **state)
{
    (void)state;
    assert_elements("a, b,c", (const char *[]){"a", "b", "c", NULL});
    assert_elements(" , ,\t, a ,, b , ", (const char *[]){"a", "b", NULL});
    assert_elements("", (const char *[]){NULL});
    assert_elements(",", (const char *[]){NULL});
    assert_elements("a b; c=d", (const char *[]){"a b; c=d", NULL});
}

static void commas_in_quotes_do_not_separate(void **state)
{
    (void)state;
    assert_elements("a=\"x,y\", b", (const char *[]){"a=\"x,y\"", "b", NULL});
    assert_elements("a=\"x\\\",y\", b", (const char *[]){"a=\"x\\\",y\"", "b", NULL});
    assert_elements("a=\"x\\\\\", y", (const char *[]){"a=\"x\\\\\"", "y", NULL});
    assert_elements("a=\"open, b", (const char *[]){"a=\"open, b", NULL});
    assert_elements("a=\"open\\", (const char *[]){"a=\"open\\", NULL});
}

static void tokens(void **state)
{
    (void)state;
    assert_true(redd_slice_has_token(str("keep-alive, Upgrade"), str("upgrade")));
    assert_true(redd_slice_has_token(str("UPGRADE"), str("upgrade")));
    assert_false(redd_slice_has_token(str("keep-alive, Upgraded"), str("upgrade")));
    assert_false(redd_slice_has_token(str("x upgrade"), str("upgrade")));
    assert_false(redd_slice_has_token(str("\"a, upgrade\""), str("upgrade")));
    assert_false(redd_slice_has_token(str(""), str("upgrade")));
    assert_false(redd_slice_has_token(str(",,"), str("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literal_and_null),
        cmocka_unit_test(equality),
        cmocka_unit_test(nocase_folds_ascii_letters_only),
        cmocka_unit_test(trim),
        cmocka_unit_test(list_elements),
        cmocka_unit_test(commas_in_quotes_do_not_separate),
        cmocka_unit_test(tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
