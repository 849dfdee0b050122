/* SPDX-License-Identifier: MIT */
#include "ext/websocket/mask.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define TOP_BITS UINT64_C(0x8080808080808080)

#ifdef __SSE2__

/* Whole vectors; returns the bytes done and adds what they hold to *seen. */
static size_t unmask_vectors(char *p, size_t n, uint32_t mask, uint64_t *seen)
{
    const __m128i m = _mm_set1_epi32((int)mask);
    __m128i all = _mm_setzero_si128();
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        __m128i *v = (__m128i *)(void *)(p + i);
        __m128i a = _mm_xor_si128(_mm_loadu_si128(v), m);
        __m128i b = _mm_xor_si128(_mm_loadu_si128(v + 1), m);
        __m128i c = _mm_xor_si128(_mm_loadu_si128(v + 2), m);
        __m128i d = _mm_xor_si128(_mm_loadu_si128(v + 3), m);
        _mm_storeu_si128(v, a);
        _mm_storeu_si128(v + 1, b);
        _mm_storeu_si128(v + 2, c);
        _mm_storeu_si128(v + 3, d);
        all = _mm_or_si128(all, _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d)));
    }
    for (; i + 16 <= n; i += 16) {
        __m128i *v = (__m128i *)(void *)(p + i);
        __m128i a = _mm_xor_si128(_mm_loadu_si128(v), m);
        _mm_storeu_si128(v, a);
        all = _mm_or_si128(all, a);
    }
    if (_mm_movemask_epi8(all))
        *seen |= TOP_BITS;
    return i;
}

#else

static size_t unmask_vectors(char *p, size_t n, uint32_t mask, uint64_t *seen)
{
    const uint64_t m = (uint64_t)mask << 32 | mask;
    uint64_t all[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        uint64_t v[4];
        memcpy(v, p + i, sizeof v);
        for (size_t k = 0; k < 4; k++) {
            v[k] ^= m;
            all[k] |= v[k];
        }
        memcpy(p + i, v, sizeof v);
    }
    *seen |= all[0] | all[1] | all[2] | all[3];
    return i;
}

#endif

bool redd__ws_unmask(char *p, size_t n, uint32_t mask)
{
    uint64_t seen = 0;
    size_t i = unmask_vectors(p, n, mask, &seen);
    for (; i + 4 <= n; i += 4) {
        uint32_t v;
        memcpy(&v, p + i, 4);
        v ^= mask;
        memcpy(p + i, &v, 4);
        seen |= v;
    }
    char m[4];
    memcpy(m, &mask, 4);
    for (size_t k = 0; i < n; i++, k++) {
        p[i] = (char)(p[i] ^ m[k]);
        seen |= (uint8_t)p[i];
    }
    return (seen & TOP_BITS) == 0;
}
