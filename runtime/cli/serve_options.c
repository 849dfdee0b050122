/* SPDX-License-Identifier: MIT */
#include "runtime/cli/serve_options.h"

#include "runtime/cli/hint.h"

#include <redd/error.h>
#include <redd/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FLAG_HELP = 'h',
    FLAG_HOST = 256,
    FLAG_PORT,
    FLAG_UNIX,
    FLAG_UNIX_MODE,
    FLAG_PARALLEL,
    FLAG_BALANCE,
    FLAG_LISTING,
    FLAG_HIDDEN,
    FLAG_INDEX,
    FLAG_CACHE_CONTROL,
    FLAG_COMPRESS,
    FLAG_ACCESS_LOG,
    FLAG_ACCESS_LOG_FORMAT,
    FLAG_METRICS,
    FLAG_METRICS_LISTEN,
    FLAG_HEALTH,
    FLAG_EXT,
    FLAG_SET,
    FLAG_VERSION
};

static const struct option flags[] = {
    {"host", required_argument, NULL, FLAG_HOST},
    {"port", required_argument, NULL, FLAG_PORT},
    {"unix", required_argument, NULL, FLAG_UNIX},
    {"unix-mode", required_argument, NULL, FLAG_UNIX_MODE},
    {"parallel", optional_argument, NULL, FLAG_PARALLEL},
    {"balance", required_argument, NULL, FLAG_BALANCE},
    {"listing", no_argument, NULL, FLAG_LISTING},
    {"hidden", no_argument, NULL, FLAG_HIDDEN},
    {"index", required_argument, NULL, FLAG_INDEX},
    {"cache-control", required_argument, NULL, FLAG_CACHE_CONTROL},
    {"compress", no_argument, NULL, FLAG_COMPRESS},
    {"access-log", required_argument, NULL, FLAG_ACCESS_LOG},
    {"access-log-format", required_argument, NULL, FLAG_ACCESS_LOG_FORMAT},
    {"metrics", required_argument, NULL, FLAG_METRICS},
    {"metrics-listen", required_argument, NULL, FLAG_METRICS_LISTEN},
    {"health", required_argument, NULL, FLAG_HEALTH},
    {"ext", required_argument, NULL, FLAG_EXT},
    {"set", required_argument, NULL, FLAG_SET},
    {"help", no_argument, NULL, FLAG_HELP},
    {"version", no_argument, NULL, FLAG_VERSION},
    {NULL, 0, NULL, 0},
};

#define MAX_WORKERS 1024

/* Digits only, at most `max`. */
static bool parse_number(const char *text, unsigned max, unsigned *out)
{
    unsigned n = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        n = n * 10 + (unsigned)(*text - '0');
        if (n > max)
            return false;
    }
    *out = n;
    return true;
}

static int take_port(redd__serve_options *o, const char *value, redd__sentence *why)
{
    unsigned port;
    if (!parse_number(value, UINT16_MAX, &port))
        return redd__sentence_set(
            why, REDD_EVALUE, "--port=%s: expected a number from 0 (a free port) to 65535", value);
    o->listen.port = (uint16_t)port;
    return 0;
}

static int take_parallel(redd__serve_options *o, const char *value, redd__sentence *why)
{
    o->workers_source = NULL;
    if (value) {
        if (!parse_number(value, MAX_WORKERS, &o->workers) || o->workers == 0)
            return redd__sentence_set(why, REDD_EVALUE,
                                      "--parallel=%s: expected a number of workers from 1 to %u",
                                      value, MAX_WORKERS);
        return 0;
    }
    int err = redd_default_workers(&o->workers, &o->workers_source);
    if (err)
        return redd__sentence_set(why, err, "%s=%s: expected a number of workers from 1 to %u",
                                  o->workers_source, getenv(o->workers_source), MAX_WORKERS);
    return 0;
}

typedef struct word {
    const char *text;
    int value;
} word;

/* One of a few words; else the sentence names them all, and the nearest. */
static int take_word(const char *flag, const char *value, const word *known, size_t n, int *out,
                     redd__sentence *why)
{
    redd__hint hint = {.word = value};
    char buf[64], expected[128] = "";
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
    return redd__sentence_set(why, REDD_EVALUE, "%s=%s: expected %s%s", flag, value, expected,
                              redd__hint_text(&hint, "", buf, sizeof(buf)));
}

static int take_balance(redd__serve_options *o, const char *value, redd__sentence *why)
{
    static const word known[] = {{"auto", REDD_BALANCE_AUTO},
                                 {"reuseport", REDD_BALANCE_REUSEPORT},
                                 {"shared", REDD_BALANCE_SHARED}};
    int balance = REDD_BALANCE_AUTO;
    int err = take_word("--balance", value, known, sizeof(known) / sizeof(*known), &balance, why);
    o->listen.balance = (redd_balance)balance;
    return err;
}

static int take_log_format(redd__serve_options *o, const char *value, redd__sentence *why)
{
    static const word known[] = {{"common", REDD_ACCESS_LOG_COMMON},
                                 {"combined", REDD_ACCESS_LOG_COMBINED},
                                 {"json", REDD_ACCESS_LOG_JSON}};
    int format = REDD_ACCESS_LOG_COMMON;
    int err = take_word("--access-log-format", value, known, sizeof(known) / sizeof(*known),
                        &format, why);
    o->access_log_format = (redd_access_log_format)format;
    return err;
}

/* Octal, as for chmod. */
static int take_mode(redd__serve_options *o, const char *value, redd__sentence *why)
{
    size_t digits = strspn(value, "01234567");
    if (digits == 0 || digits > 4 || value[digits])
        return redd__sentence_set(why, REDD_EVALUE,
                                  "--unix-mode=%s: expected an octal mode such as 0660", value);
    o->unix_mode = (unsigned)strtoul(value, NULL, 8);
    return 0;
}

static int take_path(const char *flag, const char *value, const char **out, redd__sentence *why)
{
    if (value[0] != '/')
        return redd__sentence_set(why, REDD_EVALUE,
                                  "%s=%s: expected a path that begins with a slash", flag, value);
    *out = value;
    return 0;
}

/* What may be in a file's name and nothing else. */
static int take_index(redd__serve_options *o, const char *value, redd__sentence *why)
{
    if (strchr(value, '/'))
        return redd__sentence_set(why, REDD_EVALUE, "--index=%s: expected a file's name", value);
    o->index = value;
    return 0;
}

static int take_host(redd__serve_options *o, const char *value, redd__sentence *why)
{
    if (!*value)
        return redd__sentence_set(why, REDD_EVALUE,
                                  "--host=: expected an IPv4 or IPv6 address, or a name");
    o->listen.host = value;
    return 0;
}

static int take_app(redd__serve_options *o, const char *path, redd__sentence *why)
{
    unsigned number;
    if (parse_number(path, MAX_WORKERS, &number)) /* as in "--parallel 4" */
        return redd__sentence_set(why, REDD_EVALUE,
                                  "unexpected %s: a number of workers is written as --parallel=%s",
                                  path, path);
    if (o->app)
        return redd__sentence_set(why, REDD_EVALUE, "one APP is served, but %s and %s are named",
                                  o->app, path);
    o->app = path;
    return 0;
}

static int take_listen_flag(redd__serve_options *o, int flag, const char *value,
                            redd__sentence *why)
{
    switch (flag) {
    case FLAG_HOST:
        o->address_given = true;
        return take_host(o, value, why);
    case FLAG_PORT:
        o->address_given = true;
        return take_port(o, value, why);
    case FLAG_UNIX:
        redd__texts_add(&o->unix_paths, value);
        return 0;
    case FLAG_UNIX_MODE:
        return take_mode(o, value, why);
    case FLAG_PARALLEL:
        return take_parallel(o, value, why);
    default:
        return take_balance(o, value, why);
    }
}

static int take_files_flag(redd__serve_options *o, int flag, const char *value, redd__sentence *why)
{
    switch (flag) {
    case FLAG_LISTING:
        o->listing = true;
        return 0;
    case FLAG_HIDDEN:
        o->hidden = true;
        return 0;
    case FLAG_INDEX:
        return take_index(o, value, why);
    case FLAG_CACHE_CONTROL:
        o->cache_control = value;
        return 0;
    default:
        o->compress = true;
        return 0;
    }
}

static int take_watch_flag(redd__serve_options *o, int flag, const char *value, redd__sentence *why)
{
    switch (flag) {
    case FLAG_ACCESS_LOG:
        o->access_log = value;
        return 0;
    case FLAG_ACCESS_LOG_FORMAT:
        return take_log_format(o, value, why);
    case FLAG_METRICS:
        return take_path("--metrics", value, &o->metrics_path, why);
    case FLAG_METRICS_LISTEN:
        o->metrics_listen = value;
        return 0;
    default:
        return take_path("--health", value, &o->health_path, why);
    }
}

static int take(int flag, const char *value, void *user, redd__sentence *why)
{
    redd__serve_options *o = user;
    if (flag >= FLAG_HOST && flag <= FLAG_BALANCE)
        return take_listen_flag(o, flag, value, why);
    if (flag >= FLAG_LISTING && flag <= FLAG_COMPRESS)
        return take_files_flag(o, flag, value, why);
    if (flag >= FLAG_ACCESS_LOG && flag <= FLAG_HEALTH)
        return take_watch_flag(o, flag, value, why);
    switch (flag) {
    case FLAG_EXT:
        redd__texts_add(&o->extensions, value);
        return 0;
    case FLAG_SET:
        redd__texts_add(&o->settings, value);
        return 0;
    case FLAG_HELP:
        o->help = true;
        return 0;
    case FLAG_VERSION:
        o->version = true;
        return 0;
    default:
        return take_app(o, value, why);
    }
}

int redd__serve_options_parse(redd__serve_options *o, int argc, char **argv, redd__sentence *why)
{
    static const redd__arguments arguments = {flags, take};
    *o = (redd__serve_options){
        .listen = REDD_LISTEN_OPTIONS_INIT,
        .workers = 1,
        .capacity = (size_t)argc,
    };
    o->listen.port = 8000;
    int err = redd__texts_init(&o->extensions, o->capacity);
    if (!err)
        err = redd__texts_init(&o->settings, o->capacity);
    if (!err)
        err = redd__texts_init(&o->unix_paths, o->capacity);
    if (err)
        return redd__sentence_set(why, err, "out of memory");
    err = redd__arguments_parse(&arguments, argc, argv, o, why);
    if (!err && !o->app && !o->help && !o->version)
        err = redd__sentence_set(
            why, REDD_EVALUE, "no APP is named: expected a .c file, a shared object or a folder");
    return err;
}

void redd__serve_options_fini(redd__serve_options *o)
{
    redd__texts_fini(&o->extensions, o->capacity);
    redd__texts_fini(&o->settings, o->capacity);
    redd__texts_fini(&o->unix_paths, o->capacity);
}
