/* SPDX-License-Identifier: MIT */
#include "runtime/cli/serve_options.h"

#include "runtime/cli/hint.h"

#include <redd/error.h>
#include <redd/runtime.h>

#include <stdlib.h>
#include <string.h>

enum {
    FLAG_HELP = 'h',
    FLAG_HOST = 256,
    FLAG_PORT,
    FLAG_PARALLEL,
    FLAG_BALANCE,
    FLAG_EXT,
    FLAG_SET,
    FLAG_VERSION
};

static const struct option flags[] = {
    {"host", required_argument, NULL, FLAG_HOST},
    {"port", required_argument, NULL, FLAG_PORT},
    {"parallel", optional_argument, NULL, FLAG_PARALLEL},
    {"balance", required_argument, NULL, FLAG_BALANCE},
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

static int take_balance(redd__serve_options *o, const char *value, redd__sentence *why)
{
    static const struct {
        const char *name;
        redd_balance balance;
    } known[] = {{"auto", REDD_BALANCE_AUTO},
                 {"reuseport", REDD_BALANCE_REUSEPORT},
                 {"shared", REDD_BALANCE_SHARED}};
    redd__hint hint = {.word = value};
    char buf[64];
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i].name, value) == 0) {
            o->listen.balance = known[i].balance;
            return 0;
        }
        redd__hint_offer(&hint, known[i].name);
    }
    return redd__sentence_set(why, REDD_EVALUE,
                              "--balance=%s: expected auto, reuseport or shared%s", value,
                              redd__hint_text(&hint, "", buf, sizeof(buf)));
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

static int take(int flag, const char *value, void *user, redd__sentence *why)
{
    redd__serve_options *o = user;
    switch (flag) {
    case FLAG_HOST:
        return take_host(o, value, why);
    case FLAG_PORT:
        return take_port(o, value, why);
    case FLAG_PARALLEL:
        return take_parallel(o, value, why);
    case FLAG_BALANCE:
        return take_balance(o, value, why);
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
    if (err)
        return redd__sentence_set(why, err, "out of memory");
    err = redd__arguments_parse(&arguments, argc, argv, o, why);
    if (!err && !o->app && !o->help && !o->version)
        err = redd__sentence_set(why, REDD_EVALUE,
                                 "no APP is named: expected a .c file or a shared object");
    return err;
}

void redd__serve_options_fini(redd__serve_options *o)
{
    redd__texts_fini(&o->extensions, o->capacity);
    redd__texts_fini(&o->settings, o->capacity);
}
