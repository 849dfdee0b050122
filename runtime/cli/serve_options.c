/* SPDX-License-Identifier: MIT */
#include "runtime/cli/serve_options.h"

#include "runtime/cli/serve_files.h"
#include "runtime/cli/values.h"

#include <redd/error.h>
#include <redd/runtime.h>

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
    FLAG_DRAIN_TIMEOUT,
    FLAG_LISTING,
    FLAG_HIDDEN,
    FLAG_INDEX,
    FLAG_CACHE_CONTROL,
    FLAG_ACCESS_LOG,
    FLAG_ACCESS_LOG_FORMAT,
    FLAG_METRICS,
    FLAG_METRICS_LISTEN,
    FLAG_HEALTH,
    FLAG_EXT,
    FLAG_SET,
    FLAG_COMPRESS,
    FLAG_VERSION
};

static const struct option flags[] = {
    {"host", required_argument, NULL, FLAG_HOST},
    {"port", required_argument, NULL, FLAG_PORT},
    {"unix", required_argument, NULL, FLAG_UNIX},
    {"unix-mode", required_argument, NULL, FLAG_UNIX_MODE},
    {"parallel", optional_argument, NULL, FLAG_PARALLEL},
    {"balance", required_argument, NULL, FLAG_BALANCE},
    {"drain-timeout", required_argument, NULL, FLAG_DRAIN_TIMEOUT},
    {"listing", no_argument, NULL, FLAG_LISTING},
    {"hidden", no_argument, NULL, FLAG_HIDDEN},
    {"index", required_argument, NULL, FLAG_INDEX},
    {"cache-control", required_argument, NULL, FLAG_CACHE_CONTROL},
    {"access-log", required_argument, NULL, FLAG_ACCESS_LOG},
    {"access-log-format", required_argument, NULL, FLAG_ACCESS_LOG_FORMAT},
    {"metrics", required_argument, NULL, FLAG_METRICS},
    {"metrics-listen", required_argument, NULL, FLAG_METRICS_LISTEN},
    {"health", required_argument, NULL, FLAG_HEALTH},
    {"ext", required_argument, NULL, FLAG_EXT},
    {"set", required_argument, NULL, FLAG_SET},
    {"compress", no_argument, NULL, FLAG_COMPRESS},
    {"help", no_argument, NULL, FLAG_HELP},
    {"version", no_argument, NULL, FLAG_VERSION},
    {NULL, 0, NULL, 0},
};

#define MAX_WORKERS 1024

static const char *flag_name(int flag)
{
    const struct option *f = flags;
    while (f->val != flag)
        f++;
    return f->name;
}

static int take_parallel(redd__serve_options *o, const char *value, redd__sentence *why)
{
    o->workers_source = NULL;
    if (value) {
        if (!redd__value_number(value, MAX_WORKERS, &o->workers) || o->workers == 0)
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
    static const redd__word known[] = {{"auto", REDD_BALANCE_AUTO},
                                       {"reuseport", REDD_BALANCE_REUSEPORT},
                                       {"shared", REDD_BALANCE_SHARED}};
    int balance = REDD_BALANCE_AUTO;
    int err =
        redd__value_word("--balance", value, known, sizeof(known) / sizeof(*known), &balance, why);
    o->listen.balance = (redd_balance)balance;
    return err;
}

static int take_log_format(redd__serve_options *o, const char *value, redd__sentence *why)
{
    static const redd__word known[] = {{"common", REDD_ACCESS_LOG_COMMON},
                                       {"combined", REDD_ACCESS_LOG_COMBINED},
                                       {"json", REDD_ACCESS_LOG_JSON}};
    int format = REDD_ACCESS_LOG_COMMON;
    int err = redd__value_word("--access-log-format", value, known, sizeof(known) / sizeof(*known),
                               &format, why);
    o->access_log_format = (redd_access_log_format)format;
    o->access_log_format_given = true;
    return err;
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
    if (redd__value_number(path, MAX_WORKERS, &number)) /* as in "--parallel 4" */
        return redd__sentence_set(why, REDD_EVALUE,
                                  "unexpected %s: a number of workers is written as --parallel=%s",
                                  path, path);
    if (o->app)
        return redd__sentence_set(why, REDD_EVALUE, "one APP is served, but %s and %s are named",
                                  o->app, path);
    o->app = path;
    return 0;
}

static int take_unix(redd__serve_options *o, const char *value, redd__sentence *why)
{
    int err = redd__value_socket("--unix", value, why);
    if (!err)
        redd__texts_add(&o->unix_paths, value);
    return err;
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
        return redd__value_port("--port", value, &o->listen.port, why);
    case FLAG_UNIX:
        return take_unix(o, value, why);
    default:
        return redd__value_mode("--unix-mode", value, &o->unix_mode, why);
    }
}

static int take_workers_flag(redd__serve_options *o, int flag, const char *value,
                             redd__sentence *why)
{
    switch (flag) {
    case FLAG_PARALLEL:
        return take_parallel(o, value, why);
    case FLAG_BALANCE:
        return take_balance(o, value, why);
    default:
        return redd__value_time("--drain-timeout", value, &o->drain_timeout_ms, why);
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
        o->index = value;
        return redd__value_file_name("--index", value, why);
    default:
        o->cache_control = value;
        return redd__value_field("--cache-control", value, why);
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
        o->metrics_path = value;
        return redd__value_url_path("--metrics", value, why);
    case FLAG_METRICS_LISTEN:
        return redd__value_address("--metrics-listen", value, o->metrics_host,
                                   sizeof(o->metrics_host), &o->metrics_port, why);
    default:
        o->health_path = value;
        return redd__value_url_path("--health", value, why);
    }
}

static int take(int flag, const char *value, void *user, redd__sentence *why)
{
    redd__serve_options *o = user;
    if (flag >= FLAG_HOST && flag <= FLAG_UNIX_MODE)
        return take_listen_flag(o, flag, value, why);
    if (flag >= FLAG_PARALLEL && flag <= FLAG_DRAIN_TIMEOUT)
        return take_workers_flag(o, flag, value, why);
    if (flag >= FLAG_LISTING && flag <= FLAG_CACHE_CONTROL) {
        o->folder_flag = flag_name(flag);
        return take_files_flag(o, flag, value, why);
    }
    if (flag >= FLAG_ACCESS_LOG && flag <= FLAG_HEALTH)
        return take_watch_flag(o, flag, value, why);
    switch (flag) {
    case FLAG_EXT:
        redd__texts_add(&o->extensions, value);
        return 0;
    case FLAG_SET:
        redd__texts_add(&o->settings, value);
        return 0;
    case FLAG_COMPRESS:
        o->compress = true;
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

static bool same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* A flag that would do nothing is a mistake, as is a path that would mean two things. */
static int check_company(const redd__serve_options *o, redd__sentence *why)
{
    if (!o->app)
        return redd__sentence_set(
            why, REDD_EVALUE, "no APP is named: expected a .c file, a shared object or a folder");
    if (o->folder_flag && !redd__is_folder(o->app))
        return redd__sentence_set(why, REDD_EVALUE, "--%s is for a folder, and %s is none",
                                  o->folder_flag, o->app);
    if (o->unix_mode && o->unix_paths.n == 0)
        return redd__sentence_set(why, REDD_EVALUE,
                                  "--unix-mode is for --unix, which is not given");
    if (o->access_log_format_given && !o->access_log)
        return redd__sentence_set(why, REDD_EVALUE,
                                  "--access-log-format is for --access-log, which is not given");
    if (same(redd__serve_metrics_path(o), redd__serve_health_path(o)))
        return redd__sentence_set(why, REDD_EVALUE, "metrics and health are both at %s",
                                  redd__serve_health_path(o));
    return 0;
}

const char *redd__serve_metrics_path(const redd__serve_options *o)
{
    return o->metrics_path || !*o->metrics_host ? o->metrics_path : "/metrics";
}

const char *redd__serve_health_path(const redd__serve_options *o)
{
    return o->health_path || !*o->metrics_host ? o->health_path : "/health";
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
    return err || o->help || o->version ? err : check_company(o, why);
}

void redd__serve_options_fini(redd__serve_options *o)
{
    redd__texts_fini(&o->extensions, o->capacity);
    redd__texts_fini(&o->settings, o->capacity);
    redd__texts_fini(&o->unix_paths, o->capacity);
}
