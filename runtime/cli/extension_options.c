/* SPDX-License-Identifier: MIT */
#include "runtime/cli/extension_options.h"

#include <redd/error.h>

enum { FLAG_HELP = 'h', FLAG_EXT = 256, FLAG_VERSION };

static const struct option flags[] = {
    {"ext", required_argument, NULL, FLAG_EXT},
    {"help", no_argument, NULL, FLAG_HELP},
    {"version", no_argument, NULL, FLAG_VERSION},
    {NULL, 0, NULL, 0},
};

static int take_operand(redd__extension_options *o, const char *path, redd__sentence *why)
{
    if (!o->takes_app)
        return redd__sentence_set(why, REDD_EVALUE, "unexpected %s: extensions are named by --ext",
                                  path);
    if (o->app)
        return redd__sentence_set(why, REDD_EVALUE, "one APP is checked, but %s and %s are named",
                                  o->app, path);
    o->app = path;
    return 0;
}

static int take(int flag, const char *value, void *user, redd__sentence *why)
{
    redd__extension_options *o = user;
    switch (flag) {
    case FLAG_EXT:
        redd__texts_add(&o->extensions, value);
        return 0;
    case FLAG_HELP:
        o->help = true;
        return 0;
    case FLAG_VERSION:
        o->version = true;
        return 0;
    default:
        return take_operand(o, value, why);
    }
}

int redd__extension_options_parse(redd__extension_options *o, bool takes_app, int argc, char **argv,
                                  redd__sentence *why)
{
    static const redd__arguments arguments = {flags, take};
    *o = (redd__extension_options){.takes_app = takes_app, .capacity = (size_t)argc};
    int err = redd__texts_init(&o->extensions, o->capacity);
    if (err)
        return redd__sentence_set(why, err, "out of memory");
    return redd__arguments_parse(&arguments, argc, argv, o, why);
}

void redd__extension_options_fini(redd__extension_options *o)
{
    redd__texts_fini(&o->extensions, o->capacity);
}
