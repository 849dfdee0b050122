/* SPDX-License-Identifier: MIT */
/** An app as an extension: what REDD_APP describes, under the app's name or else "app". */
#ifndef REDD_CLI_APP_LOAD_H
#define REDD_CLI_APP_LOAD_H

#include "runtime/cli/sentence.h"

#include <redd/app.h>
#include <redd/extension.h>

typedef struct redd__app {
    const redd_app *description;
    redd_extension extension; /* must outlive the runtime that it is added to */
    redd_dependency *deps;
    size_t n_deps;
} redd__app;

/** Compiles (a .c file) and loads the app at `path`, and adds it to `rt`, behind every extension
 *  that is there by now, so that its functions may use all of them. A negative error and the
 *  sentence; after an error too, fini is due. */
int redd__app_load(redd__app *app, redd_runtime *rt, const char *path, redd__sentence *why);
/** After the runtime was freed. */
void redd__app_fini(redd__app *app);

#endif
