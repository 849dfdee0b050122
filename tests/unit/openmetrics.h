/* SPDX-License-Identifier: MIT */
/** A strict reader of OpenMetrics 1.0 text: all of it is right, or the test fails. */
#ifndef REDD_TESTS_UNIT_OPENMETRICS_H
#define REDD_TESTS_UNIT_OPENMETRICS_H

#include <redd/slice.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OM_FAMILIES = 128, OM_SERIES = 8192 };

typedef struct om_reader {
    redd_slice rest;
    /* The family in work. */
    redd_slice name, type, unit;
    bool helped;
    size_t n_samples;
    /* Of a histogram's series. */
    double last_bound;
    uint64_t last_count;
    bool infinite;                             /* its last bucket has come */
    enum { OM_BUCKET, OM_COUNT, OM_SUM } step; /* what came last */
    redd_slice families[OM_FAMILIES];
    size_t n_families;
    redd_slice series[OM_SERIES]; /* of the family: name and labels */
} om_reader;

static inline bool om_is(redd_slice s, const char *text)
{
    return redd_slice_equal(s, redd_slice_str(text));
}

/** Cuts up to `end` off the front, and drops `end`. */
static inline redd_slice om_until(redd_slice *rest, char end)
{
    const char *at = rest->len ? memchr(rest->data, end, rest->len) : NULL;
    assert_non_null(at);
    redd_slice s = redd_slice_of(rest->data, (size_t)(at - rest->data));
    *rest = redd_slice_of(at + 1, rest->len - s.len - 1);
    return s;
}

static inline bool om_name_char(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && c >= '0' && c <= '9');
}

/** Cuts a name off the front. */
static inline redd_slice om_name(redd_slice *rest)
{
    size_t n = 0;
    while (n < rest->len && om_name_char(rest->data[n], n == 0))
        n++;
    assert_true(n > 0);
    redd_slice s = redd_slice_of(rest->data, n);
    *rest = redd_slice_of(rest->data + n, rest->len - n);
    return s;
}

static inline void om_expect(redd_slice *rest, const char *text)
{
    size_t n = strlen(text);
    assert_true(rest->len >= n && memcmp(rest->data, text, n) == 0);
    *rest = redd_slice_of(rest->data + n, rest->len - n);
}

/** Cuts an escaped string off the front, up to a quote that is not escaped or the end. */
static inline redd_slice om_escaped(redd_slice *rest)
{
    size_t n = 0;
    for (; n < rest->len && rest->data[n] != '"'; n++)
        if (rest->data[n] == '\\') {
            n++;
            assert_true(n < rest->len && strchr("n\"\\", rest->data[n]));
        }
    redd_slice s = redd_slice_of(rest->data, n);
    *rest = redd_slice_of(rest->data + n, rest->len - n);
    return s;
}

static inline size_t om_digits(redd_slice s, size_t at)
{
    size_t n = at;
    while (n < s.len && s.data[n] >= '0' && s.data[n] <= '9')
        n++;
    assert_true(n > at);
    return n;
}

/** -12.5e+06; all of it. */
static inline double om_number(redd_slice s)
{
    size_t n = om_digits(s, s.len && s.data[0] == '-');
    if (n < s.len && s.data[n] == '.')
        n = om_digits(s, n + 1);
    if (n < s.len && s.data[n] == 'e') {
        assert_true(n + 1 < s.len && strchr("+-", s.data[n + 1]));
        n = om_digits(s, n + 2);
    }
    assert_int_equal(n, s.len);
    char text[64];
    (void)snprintf(text, sizeof(text), "%.*s", (int)s.len, s.data);
    return strtod(text, NULL);
}

static inline void om_end_family(const om_reader *r)
{
    if (r->n_families == 0)
        return;
    assert_true(r->helped);
    assert_true(r->n_samples > 0);
    assert_true(r->step == OM_SUM);
}

static inline void om_begin_family(om_reader *r, redd_slice name, redd_slice type)
{
    om_end_family(r);
    for (size_t i = 0; i < r->n_families; i++)
        assert_false(redd_slice_equal(r->families[i], name));
    assert_true(r->n_families < OM_FAMILIES);
    assert_true(om_is(type, "counter") || om_is(type, "gauge") || om_is(type, "histogram") ||
                om_is(type, "info"));
    r->families[r->n_families++] = r->name = name;
    r->type = type;
    r->unit = redd_slice_of(NULL, 0);
    r->helped = false;
    r->step = OM_SUM;
    r->n_samples = 0;
}

static inline void om_unit(om_reader *r, redd_slice unit)
{
    assert_true(!r->unit.data && !r->helped && unit.len > 0 && unit.len + 1 < r->name.len);
    const char *end = r->name.data + r->name.len - unit.len;
    assert_true(end[-1] == '_' && memcmp(end, unit.data, unit.len) == 0);
    r->unit = unit;
}

static inline void om_comment(om_reader *r, redd_slice line)
{
    redd_slice keyword = om_until(&line, ' ');
    redd_slice name = om_name(&line);
    om_expect(&line, " ");
    if (om_is(keyword, "TYPE")) {
        om_begin_family(r, name, line);
        return;
    }
    assert_true(r->n_samples == 0 && redd_slice_equal(name, r->name));
    if (om_is(keyword, "UNIT")) {
        om_unit(r, line);
    } else {
        assert_true(om_is(keyword, "HELP") && !r->helped && line.len > 0);
        (void)om_escaped(&line);
        assert_int_equal(line.len, 0);
        r->helped = true;
    }
}

/** {name="value",...}, when there are any; returns what `le` says, if it is there. */
static inline redd_slice om_labels(redd_slice *line)
{
    redd_slice le = redd_slice_of(NULL, 0), names[8];
    size_t n = 0;
    if (line->len == 0 || line->data[0] != '{')
        return le;
    do {
        *line = redd_slice_of(line->data + 1, line->len - 1);
        assert_true(n < 8);
        names[n] = om_name(line);
        for (size_t i = 0; i < n; i++)
            assert_false(redd_slice_equal(names[i], names[n]));
        om_expect(line, "=\"");
        redd_slice value = om_escaped(line);
        om_expect(line, "\"");
        assert_true(value.len > 0);
        if (om_is(names[n++], "le"))
            le = value;
    } while (line->len > 0 && line->data[0] == ',');
    om_expect(line, "}");
    return le;
}

static inline void om_bucket(om_reader *r, redd_slice le, uint64_t count, bool first)
{
    assert_true(le.len > 0);
    r->infinite = om_is(le, "+Inf");
    double bound = r->infinite ? 1e300 : om_number(le);
    assert_true(r->infinite || memchr(le.data, '.', le.len) || memchr(le.data, 'e', le.len));
    assert_true(first || (bound > r->last_bound && count >= r->last_count));
    r->last_bound = bound;
    r->last_count = count;
}

/** Buckets in order, then count, then sum. */
static inline void om_histogram(om_reader *r, redd_slice suffix, redd_slice le, redd_slice value)
{
    double number = om_number(value);
    assert_true(number >= 0);
    if (om_is(suffix, "_bucket")) {
        bool first = r->step == OM_SUM;
        assert_true(first || (r->step == OM_BUCKET && !r->infinite));
        om_bucket(r, le, (uint64_t)number, first);
        r->step = OM_BUCKET;
    } else if (om_is(suffix, "_count")) {
        assert_true(r->step == OM_BUCKET && r->infinite && !le.data);
        assert_int_equal((uint64_t)number, r->last_count);
        r->step = OM_COUNT;
    } else {
        assert_true(om_is(suffix, "_sum") && r->step == OM_COUNT && !le.data);
        r->step = OM_SUM;
    }
}

static inline void om_sample(om_reader *r, redd_slice line)
{
    redd_slice key = line;
    redd_slice name = om_name(&line);
    assert_true(name.len >= r->name.len && memcmp(name.data, r->name.data, r->name.len) == 0);
    redd_slice suffix = redd_slice_of(name.data + r->name.len, name.len - r->name.len);
    redd_slice le = om_labels(&line);
    key.len -= line.len;
    for (size_t i = 0; i < r->n_samples; i++)
        assert_false(redd_slice_equal(r->series[i], key));
    om_expect(&line, " ");
    if (om_is(r->type, "histogram"))
        om_histogram(r, suffix, le, line);
    else
        assert_null(le.data);
    if (om_is(r->type, "counter"))
        assert_true(om_is(suffix, "_total") && om_number(line) >= 0);
    if (om_is(r->type, "gauge"))
        assert_true(suffix.len == 0 && om_number(line) > -1e300);
    if (om_is(r->type, "info"))
        assert_true(om_is(suffix, "_info") && om_is(line, "1"));
    assert_true(r->n_samples < OM_SERIES);
    r->series[r->n_samples++] = key;
}

/** The whole text. */
static inline void om_check(redd_slice text)
{
    om_reader *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    r->rest = text;
    for (;;) {
        redd_slice line = om_until(&r->rest, '\n');
        if (om_is(line, "# EOF"))
            break;
        assert_true(line.len > 0);
        if (line.data[0] != '#') {
            om_sample(r, line);
        } else {
            om_expect(&line, "# ");
            om_comment(r, line);
        }
    }
    om_end_family(r);
    assert_int_equal(r->rest.len, 0);
    free(r);
}

/** No line holds `text`. */
static inline bool om_lacks(redd_slice page, const char *text)
{
    for (size_t n = strlen(text), i = 0; i + n <= page.len; i++)
        if (memcmp(page.data + i, text, n) == 0)
            return false;
    return true;
}

/** The value of a series, `redd_x_total{label="value"}`. */
static inline double om_value(redd_slice text, const char *series)
{
    size_t n = strlen(series);
    while (text.len > 0) {
        redd_slice line = om_until(&text, '\n');
        if (line.len > n && memcmp(line.data, series, n) == 0 && line.data[n] == ' ')
            return om_number(redd_slice_of(line.data + n + 1, line.len - n - 1));
    }
    fail_msg("there is no series %s", series);
    return -1;
}

#endif
