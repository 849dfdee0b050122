/* SPDX-License-Identifier: MIT */
#include "ext/http/log/stamp.h"

#include "ext/http/put.h"

#include <time.h>

/* Where the milliseconds stand in the RFC 3339 form. */
#define MILLIS 20

/* Not strftime: its names follow the locale. */
static void make(redd__stamp *s, int64_t second)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t t = (time_t)second;
    struct tm tm;
    (void)gmtime_r(&t, &tm);
    char day[2], month[2], year[4], clock[8];
    (void)redd__put_padded(day, (unsigned)tm.tm_mday, 2);
    (void)redd__put_padded(month, (unsigned)tm.tm_mon + 1, 2);
    (void)redd__put_padded(year, (unsigned)tm.tm_year + 1900, 4);
    char *p = redd__put_padded(clock, (unsigned)tm.tm_hour, 2);
    *p++ = ':';
    p = redd__put_padded(p, (unsigned)tm.tm_min, 2);
    *p++ = ':';
    (void)redd__put_padded(p, (unsigned)tm.tm_sec, 2);

    p = redd__put(s->common, day, sizeof day);
    *p++ = '/';
    p = redd__put(p, months + (size_t)tm.tm_mon % 12 * 3, 3);
    *p++ = '/';
    p = redd__put(p, year, sizeof year);
    *p++ = ':';
    p = redd__put(p, clock, sizeof clock);
    (void)REDD__PUT(p, " +0000");

    p = redd__put(s->rfc3339, year, sizeof year);
    *p++ = '-';
    p = redd__put(p, month, sizeof month);
    *p++ = '-';
    p = redd__put(p, day, sizeof day);
    *p++ = 'T';
    p = redd__put(p, clock, sizeof clock);
    (void)REDD__PUT(p, ".000Z");
}

void redd__stamp_init(redd__stamp *s)
{
    s->second = 0;
    make(s, 0);
}

void redd__stamp_set(redd__stamp *s, int64_t ms)
{
    int64_t second = ms / 1000;
    if (second != s->second) {
        s->second = second;
        make(s, second);
    }
    (void)redd__put_padded(s->rfc3339 + MILLIS, (unsigned)(ms % 1000), 3);
}
