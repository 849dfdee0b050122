/* SPDX-License-Identifier: MIT */
#include "runtime/worker/version.h"

#include <stdint.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool redd__version_valid(const char *version)
{
    for (;;) {
        if (!is_digit(*version))
            return false;
        while (is_digit(*version))
            version++;
        if (*version == '\0')
            return true;
        if (*version++ != '.')
            return false;
    }
}

/** Reads one number and the dot behind it; 0 at the end. Huge numbers are all the same. */
static uint64_t next_number(const char **version)
{
    uint64_t n = 0;
    for (; is_digit(**version); (*version)++)
        n = n < UINT64_MAX / 100 ? n * 10 + (uint64_t)(**version - '0') : UINT64_MAX;
    if (**version == '.')
        (*version)++;
    return n;
}

int redd__version_compare(const char *a, const char *b)
{
    while (*a || *b) {
        uint64_t left = next_number(&a);
        uint64_t right = next_number(&b);
        if (left != right)
            return left < right ? -1 : 1;
    }
    return 0;
}
