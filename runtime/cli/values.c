/* SPDX-License-Identifier: MIT */
#include "runtime/cli/values.h"

#include "runtime/cli/hint.h"
#include "runtime/worker/option.h"

#include <redd/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

static int refuse(const char *flag, const char *value, const char *expected, redd__sentence *why)
{
    return redd__sentence_set(why, REDD_EVALUE, "%s=%s: expected %s", flag, value, expected);
}

bool redd__value_number(const char *text, unsigned max, unsigned *out)
{
    unsigned n = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        unsigned digit = (unsigned)(*text - '0');
        if (*text < '0' || *text > '9' || n > (max - digit) / 10 || digit > max)
            return false;
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}

int redd__value_port(const char *flag, const char *value, uint16_t *out, redd__sentence *why)
{
    unsigned port;
    if (!redd__value_number(value, UINT16_MAX, &port))
        return refuse(flag, value, "a number from 0 (a free port) to 65535", why);
    *out = (uint16_t)port;
    return 0;
}

int redd__value_time(const char *flag, const char *value, uint64_t *out, redd__sentence *why)
{
    static const redd_option time = {
        .unit = REDD_UNIT_MILLIS, .min = 1, .max = UINT64_C(24) * 60 * 60 * 1000};
    char expected[96];
    if (redd__option_parse(&time, value, out) == 0)
        return 0;
    redd__option_expected(&time, expected, sizeof(expected));
    return refuse(flag, value, expected, why);
}

int redd__value_word(const char *flag, const char *value, const redd__word *known, size_t n,
                     int *out, redd__sentence *why)
{
    redd__hint hint = {.word = value};
    char buf[64], expected[256] = "";
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(known[i].text, value) == 0) {
            *out = known[i].value;
            return 0;
        }
        redd__hint_offer(&hint, known[i].text);
        const char *join = i == 0 ? "" : i + 1 == n ? " or " : ", ";
        len +=
            (size_t)snprintf(expected + len, sizeof(expected) - len, "%s%s", join, known[i].text);
    }
    (void)snprintf(expected + len, sizeof(expected) - len, "%s",
                   redd__hint_text(&hint, "", buf, sizeof(buf)));
    return refuse(flag, value, expected, why);
}

int redd__value_mode(const char *flag, const char *value, unsigned *out, redd__sentence *why)
{
    unsigned long mode = strtoul(value, NULL, 8);
    size_t digits = strspn(value, "01234567");
    if (digits == 0 || digits > 4 || value[digits] || mode == 0 || mode > 0777)
        return refuse(flag, value, "an octal mode from 0001 to 0777, such as 0660", why);
    *out = (unsigned)mode;
    return 0;
}

int redd__value_address(const char *flag, const char *value, char *host, size_t size,
                        uint16_t *port, redd__sentence *why)
{
    unsigned number;
    const char *colon = strrchr(value, ':');
    size_t n = colon ? (size_t)(colon - value) : 0;
    bool brackets = n > 2 && value[0] == '[' && value[n - 1] == ']';
    bool bare_ipv6 = !brackets && memchr(value, ':', n);
    if (n == 0 || n >= size || bare_ipv6 || !redd__value_number(colon + 1, UINT16_MAX, &number))
        return refuse(flag, value, "HOST:PORT, with an IPv6 address in brackets", why);
    (void)snprintf(host, size, "%.*s", (int)(n - 2 * (size_t)brackets), value + brackets);
    *port = (uint16_t)number;
    return 0;
}

int redd__value_socket(const char *flag, const char *value, redd__sentence *why)
{
    size_t n = strlen(value);
    if (n == 0 || n >= sizeof(((struct sockaddr_un *)0)->sun_path) || strcmp(value, "@") == 0)
        return refuse(flag, value, "a path or @NAME of at most 107 bytes", why);
    return 0;
}

int redd__value_url_path(const char *flag, const char *value, redd__sentence *why)
{
    bool good = value[0] == '/';
    for (const char *p = value; *p; p++)
        good = good && *p > ' ' && *p <= '~' && *p != '?' && *p != '#';
    return good ? 0 : refuse(flag, value, "the path of a URL, such as /status", why);
}

int redd__value_file_name(const char *flag, const char *value, redd__sentence *why)
{
    if (strchr(value, '/') || strcmp(value, ".") == 0 || strcmp(value, "..") == 0)
        return refuse(flag, value, "the name of a file", why);
    return 0;
}

int redd__value_field(const char *flag, const char *value, redd__sentence *why)
{
    for (const char *p = value; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            return redd__sentence_set(
                why, REDD_EVALUE, "%s: expected the value of a field, without control bytes", flag);
    return 0;
}
