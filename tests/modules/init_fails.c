/* SPDX-License-Identifier: MIT */
/** Fails in its init, after those of what it needs. */
#include <redd/extension.h>

#include <errno.h>

static int init(redd_runtime *rt, void **shared)
{
    (void)rt;
    (void)shared;
    return -EADDRINUSE;
}

static const redd_dependency deps[] = {{"second", NULL}};
static const redd_extension extension = {REDD_EXTENSION_HEAD, .name = "faulty", .version = "1.0.0",
                                         .deps = deps,        .n_deps = 1,      .init = init};
REDD_EXTENSION_ENTRY(extension)
