/* SPDX-License-Identifier: MIT */
/** The command line of `redd serve`. */
#ifndef REDD_CLI_SERVE_OPTIONS_H
#define REDD_CLI_SERVE_OPTIONS_H

#include "runtime/cli/arguments.h"

#include <redd/listener.h>

typedef struct redd__serve_options {
    redd_listen_options listen;
    unsigned workers;           /* 1 without --parallel */
    const char *workers_source; /* where a number that nobody gave comes from, else NULL */
    bool help;
    bool version;
    redd__texts extensions; /* --ext */
    redd__texts settings;   /* --set */
    const char *app;        /* NULL only with help or version */
    size_t capacity;        /* of the two lists */
} redd__serve_options;

/** All texts are borrowed from argv. UV_ENOMEM, or REDD_EVALUE and the sentence. After an error
 * too, fini is due. */
int redd__serve_options_parse(redd__serve_options *o, int argc, char **argv, redd__sentence *why);
void redd__serve_options_fini(redd__serve_options *o);

#endif
