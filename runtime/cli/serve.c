/* SPDX-License-Identifier: MIT */
/* redd serve: compiles and loads an app, binds its address and serves it with N workers. */
#include "runtime/cli/app_load.h"
#include "runtime/cli/command.h"
#include "runtime/cli/extensions.h"
#include "runtime/cli/serve_options.h"
#include "runtime/cli/settings.h"
#include "runtime/cli/signals.h"

#include <redd/worker.h>

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

static const char name[] = "redd serve";

static const char usage[] =
    "Usage: redd serve [FLAG]... APP\n"
    "\n"
    "Serves APP, a .c file (compiled by $CC into a cache) or a shared object that uses\n"
    "REDD_SERVE(...) or REDD_APP(...).\n"
    "\n"
    "Flags:\n"
    "  --host HOST          address or name to listen on (0.0.0.0)\n"
    "  --port PORT          port to listen on (8000); 0: a free one\n"
    "  --parallel[=N]       serve with N workers, each a thread of its own; without N: as many as\n"
    "                       REDD_JOBS, else DENO_JOBS says, else one per usable CPU\n"
    "  --balance HOW        how connections are spread over the workers: reuseport (a socket per\n"
    "                       worker), shared (one socket for all) or auto (what the system does "
    "best)\n"
    "  --ext PATH           also load the extension PATH, a shared object or a .c file; "
    "repeatable\n"
    "  --set NAME=VALUE     set an option of an extension (below); repeatable\n"
    "  --help               print this text, with the options of every extension that is named\n"
    "  --version            print the version\n"
    "\n"
    "TERM or INT ends the service: requests in hand are answered, WebSockets closed with 1001. A\n"
    "second one kills. Exit codes: 0 after a stop, 1 for a failure, 2 for a wrong command line.\n"
    "\n"
    "Values: 64k, 16m, 1g are bytes in powers of 1,024; 250ms, 30s, 2m, 1h are times.\n";

typedef struct service {
    redd__serve_options options;
    redd_runtime *rt;
    redd_listener *listener;
    redd__app app;
    atomic_bool error_logged; /* the runtime logs a worker's failure as it happens, on any thread */
} service;

static void log_line(redd_log_level level, redd_slice line, void *user)
{
    service *s = user;
    if (level == REDD_LOG_ERROR)
        atomic_store(&s->error_logged, true);
    const char *label = level <= REDD_LOG_WARN ? redd_log_level_name(level) : "";
    redd__say(name, "%s%s%.*s", label, *label ? ": " : "", (int)line.len, line.data);
}

/* HOST:PORT, with an IPv6 host in brackets. */
static void format_address(const char *host, uint16_t port, char *buf, size_t size)
{
    (void)snprintf(buf, size, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port);
}

static int serve_on_worker(redd_worker *w, void *user)
{
    const service *s = user;
    redd_http_server *server;
    return redd_http_serve(w, s->listener, NULL, s->app.description->serve,
                           redd_worker_state(w, s->app.extension.name), &server);
}

static void announce(redd_worker *w, void *user)
{
    (void)w;
    const service *s = user;
    redd_address address;
    char text[128], threads[32] = "";
    redd_listener_address(s->listener, &address);
    format_address(address.host, address.port, text, sizeof(text));
    unsigned workers = redd_runtime_workers(s->rt);
    if (workers > 1)
        (void)snprintf(threads, sizeof(threads), " with %u threads", workers);
    redd__say(name, "Listening on http://%s/%s", text, threads);
    if (s->options.workers_source)
        redd__say(name, "the number of threads comes from: %s", s->options.workers_source);
}

static int fail(const redd__sentence *why, int code)
{
    redd__say(name, "%s", why->text);
    return code;
}

static int listen_once(service *s, redd__sentence *why)
{
    int err = redd_listener_bind(s->rt, &s->options.listen, &s->listener);
    if (!err)
        return 0;
    char text[300];
    const char *host = s->options.listen.host ? s->options.listen.host : "0.0.0.0";
    format_address(host, s->options.listen.port, text, sizeof(text));
    return redd__sentence_set(why, err, "cannot listen on %s: %s", text, redd_error_text(err));
}

static int load_app(service *s, redd__sentence *why)
{
    int err = redd__app_load(&s->app, s->rt, s->options.app, why);
    if (!err && redd_runtime_add(s->rt, &redd__signals_extension))
        err = redd__sentence_set(why, REDD_EDUPLICATE, "%s", redd_runtime_message(s->rt));
    if (!err) {
        err = redd_runtime_seal(s->rt);
        if (err)
            (void)redd__sentence_set(why, err, "%s", redd_runtime_message(s->rt));
    }
    return err;
}

static int run(service *s)
{
    redd__sentence why = {""};
    if (load_app(s, &why) || listen_once(s, &why))
        return fail(&why, REDD__EXIT_FAILURE);
    (void)signal(SIGPIPE, SIG_IGN); /* whoever read our stderr may go before we do */
    /* What was logged so far, by an init, says nothing about how the run will end. */
    atomic_store(&s->error_logged, false);
    if (redd_runtime_run(s->rt, serve_on_worker, announce, s)) {
        if (!atomic_load(&s->error_logged))
            redd__say(name, "%s", redd_runtime_message(s->rt));
        return REDD__EXIT_FAILURE;
    }
    uint64_t forced = redd_runtime_forced(s->rt);
    if (forced > 0)
        redd__say(name, "stopped; tasks that did not end in time and were dropped: %" PRIu64,
                  forced);
    return REDD__EXIT_OK;
}

/* Everything that the command line says about extensions; then either the help or the service. */
static int prepare_and_run(service *s)
{
    redd__sentence why = {""};
    redd_runtime_options options = REDD_RUNTIME_OPTIONS_INIT;
    options.workers = s->options.workers;
    options.logger = (redd_logger){.write = log_line, .user = s, .level = REDD_LOG_WARN};
    if (redd__extensions_begin(&options, &s->rt, &why))
        return fail(&why, REDD__EXIT_FAILURE);
    for (size_t i = 0; i < s->options.extensions.n; i++) {
        if (redd__extensions_load(s->rt, s->options.extensions.at[i], &why))
            return fail(&why, REDD__EXIT_FAILURE);
    }
    for (size_t i = 0; i < s->options.settings.n; i++) {
        if (redd__settings_apply(s->rt, s->options.settings.at[i], &why))
            return fail(&why, REDD__EXIT_USAGE);
    }
    if (!s->options.help)
        return run(s);
    (void)fputs(usage, stdout);
    redd__settings_print(s->rt, stdout);
    return REDD__EXIT_OK;
}

int redd__command_serve(int argc, char **argv)
{
    service s = {.rt = NULL};
    redd__sentence why = {""};
    int code = REDD__EXIT_OK;
    if (redd__serve_options_parse(&s.options, argc, argv, &why))
        code = fail(&why, REDD__EXIT_USAGE);
    else if (s.options.version)
        redd__print_version();
    else
        code = prepare_and_run(&s);
    redd_listener_free(s.listener);
    redd_runtime_free(s.rt);
    redd__app_fini(&s.app);
    redd__serve_options_fini(&s.options);
    return code;
}
