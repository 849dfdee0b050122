/* SPDX-License-Identifier: MIT */
/* redd serve: an app or a folder, at some places, with N workers. */
#include "runtime/cli/activation.h"
#include "runtime/cli/app_load.h"
#include "runtime/cli/command.h"
#include "runtime/cli/extensions.h"
#include "runtime/cli/serve_files.h"
#include "runtime/cli/serve_front.h"
#include "runtime/cli/serve_listen.h"
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
    "Serves APP: a .c file (compiled by $CC into a cache) or a shared object that uses\n"
    "REDD_SERVE(...) or REDD_APP(...), or a folder, whose files it serves.\n"
    "\n"
    "Listening:\n"
    "  --host HOST          address or name to listen on (0.0.0.0)\n"
    "  --port PORT          port to listen on (8000); 0: a free one\n"
    "  --unix PATH          listen on a unix socket, or @NAME, an abstract one; repeatable. There "
    "is\n"
    "                       no address beside it unless --host or --port is given\n"
    "  --unix-mode MODE     mode of these socket files (0660)\n"
    "A service manager's sockets (LISTEN_FDS) are served, too, like those of --unix.\n"
    "\n"
    "Workers:\n"
    "  --parallel[=N]       serve with N workers, each a thread of its own; without N: as many as\n"
    "                       REDD_JOBS, else DENO_JOBS says, else one per usable CPU\n"
    "  --balance HOW        how connections are spread over the workers: reuseport (a socket per\n"
    "                       worker), shared (one socket for all) or auto (what the system does "
    "best)\n"
    "  --drain-timeout TIME what has not ended that long after a TERM or INT is dropped (10s)\n"
    "\n"
    "Files, when APP is a folder:\n"
    "  --listing            show what is in folders without an index\n"
    "  --hidden             serve names that begin with a dot, too\n"
    "  --index NAME         file for a folder's own path (index.html)\n"
    "  --cache-control TEXT the Cache-Control of files\n"
    "\n"
    "Logs and metrics:\n"
    "  --access-log FILE    append a line per request to FILE, - for stdout; USR1 opens it again\n"
    "  --access-log-format FORMAT\n"
    "                       common, combined or json (common)\n"
    "  --metrics PATH       answer PATH with metrics as OpenMetrics\n"
    "  --metrics-listen HOST:PORT\n"
    "                       serve metrics there alone, at PATH or /metrics, with health beside "
    "them\n"
    "  --health PATH        answer PATH with 200, or with 503 while stopping\n"
    "\n"
    "Extensions and options:\n"
    "  --ext PATH           also load the extension PATH, a shared object or a .c file; "
    "repeatable\n"
    "  --set NAME=VALUE     set an option of an extension (below); repeatable\n"
    "  --compress           compress responses as clients accept it: --set http.compress=on\n"
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
    unsigned passed; /* sockets, by a service manager */
    redd__listeners listeners;
    redd__app app;          /* of a file */
    redd_http_files *files; /* of a folder */
    redd__front front;
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

static int serve_on_worker(redd_worker *w, void *user)
{
    service *s = user;
    redd_http_handler_fn handler = redd_http_static_handler;
    void *state = s->files;
    if (!s->files) {
        handler = s->app.description->serve;
        state = redd_worker_state(w, s->app.extension.name);
    }
    int err = 0;
    redd__front_set_handler(&s->front, w, handler, state);
    for (size_t i = 0; !err && i < s->listeners.n; i++)
        err = redd__front_serve(&s->front, w, s->listeners.at[i]);
    return err ? err : redd__front_serve_metrics(&s->front, w);
}

static void announce(redd_worker *w, void *user)
{
    (void)w;
    const service *s = user;
    char text[160], threads[32] = "";
    unsigned workers = redd_runtime_workers(s->rt);
    if (workers > 1)
        (void)snprintf(threads, sizeof(threads), " with %u threads", workers);
    for (size_t i = 0; i < s->listeners.n; i++) {
        redd__listener_text(s->listeners.at[i], text, sizeof(text));
        redd__say(name, "Listening on %s%s", text, i == 0 ? threads : "");
    }
    if (s->front.metrics_listener) {
        redd__listener_text(s->front.metrics_listener, text, sizeof(text));
        redd__say(name, "Metrics on %s", text);
    }
    if (s->passed > 0)
        redd__say(name, "sockets that come from LISTEN_FDS: %u", s->passed);
    if (s->options.workers_source)
        redd__say(name, "the number of threads comes from: %s", s->options.workers_source);
    if (s->files && *redd__serve_files_hint(&s->options))
        redd__say(name, "%s", redd__serve_files_hint(&s->options));
}

static int fail(const redd__sentence *why, int code)
{
    redd__say(name, "%s", why->text);
    return code;
}

static int load_app(service *s, redd__sentence *why)
{
    int err = redd__is_folder(s->options.app)
                  ? redd__serve_files_open(&s->options, s->rt, &s->files, why)
                  : redd__app_load(&s->app, s->rt, s->options.app, why);
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
    if (s->options.access_log)
        redd__signals_ignore_reopen();
    if (load_app(s, &why) ||
        redd__listeners_open(&s->listeners, s->rt, &s->options, s->passed, &why) ||
        redd__front_open(&s->front, s->rt, &s->options, &why))
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
    options.drain_timeout_ms = s->options.drain_timeout_ms;
    options.logger = (redd_logger){.write = log_line, .user = s, .level = REDD_LOG_WARN};
    if (!s->options.help && redd__activation_take(&s->passed, &why))
        return fail(&why, REDD__EXIT_FAILURE);
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
    if (s->options.compress && redd__settings_apply(s->rt, "http.compress=on", &why))
        return fail(&why, REDD__EXIT_USAGE);
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
    redd__front_fini(&s.front);
    redd__listeners_fini(&s.listeners);
    redd_http_files_free(s.files);
    redd_runtime_free(s.rt);
    redd__app_fini(&s.app);
    redd__serve_options_fini(&s.options);
    return code;
}
