/* SPDX-License-Identifier: MIT */
#include "runtime/cli/extensions.h"

#include "runtime/cli/app_compile.h"

#include <redd/http.h>
#include <redd/stream.h>
#include <redd/websocket.h>

int redd__extensions_begin(const redd_runtime_options *options, redd_runtime **rt,
                           redd__sentence *why)
{
    static const redd_extension *const linked_in[] = {&redd_net_extension, &redd_http_extension,
                                                      &redd_websocket_extension};
    int err = redd_runtime_new(options, rt);
    if (err)
        return redd__sentence_set(why, err, "cannot make a runtime: %s", redd_error_text(err));
    for (size_t i = 0; i < sizeof(linked_in) / sizeof(linked_in[0]); i++) {
        err = redd_runtime_add(*rt, linked_in[i]);
        if (err)
            return redd__sentence_set(why, err, "%s", redd_runtime_message(*rt));
    }
    return 0;
}

typedef struct loading {
    redd_runtime *rt;
    const char *path; /* as the user named it */
} loading;

static int load(const char *object, void *user, redd__sentence *why)
{
    const loading *l = user;
    int err = redd_runtime_load(l->rt, object);
    return err ? redd__sentence_set(why, err, "%s: %s", l->path, redd_runtime_message(l->rt)) : 0;
}

int redd__extensions_load(redd_runtime *rt, const char *path, redd__sentence *why)
{
    loading l = {rt, path};
    return redd__app_object(path, load, &l, why);
}
