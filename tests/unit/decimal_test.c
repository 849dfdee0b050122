/* SPDX-License-Identifier: MIT */
/** Fractions as text. */
#include "runtime/base/decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define E18 1000000000000000000
#define E19 10000000000000000000U

static void exact(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t n, scale;
        const char *text;
    } cases[] = {
        {0, 1, "0"},
        {12, 1, "12"},
        {UINT64_MAX, 1, "18446744073709551615"},
        {0, 1000, "0"},
        {1, 1000, "0.001"},
        {10, 1000, "0.01"},
        {1500, 1000, "1.5"},
        {1001, 1000, "1.001"},
        {3000, 1000, "3"},
        {100, 10, "10"},
        {9007199254740993, 1000000, "9007199254.740993"}, /* no double holds it */
        {UINT64_MAX, 10, "1844674407370955161.5"},
        {1, E18, "0.000000000000000001"},
        {UINT64_MAX, E18, "18.446744073709551615"},
        {UINT64_MAX, E19, "1.8446744073709551615"},
        {1, E19, "0.0000000000000000001"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[REDD__DECIMAL_MAX];
        redd__decimal_put(text, cases[i].n, cases[i].scale);
        assert_string_equal(text, cases[i].text);
    }
}

static void canonical(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t n, scale;
        const char *text;
    } cases[] = {
        {0, 1, "0.0"},
        {0, 1000, "0.0"},
        {1, 1, "1.0"},
        {1, 1000, "0.001"},
        {17, 10, "1.7"},
        {10000, 1000, "10.0"},
        {100, 1, "100.0"},
        {1, 10000, "0.0001"},
        {9, 100000, "9e-05"},
        {1, 100000, "1e-05"},
        {15, 1000000, "1.5e-05"},
        {1, 10000000000, "1e-10"},
        {999999, 1, "999999.0"},
        {9999995, 10, "999999.5"},
        {1000000, 1, "1e+06"},
        {1048576, 1, "1.048576e+06"},
        {10000000000, 1, "1e+10"},
        {10000000000, 1000, "1e+07"},
        {UINT64_MAX, 1, "1.8446744073709551615e+19"},
        {UINT64_MAX, E18, "18.446744073709551615"},
        {1, E19, "1e-19"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[REDD__DECIMAL_MAX];
        redd__decimal_put_canonical(text, cases[i].n, cases[i].scale);
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact), cmocka_unit_test(canonical)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
