/* SPDX-License-Identifier: MIT */
/* Refused: needs an extension that is not there. */
#include <redd/extension.h>

static const redd_dependency deps[] = {{"company", "2.0.0"}};

static const redd_extension lonely = {
    REDD_EXTENSION_HEAD, .name = "lonely", .version = "1.0.0", .deps = deps, .n_deps = 1,
};

REDD_EXTENSION_ENTRY(lonely)
