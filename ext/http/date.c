/* SPDX-License-Identifier: MIT */
/* Not strftime and strptime: their names follow the locale. */
#include "ext/http/date.h"

#include "ext/http/put.h"

#include <time.h>

static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

char *redd__http_date_put(char *p, int64_t t)
{
    time_t seconds = (time_t)t;
    struct tm tm = {0};
    (void)gmtime_r(&seconds, &tm);
    p = redd__put(p, days[(unsigned)tm.tm_wday % 7], 3);
    p = REDD__PUT(p, ", ");
    p = redd__put_padded(p, (unsigned)tm.tm_mday, 2);
    *p++ = ' ';
    p = redd__put(p, months[(unsigned)tm.tm_mon % 12], 3);
    *p++ = ' ';
    p = redd__put_padded(p, (unsigned)tm.tm_year + 1900, 4);
    *p++ = ' ';
    p = redd__put_padded(p, (unsigned)tm.tm_hour, 2);
    *p++ = ':';
    p = redd__put_padded(p, (unsigned)tm.tm_min, 2);
    *p++ = ':';
    p = redd__put_padded(p, (unsigned)tm.tm_sec, 2);
    return REDD__PUT(p, " GMT");
}

/* --- reading --- */

static bool skip(redd_slice *s, const char *text)
{
    size_t n = strlen(text);
    if (s->len < n || memcmp(s->data, text, n) != 0)
        return false;
    *s = redd_slice_of(s->data + n, s->len - n);
    return true;
}

/* Exactly `digits` of them. */
static bool number(redd_slice *s, size_t digits, int *out)
{
    if (s->len < digits)
        return false;
    *out = 0;
    for (size_t i = 0; i < digits; i++) {
        if (s->data[i] < '0' || s->data[i] > '9')
            return false;
        *out = *out * 10 + (s->data[i] - '0');
    }
    *s = redd_slice_of(s->data + digits, s->len - digits);
    return true;
}

static bool month(redd_slice *s, struct tm *tm)
{
    for (tm->tm_mon = 0; tm->tm_mon < 12; tm->tm_mon++)
        if (skip(s, months[tm->tm_mon]))
            return true;
    return false;
}

static bool clock_time(redd_slice *s, struct tm *tm)
{
    return number(s, 2, &tm->tm_hour) && skip(s, ":") && number(s, 2, &tm->tm_min) &&
           skip(s, ":") && number(s, 2, &tm->tm_sec);
}

static bool year(redd_slice *s, struct tm *tm)
{
    if (!number(s, 4, &tm->tm_year))
        return false;
    tm->tm_year -= 1900;
    return true;
}

static bool day_name(redd_slice *s)
{
    for (int i = 0; i < 7; i++)
        if (skip(s, days[i]))
            return true;
    return false;
}

static bool imf_fixdate(redd_slice s, struct tm *tm)
{
    return day_name(&s) && skip(&s, ", ") && number(&s, 2, &tm->tm_mday) && skip(&s, " ") &&
           month(&s, tm) && skip(&s, " ") && year(&s, tm) && skip(&s, " ") && clock_time(&s, tm) &&
           skip(&s, " GMT") && s.len == 0;
}

static bool asctime_date(redd_slice s, struct tm *tm)
{
    if (!day_name(&s) || !skip(&s, " ") || !month(&s, tm) || !skip(&s, " "))
        return false;
    bool day = skip(&s, " ") ? number(&s, 1, &tm->tm_mday) : number(&s, 2, &tm->tm_mday);
    return day && skip(&s, " ") && clock_time(&s, tm) && skip(&s, " ") && year(&s, tm) &&
           s.len == 0;
}

/* A year of two digits that seems more than 50 years ahead is one of the past. */
static bool rfc850_date(redd_slice s, int64_t now, struct tm *tm)
{
    static const char *const ends[] = {"sday, ", "nesday, ", "rsday, ", "urday, ", "day, "};
    bool found = false;
    if (!day_name(&s))
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !found; i++)
        found = skip(&s, ends[i]);
    if (!found || !number(&s, 2, &tm->tm_mday) || !skip(&s, "-") || !month(&s, tm) ||
        !skip(&s, "-") || !number(&s, 2, &tm->tm_year) || !skip(&s, " ") || !clock_time(&s, tm) ||
        !skip(&s, " GMT") || s.len != 0)
        return false;
    struct tm today = {0};
    time_t seconds = (time_t)now;
    (void)gmtime_r(&seconds, &today);
    tm->tm_year += today.tm_year / 100 * 100;
    if (tm->tm_year > today.tm_year + 50)
        tm->tm_year -= 100;
    return true;
}

bool redd__http_date_parse(redd_slice s, int64_t now, int64_t *t)
{
    struct tm tm = {0};
    if (!imf_fixdate(s, &tm) && !asctime_date(s, &tm) && !rfc850_date(s, now, &tm))
        return false;
    if (tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
        return false;
    *t = (int64_t)timegm(&tm);
    return true;
}
