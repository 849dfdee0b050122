/* SPDX-License-Identifier: MIT */
#include "runtime/cli/app_load.h"

#include "runtime/cli/app_compile.h"

#include <redd/runtime.h>

#include <dlfcn.h>
#include <uv.h>

static int check(const redd_app *app, const char *path, redd__sentence *why)
{
    if (!app)
        return redd__sentence_set(why, REDD_EVALUE,
                                  "%s: %s gave no description; REDD_APP(...) writes the function",
                                  path, REDD_APP_ENTRY_SYMBOL);
    /* struct_size and abi come first in every version, so both can be read of any app. */
    if (app->abi != REDD_ABI)
        return redd__sentence_set(why, REDD_EABI,
                                  "%s wants ABI %u, this redd has %d: build it anew", path,
                                  app->abi, REDD_ABI);
    if (app->struct_size != sizeof(redd_app))
        return redd__sentence_set(
            why, REDD_EABI,
            "%s describes its app in %u bytes, this redd expects %zu: build it anew", path,
            app->struct_size, sizeof(redd_app));
    if (!app->serve)
        return redd__sentence_set(why, REDD_EVALUE,
                                  "%s has no serve function: REDD_APP(...) must set .serve", path);
    return 0;
}

/* The object is never unloaded: what it gave away (functions, texts) may be in use until the end.
 */
static int open_object(const char *path, const redd_app **out, redd__sentence *why)
{
    char object[PATH_MAX];
    int err = redd__app_object(path, object, why);
    if (err)
        return err;
    void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return redd__sentence_set(why, REDD_ESYMBOL, "cannot load %s: %s", path, dlerror());
    void *symbol = dlsym(library, REDD_APP_ENTRY_SYMBOL);
    if (!symbol)
        return redd__sentence_set(why, REDD_ESYMBOL,
                                  "%s has no handler: it must use REDD_SERVE(...) or REDD_APP(...)",
                                  path);
    redd_app_entry_fn entry;
    memcpy(&entry, &symbol, sizeof(entry)); /* C has no cast from data to functions */
    *out = entry();
    return check(*out, path, why);
}

static int depend_on_all(redd__app *app, const redd_runtime *rt, redd__sentence *why)
{
    while (redd_runtime_extension(rt, app->n_deps))
        app->n_deps++;
    app->deps = redd_alloc_zero(redd_allocator_default(), app->n_deps * sizeof(*app->deps));
    if (!app->deps)
        return redd__sentence_set(why, UV_ENOMEM, "out of memory");
    for (size_t i = 0; i < app->n_deps; i++)
        app->deps[i].name = redd_runtime_extension(rt, i)->name;
    return 0;
}

int redd__app_load(redd__app *app, redd_runtime *rt, const char *path, redd__sentence *why)
{
    *app = (redd__app){.description = NULL};
    int err = open_object(path, &app->description, why);
    if (!err)
        err = depend_on_all(app, rt, why);
    if (err)
        return err;
    const redd_app *d = app->description;
    app->extension = (redd_extension){
        REDD_EXTENSION_HEAD,           .name = REDD__APP_EXTENSION,
        .version = REDD_VERSION,       .deps = app->deps,
        .n_deps = app->n_deps,         .init = d->init,
        .worker_init = d->worker_init, .worker_stop = d->worker_stop,
        .worker_fini = d->worker_fini, .fini = d->fini,
    };
    err = redd_runtime_add(rt, &app->extension);
    return err ? redd__sentence_set(why, err, "%s: %s", path, redd_runtime_message(rt)) : 0;
}

void redd__app_fini(redd__app *app)
{
    redd_free(redd_allocator_default(), app->deps, app->n_deps * sizeof(*app->deps));
}
