/* SPDX-License-Identifier: MIT */
#include "runtime/worker/runtime.h"

#include "runtime/worker/core.h"
#include "runtime/worker/jobs.h"

#include <assert.h>
#include <string.h>
#include <uv.h>

/* Far beyond any use, and small enough that sums of them are exact. */
enum { MAX_BLOCKING_THREADS = 4096, MAX_BLOCKING_QUEUE = 1 << 24, MAX_POSTS = 1 << 30 };

static bool options_valid(const redd_runtime_options *o)
{
    return o->workers <= REDD__MAX_WORKERS && o->blocking_threads <= MAX_BLOCKING_THREADS &&
           o->blocking_queue <= MAX_BLOCKING_QUEUE && o->max_posts <= MAX_POSTS;
}

static int copy_options(redd_runtime_options *to, const redd_runtime_options *from)
{
    memset(to, 0, sizeof(*to));
    if (from) {
        if (from->struct_size < sizeof(from->struct_size) || from->struct_size > sizeof(*to))
            return UV_EINVAL;
        memcpy(to, from, from->struct_size);
        if (!options_valid(to))
            return UV_EINVAL;
    }
    to->struct_size = sizeof(*to);
    if (!to->allocator)
        to->allocator = redd_allocator_default();
    if (!to->blocking_threads)
        to->blocking_threads = 32;
    if (!to->blocking_queue)
        to->blocking_queue = 4096;
    if (!to->drain_timeout_ms)
        to->drain_timeout_ms = 10000;
    if (!to->max_posts)
        to->max_posts = 1U << 20;
    return 0;
}

int redd_runtime_new(const redd_runtime_options *options, redd_runtime **out)
{
    redd_runtime_options o;
    int rc = copy_options(&o, options);
    if (rc < 0)
        return rc;
    redd_runtime *rt = redd_alloc_zero(o.allocator, sizeof(*rt));
    if (!rt)
        return UV_ENOMEM;
    rt->options = o;
    rt->alloc = o.allocator;
    rt->extensions.alloc = o.allocator;
    rt->settings.alloc = o.allocator;
    rt->n_workers = o.workers;
    if (!rt->n_workers)
        rt->jobs_error = redd_default_workers(&rt->n_workers, &rt->jobs_source);
    if (rt->jobs_error)
        rt->n_workers = 1;
    (void)pthread_mutex_init(&rt->lock, NULL);
    rc = redd_runtime_add(rt, &redd__core_extension);
    if (rc < 0) {
        redd_runtime_free(rt);
        return rc;
    }
    *out = rt;
    return 0;
}

void redd_runtime_free(redd_runtime *rt)
{
    if (!rt)
        return;
    for (unsigned i = 0; rt->workers && i < rt->n_workers; i++)
        assert(!rt->workers[i]);
    if (rt->blocking)
        redd__blocking_free(rt->blocking);
    if (rt->state == REDD__RUNTIME_SEALED)
        redd__runtime_run_finis(rt, rt->extensions.n);
    if (rt->workers)
        redd_free(rt->alloc, rt->workers, rt->n_workers * sizeof(redd_worker *));
    redd__metrics_fini(&rt->metrics);
    redd__registry_fini(&rt->registry);
    redd__settings_fini(&rt->settings);
    redd__extensions_fini(&rt->extensions);
    (void)pthread_mutex_destroy(&rt->lock);
    redd_free(rt->alloc, rt, sizeof(*rt));
}

redd__message *redd__runtime_begin(redd_runtime *rt)
{
    redd__message_clear(&rt->message);
    return &rt->message;
}

static int check_open(redd_runtime *rt, redd__message *m)
{
    if (rt->state == REDD__RUNTIME_OPEN)
        return 0;
    return redd__message_fail(m, REDD_ESEALED, "%s", redd_error_text(REDD_ESEALED));
}

/** The owner of an option of that name: another extension, or `x` itself among its first `n`. */
static const redd_extension *option_owner(const redd_runtime *rt, const redd_extension *x, size_t n,
                                          const char *name)
{
    const redd__setting *taken = redd__settings_find(&rt->settings, name);
    if (taken)
        return taken->owner;
    for (size_t i = 0; i < n; i++)
        if (strcmp(x->options[i].name, name) == 0)
            return x;
    return NULL;
}

static int check_options(const redd_runtime *rt, const redd_extension *x, redd__message *m)
{
    for (size_t i = 0; i < x->n_options; i++) {
        const redd_option *o = &x->options[i];
        if (!o->name || !o->help)
            return redd__message_fail(
                m, UV_EINVAL, "extension \"%s\" has an option without a name or a help", x->name);
        if (!redd__option_valid(o))
            return redd__message_fail(m, UV_EINVAL,
                                      "option \"%s\" of extension \"%s\" has a wrong unit, range "
                                      "or default",
                                      o->name, x->name);
        const redd_extension *owner = option_owner(rt, x, i, o->name);
        if (owner)
            return redd__message_fail(
                m, REDD_EDUPLICATE,
                "option \"%s\" of extension \"%s\" is there already, in extension \"%s\"", o->name,
                x->name, owner->name);
    }
    return 0;
}

static int add(redd_runtime *rt, const redd_extension *x, const char *label, redd__message *m)
{
    int rc = redd__extension_check(x, label, m);
    if (rc == 0)
        rc = redd__extensions_check_names(&rt->extensions, x, m);
    if (rc == 0)
        rc = check_options(rt, x, m);
    if (rc == 0)
        rc = redd__metrics_check(&rt->extensions, x, m);
    if (rc < 0)
        return rc;
    rc = redd__extensions_reserve(&rt->extensions);
    if (rc == 0)
        rc = redd__settings_declare(&rt->settings, x);
    if (rc < 0)
        return redd__message_fail(m, rc, "%s", redd_error_text(rc));
    redd__extensions_append(&rt->extensions, x);
    return 0;
}

int redd_runtime_add(redd_runtime *rt, const redd_extension *extension)
{
    redd__message *m = redd__runtime_begin(rt);
    int rc = check_open(rt, m);
    if (rc < 0)
        return rc;
    if (!extension)
        return redd__message_fail(m, UV_EINVAL, "there is no extension to add");
    return add(rt, extension, extension->name ? extension->name : "the extension", m);
}

int redd_runtime_load(redd_runtime *rt, const char *path)
{
    redd__message *m = redd__runtime_begin(rt);
    int rc = check_open(rt, m);
    if (rc < 0)
        return rc;
    const redd_extension *extension;
    rc = redd__module_open(path, &extension, m);
    return rc < 0 ? rc : add(rt, extension, redd__module_label(path), m);
}

int redd_runtime_set(redd_runtime *rt, const char *name, const char *value)
{
    redd__message *m = redd__runtime_begin(rt);
    int rc = check_open(rt, m);
    return rc < 0 ? rc : redd__settings_set(&rt->settings, name, value, m);
}

uint64_t redd_runtime_option(const redd_runtime *rt, const char *name)
{
    const redd__setting *s = redd__settings_find(&rt->settings, name);
    assert(s);
    return s->value;
}

const char *redd_runtime_option_text(const redd_runtime *rt, const char *name)
{
    const redd__setting *setting = redd__settings_find(&rt->settings, name);
    assert(setting);
    return setting->text ? setting->text : "";
}

const char *redd_runtime_message(const redd_runtime *rt)
{
    return rt->message.text;
}

const redd_extension *redd_runtime_extension(const redd_runtime *rt, size_t i)
{
    return i < rt->extensions.n ? rt->extensions.items[i] : NULL;
}

uint64_t redd_runtime_forced(const redd_runtime *rt)
{
    return atomic_load(&rt->forced);
}

unsigned redd_runtime_workers(const redd_runtime *rt)
{
    return rt->n_workers;
}

const redd_allocator *redd_runtime_allocator(const redd_runtime *rt)
{
    return rt->alloc;
}

const redd_logger *redd_runtime_logger(const redd_runtime *rt)
{
    return &rt->options.logger;
}
