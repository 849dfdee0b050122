/* SPDX-License-Identifier: MIT */
#include "runtime/cli/app_load.h"

#include "runtime/cli/app_compile.h"

#include <redd/runtime.h>

#include <dlfcn.h>
#include <string.h>
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

typedef struct loading {
    const char *path; /* as the user named it */
    const redd_app *app;
} loading;

/* What dlerror says, without the object's name in front, which tells the user nothing. */
static const char *loader_says(const char *object)
{
    const char *text = dlerror();
    size_t len = strlen(object);
    return strncmp(text, object, len) == 0 && strncmp(text + len, ": ", 2) == 0 ? text + len + 2
                                                                                : text;
}

/* The object is never unloaded: what it gave away (functions, texts) may be in use until the end.
 */
static int load(const char *object, void *user, redd__sentence *why)
{
    loading *l = user;
    void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return redd__sentence_set(why, UV_EINVAL, "cannot load %s: %s", l->path,
                                  loader_says(object));
    void *symbol = dlsym(library, REDD_APP_ENTRY_SYMBOL);
    if (!symbol)
        return redd__sentence_set(why, REDD_ESYMBOL,
                                  "%s has no handler: it must use REDD_SERVE(...) or REDD_APP(...)",
                                  l->path);
    redd_app_entry_fn entry;
    memcpy(&entry, &symbol, sizeof(entry)); /* C has no cast from data to functions */
    l->app = entry();
    return check(l->app, l->path, why);
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
    loading l = {.path = path};
    int err = redd__app_object(path, load, &l, why);
    if (!err)
        err = depend_on_all(app, rt, why);
    if (err)
        return err;
    const redd_app *d = app->description = l.app;
    app->extension = (redd_extension){
        REDD_EXTENSION_HEAD,           .name = d->name ? d->name : "app",
        .version = REDD_VERSION,       .deps = app->deps,
        .n_deps = app->n_deps,         .init = d->init,
        .metrics = d->metrics,         .n_metrics = d->n_metrics,
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
