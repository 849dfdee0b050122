/* SPDX-License-Identifier: MIT */
/** The command line of `redd ops` and `redd check`: extensions, and perhaps an app. */
#ifndef REDD_CLI_EXTENSION_OPTIONS_H
#define REDD_CLI_EXTENSION_OPTIONS_H

#include "runtime/cli/arguments.h"

typedef struct redd__extension_options {
    bool help;
    bool version;
    bool takes_app;
    redd__texts extensions; /* --ext */
    const char *app;        /* may be NULL */
    size_t capacity;        /* of the list */
} redd__extension_options;

/** All texts are borrowed from argv. UV_ENOMEM, or REDD_EVALUE and the sentence. After an error
 * too, fini is due. */
int redd__extension_options_parse(redd__extension_options *o, bool takes_app, int argc, char **argv,
                                  redd__sentence *why);
void redd__extension_options_fini(redd__extension_options *o);

#endif
