/* SPDX-License-Identifier: MIT */
#include "runtime/base/decimal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void redd__decimal_put(char out[REDD__DECIMAL_MAX], uint64_t n, uint64_t scale)
{
    char *p = out + snprintf(out, REDD__DECIMAL_MAX, "%" PRIu64, n / scale);
    uint64_t rest = n % scale;
    if (rest > 0)
        *p++ = '.';
    for (; rest > 0; rest %= scale) {
        scale /= 10;
        *p++ = (char)('0' + rest / scale);
    }
    *p = '\0';
}

/** d.ddde+XX */
static void put_exponent(char out[REDD__DECIMAL_MAX], uint64_t n, uint64_t scale)
{
    char digits[24];
    int len = snprintf(digits, sizeof(digits), "%" PRIu64, n), exponent = len - 1;
    for (; scale > 1; scale /= 10)
        exponent--;
    while (len > 1 && digits[len - 1] == '0')
        len--;
    (void)snprintf(out, REDD__DECIMAL_MAX, "%c%s%.*se%+03d", digits[0], len > 1 ? "." : "", len - 1,
                   digits + 1, exponent);
}

void redd__decimal_put_canonical(char out[REDD__DECIMAL_MAX], uint64_t n, uint64_t scale)
{
    if (n / scale >= 1000000 || (n > 0 && n < scale / 10000)) {
        put_exponent(out, n, scale);
        return;
    }
    redd__decimal_put(out, n, scale);
    if (n % scale == 0)
        memcpy(out + strlen(out), ".0", sizeof(".0"));
}
