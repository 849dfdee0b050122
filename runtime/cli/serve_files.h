/* SPDX-License-Identifier: MIT */
/** `redd serve DIR`: a folder in place of an app. */
#ifndef REDD_CLI_SERVE_FILES_H
#define REDD_CLI_SERVE_FILES_H

#include "runtime/cli/serve_options.h"

#include <redd/http_static.h>

bool redd__is_folder(const char *path);
/** Opens the folder with what the flags say. A negative error and the sentence. */
int redd__serve_files_open(const redd__serve_options *o, redd_runtime *rt, redd_http_files **out,
                           redd__sentence *why);
/** What the start line adds; "" for nothing. */
const char *redd__serve_files_hint(const redd__serve_options *o);

#endif
