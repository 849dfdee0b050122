/* SPDX-License-Identifier: MIT */
#include "runtime/cli/serve_files.h"

#include <redd/error.h>

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

bool redd__is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int redd__serve_files_open(const redd__serve_options *o, redd_runtime *rt, redd_http_files **out,
                           redd__sentence *why)
{
    redd_http_files_options options = REDD_HTTP_FILES_OPTIONS_INIT;
    options.root = o->app;
    options.index = o->index;
    options.listing = o->listing;
    options.hidden = o->hidden;
    options.cache_control = o->cache_control;
    int err = redd_http_files_new(redd_runtime_allocator(rt), &options, out);
    if (!err)
        return 0;
    return redd__sentence_set(why, err, "cannot serve the files of %s: %s", o->app,
                              redd_error_text(err));
}

const char *redd__serve_files_hint(const redd__serve_options *o)
{
    char path[PATH_MAX];
    struct stat st;
    const char *index = o->index ? o->index : "index.html";
    int n = snprintf(path, sizeof(path), "%s/%s", o->app, index);
    bool fits = n > 0 && (size_t)n < sizeof(path);
    if (o->listing || (*index && fits && stat(path, &st) == 0 && S_ISREG(st.st_mode)))
        return "";
    return "there is no index file, so / is 404; --listing shows what is there";
}
