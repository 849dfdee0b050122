/* SPDX-License-Identifier: MIT */
/** Needs ring_b, which needs this. */
#include <redd/extension.h>

static const redd_dependency deps[] = {{"ring_b", NULL}};
static const redd_extension extension = {REDD_EXTENSION_HEAD, .name = "ring_a", .version = "1.0.0",
                                         .deps = deps, .n_deps = 1};
REDD_EXTENSION_ENTRY(extension)
