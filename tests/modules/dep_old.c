/* SPDX-License-Identifier: MIT */
/** Needs a good that is newer than there is. */
#include <redd/extension.h>

static const redd_dependency deps[] = {{"good", "1.10"}};
static const redd_extension extension = {REDD_EXTENSION_HEAD, .name = "modern", .version = "1.0.0",
                                         .deps = deps, .n_deps = 1};
REDD_EXTENSION_ENTRY(extension)
