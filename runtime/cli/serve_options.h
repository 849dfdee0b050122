/* SPDX-License-Identifier: MIT */
/** The command line of `redd serve`. */
#ifndef REDD_CLI_SERVE_OPTIONS_H
#define REDD_CLI_SERVE_OPTIONS_H

#include "runtime/cli/arguments.h"

#include <redd/access_log.h>

typedef struct redd__serve_options {
    redd_listen_options listen;
    bool address_given;         /* --host or --port */
    redd__texts unix_paths;     /* --unix */
    unsigned unix_mode;         /* 0: the default */
    unsigned workers;           /* 1 without --parallel */
    const char *workers_source; /* where a number that nobody gave comes from, else NULL */
    uint64_t drain_timeout_ms;  /* 0: the default */
    bool listing, hidden;       /* of a folder, as the next two */
    const char *index, *cache_control;
    const char *folder_flag; /* the last flag that is for folders alone; NULL: none */
    const char *access_log;  /* NULL: none */
    redd_access_log_format access_log_format;
    bool access_log_format_given;
    const char *metrics_path, *health_path; /* NULL: not given */
    char metrics_host[256];                 /* --metrics-listen; "": not given */
    uint16_t metrics_port;
    bool compress;
    bool help;
    bool version;
    redd__texts extensions; /* --ext */
    redd__texts settings;   /* --set */
    const char *app;        /* a file or a folder; NULL only with help or version */
    size_t capacity;        /* of the three lists */
} redd__serve_options;

/** Where metrics and health are: the paths that were given, or else, where they have a listener of
 *  their own, "/metrics" and "/health"; NULL: nowhere. */
const char *redd__serve_metrics_path(const redd__serve_options *o);
const char *redd__serve_health_path(const redd__serve_options *o);

/** All texts are borrowed from argv. UV_ENOMEM, or REDD_EVALUE and the sentence. After an error
 * too, fini is due. */
int redd__serve_options_parse(redd__serve_options *o, int argc, char **argv, redd__sentence *why);
void redd__serve_options_fini(redd__serve_options *o);

#endif
