/* SPDX-License-Identifier: MIT */
/** Needs what nobody adds. */
#include <redd/extension.h>

static const redd_dependency deps[] = {{"absent", "1.0.0"}};
static const redd_extension extension = {REDD_EXTENSION_HEAD, .name = "lonely", .version = "1.0.0",
                                         .deps = deps, .n_deps = 1};
REDD_EXTENSION_ENTRY(extension)
