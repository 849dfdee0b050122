/* SPDX-License-Identifier: MIT */
#include "ext/http/files/range.h"

#include <stdlib.h>

#define ASKED_MAX 64 /* more than this in one field is no honest question */
#define GAP       80 /* bytes of a part's head */

/* Digits at the front; saturates, which is past the end of every file. False: there are none. */
static bool take_number(redd_slice *s, uint64_t *out)
{
    size_t i = 0;
    *out = 0;
    for (; i < s->len && s->data[i] >= '0' && s->data[i] <= '9'; i++) {
        unsigned digit = (unsigned)(s->data[i] - '0');
        *out = *out > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *out * 10 + digit;
    }
    *s = redd_slice_of(s->data + i, s->len - i);
    return i > 0;
}

typedef enum verdict { MALFORMED, OUTSIDE, INSIDE } verdict;

/* "-suffix": the last bytes. */
static verdict parse_suffix(redd_slice s, uint64_t size, redd__range *out)
{
    uint64_t n;
    s = redd_slice_of(s.data + 1, s.len - 1);
    if (!take_number(&s, &n) || s.len > 0)
        return MALFORMED;
    if (n == 0 || size == 0)
        return OUTSIDE;
    *out = (redd__range){n < size ? size - n : 0, size - 1};
    return INSIDE;
}

/* "first-" or "first-last". */
static verdict parse_one(redd_slice s, uint64_t size, redd__range *out)
{
    uint64_t first, last = UINT64_MAX;
    if (s.data[0] == '-')
        return parse_suffix(s, size, out);
    if (!take_number(&s, &first) || s.len == 0 || s.data[0] != '-')
        return MALFORMED;
    s = redd_slice_of(s.data + 1, s.len - 1);
    if (s.len > 0 && (!take_number(&s, &last) || s.len > 0))
        return MALFORMED;
    if (last < first)
        return MALFORMED;
    if (first >= size)
        return OUTSIDE;
    *out = (redd__range){first, last < size ? last : size - 1};
    return INSIDE;
}

static int compare(const void *a, const void *b)
{
    const redd__range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static size_t merge(redd__range *ranges, size_t n)
{
    size_t kept = 0;
    qsort(ranges, n, sizeof *ranges, compare);
    for (size_t i = 1; i < n; i++) {
        if (ranges[i].first > ranges[kept].last && ranges[i].first - ranges[kept].last > GAP)
            ranges[++kept] = ranges[i];
        else if (ranges[i].last > ranges[kept].last)
            ranges[kept].last = ranges[i].last;
    }
    return kept + 1;
}

redd__ranges_outcome redd__ranges_parse(redd_slice value, uint64_t size,
                                        redd__range out[REDD__RANGES_MAX], size_t *n)
{
    static const redd_slice unit = REDD_SLICE("bytes=");
    redd__range asked[ASKED_MAX];
    redd_slice element;
    size_t elements = 0, inside = 0;
    *n = 0;
    if (value.len < unit.len || !redd_slice_equal_nocase(redd_slice_of(value.data, unit.len), unit))
        return REDD__RANGES_NONE;
    redd_slice rest = redd_slice_of(value.data + unit.len, value.len - unit.len);
    while (redd_slice_next_element(&rest, &element)) {
        if (++elements > ASKED_MAX)
            return REDD__RANGES_NONE;
        verdict v = parse_one(element, size, &asked[inside]);
        if (v == MALFORMED)
            return REDD__RANGES_NONE;
        inside += v == INSIDE;
    }
    if (inside == 0)
        return elements > 0 ? REDD__RANGES_UNSATISFIABLE : REDD__RANGES_NONE;
    *n = merge(asked, inside);
    if (*n > REDD__RANGES_MAX)
        return REDD__RANGES_NONE;
    memcpy(out, asked, *n * sizeof *out);
    return REDD__RANGES_SOME;
}
