/* SPDX-License-Identifier: MIT */
#include "runtime/worker/option.h"

#include <redd/error.h>

#include <stdio.h>
#include <string.h>

typedef struct suffix {
    const char *text;
    uint64_t factor;
} suffix;

/* The largest first, so that a value is written with the first that divides it. */
static const suffix sizes[] = {{"g", 1U << 30}, {"m", 1U << 20}, {"k", 1U << 10}, {"", 1}};
static const suffix times[] = {{"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};
static const suffix counts[] = {{"", 1}};

typedef struct unit {
    const char *noun;
    const char *example;
    const suffix *suffixes;
    size_t n;
    uint64_t bare; /* factor of a number without a suffix */
} unit;

static const unit units[] = {
    [REDD_UNIT_COUNT] = {"a number", "", counts, 1, 1},
    [REDD_UNIT_BYTES] = {"a size", ", such as 64k", sizes, 4, 1},
    [REDD_UNIT_MILLIS] = {"a time", ", such as 250ms, 30s or 2m", times, 4, 1000},
};

static bool in_range(const redd_option *o, uint64_t n)
{
    return n >= o->min && n <= o->max;
}

bool redd__option_valid(const redd_option *o)
{
    if (o->unit == REDD_UNIT_SWITCH)
        return o->default_value <= 1;
    if (o->unit == REDD_UNIT_TEXT)
        return o->default_value == 0 && o->min <= o->max;
    return (size_t)o->unit < sizeof(units) / sizeof(units[0]) && in_range(o, o->default_value);
}

static bool factor_of(const unit *u, const char *text, uint64_t *factor)
{
    *factor = u->bare;
    if (*text == '\0')
        return true;
    for (size_t i = 0; i < u->n; i++)
        if (strcmp(text, u->suffixes[i].text) == 0) {
            *factor = u->suffixes[i].factor;
            return true;
        }
    return false;
}

static bool parse_number(const unit *u, const char *text, uint64_t *out)
{
    uint64_t n = 0;
    uint64_t factor;
    const char *p = text;
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (n > (UINT64_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    if (p == text || !factor_of(u, p, &factor) || n > UINT64_MAX / factor)
        return false;
    *out = n * factor;
    return true;
}

int redd__option_parse(const redd_option *o, const char *text, uint64_t *out)
{
    if (o->unit == REDD_UNIT_SWITCH) {
        bool on = strcmp(text, "on") == 0;
        if (!on && strcmp(text, "off") != 0)
            return REDD_EVALUE;
        *out = on;
        return 0;
    }
    uint64_t n;
    if (o->unit == REDD_UNIT_TEXT)
        n = strlen(text);
    else if (!parse_number(&units[o->unit], text, &n))
        return REDD_EVALUE;
    if (!in_range(o, n))
        return REDD_EVALUE;
    *out = n;
    return 0;
}

static void format_number(const unit *u, uint64_t n, char *buf, size_t size)
{
    size_t i = 0;
    while (i + 1 < u->n && (n == 0 || n % u->suffixes[i].factor != 0))
        i++;
    (void)snprintf(buf, size, "%llu%s", (unsigned long long)(n / u->suffixes[i].factor),
                   u->suffixes[i].text);
}

void redd__option_format(const redd_option *o, uint64_t value, char *buf, size_t size)
{
    if (o->unit == REDD_UNIT_SWITCH)
        (void)snprintf(buf, size, "%s", value ? "on" : "off");
    else
        format_number(&units[o->unit], value, buf, size);
}

void redd__option_expected(const redd_option *o, char *buf, size_t size)
{
    if (o->unit == REDD_UNIT_SWITCH) {
        (void)snprintf(buf, size, "on or off");
        return;
    }
    if (o->unit == REDD_UNIT_TEXT) {
        (void)snprintf(buf, size, "a text of %llu to %llu bytes", (unsigned long long)o->min,
                       (unsigned long long)o->max);
        return;
    }
    const unit *u = &units[o->unit];
    char min[32];
    char max[32];
    format_number(u, o->min, min, sizeof(min));
    format_number(u, o->max, max, sizeof(max));
    (void)snprintf(buf, size, "%s from %s to %s%s", u->noun, min, max, u->example);
}
