/* SPDX-License-Identifier: MIT */
/** Needs ring_a, which needs this. */
#include <redd/extension.h>

static const redd_dependency deps[] = {{"good", NULL}, {"ring_a", NULL}};
static const redd_extension extension = {REDD_EXTENSION_HEAD, .name = "ring_b", .version = "1.0.0",
                                         .deps = deps, .n_deps = 2};
REDD_EXTENSION_ENTRY(extension)
