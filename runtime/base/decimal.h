/* SPDX-License-Identifier: MIT */
/** Fractions of a power of ten as text: exact, and the same in every locale. */
#ifndef REDD_BASE_DECIMAL_H
#define REDD_BASE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#define REDD__DECIMAL_MAX 48 /* bytes of any, with the NUL */

/** n / scale, where `scale` is a power of ten: "12", "0.001", "1.5". */
void redd__decimal_put(char out[REDD__DECIMAL_MAX], uint64_t n, uint64_t scale);
/** The one form that OpenMetrics wants of bounds (1.0, "Canonical Numbers"): "12.0", "0.001",
 *  "1e+06", "1.5e-05". */
void redd__decimal_put_canonical(char out[REDD__DECIMAL_MAX], uint64_t n, uint64_t scale);

#endif
