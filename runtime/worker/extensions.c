/* SPDX-License-Identifier: MIT */
#include "runtime/worker/extensions.h"

#include "runtime/worker/version.h"

#include <string.h>
#include <uv.h>

void redd__extensions_fini(redd__extensions *e)
{
    redd_free(e->alloc, e->items, e->cap * sizeof(*e->items));
    redd_free(e->alloc, e->shared, e->n * sizeof(*e->shared));
}

int redd__extensions_reserve(redd__extensions *e)
{
    if (e->n < e->cap)
        return 0;
    size_t cap = e->cap ? 2 * e->cap : 8;
    const redd_extension **items =
        e->alloc->resize(e->alloc, e->items, e->cap * sizeof(*items), cap * sizeof(*items));
    if (!items)
        return UV_ENOMEM;
    e->items = items;
    e->cap = cap;
    return 0;
}

void redd__extensions_append(redd__extensions *e, const redd_extension *extension)
{
    e->items[e->n++] = extension;
}

size_t redd__extensions_find(const redd__extensions *e, const char *name)
{
    size_t i = 0;
    while (i < e->n && strcmp(e->items[i]->name, name) != 0)
        i++;
    return i;
}

static int check_abi(const redd_extension *x, const char *label, redd__message *m)
{
    if (x->abi != REDD_ABI)
        return redd__message_fail(m, REDD_EABI, "%s wants ABI %u, this redd has %u", label,
                                  (unsigned)x->abi, (unsigned)REDD_ABI);
    if (x->struct_size != sizeof(*x))
        return redd__message_fail(m, REDD_EABI, "%s describes itself in %u bytes, this redd in %zu",
                                  label, (unsigned)x->struct_size, sizeof(*x));
    if (!x->name || !*x->name)
        return redd__message_fail(m, UV_EINVAL, "%s has no name", label);
    return 0;
}

static int check_versions(const redd_extension *x, redd__message *m)
{
    if (!x->version || !redd__version_valid(x->version))
        return redd__message_fail(m, UV_EINVAL, "extension \"%s\" has the malformed version \"%s\"",
                                  x->name, x->version ? x->version : "");
    for (size_t i = 0; i < x->n_deps; i++) {
        if (!x->deps[i].name)
            return redd__message_fail(m, UV_EINVAL,
                                      "extension \"%s\" has a dependency without a name", x->name);
        const char *min = x->deps[i].min_version;
        if (min && !redd__version_valid(min))
            return redd__message_fail(
                m, UV_EINVAL, "extension \"%s\" needs \"%s\" in the malformed version \"%s\"",
                x->name, x->deps[i].name, min);
    }
    return 0;
}

static bool flags_valid(unsigned flags)
{
    return flags == REDD_OP_SYNC || flags == (REDD_OP_SYNC | REDD_OP_FAST) ||
           flags == REDD_OP_ASYNC || flags == REDD_OP_BLOCKING;
}

static int check_op(const redd_extension *x, const redd_op *op, redd__message *m)
{
    if (op->struct_size != sizeof(*op))
        return redd__message_fail(m, REDD_EABI,
                                  "extension \"%s\" describes an op in %u bytes, this redd in %zu",
                                  x->name, (unsigned)op->struct_size, sizeof(*op));
    if (!op->name || !*op->name || !op->call)
        return redd__message_fail(
            m, UV_EINVAL, "extension \"%s\" has an op without a name or a function", x->name);
    if (!flags_valid(op->flags) || op->argc > REDD_OP_MAX_ARGS)
        return redd__message_fail(
            m, UV_EINVAL, "op \"%s\" of extension \"%s\" has wrong flags or too many arguments",
            op->name, x->name);
    for (size_t i = 0; i < op->argc; i++)
        if (!op->args[i].name)
            return redd__message_fail(
                m, UV_EINVAL, "op \"%s\" of extension \"%s\" has an argument without a name",
                op->name, x->name);
    return 0;
}

static int check_lists(const redd_extension *x, redd__message *m)
{
    const struct {
        const char *what;
        const void *items;
        size_t n;
    } lists[] = {
        {"dependencies", x->deps, x->n_deps},  {"ops", x->ops, x->n_ops},
        {"options", x->options, x->n_options}, {"sources", x->sources, x->n_sources},
        {"metrics", x->metrics, x->n_metrics},
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (lists[i].n > 0 && !lists[i].items)
            return redd__message_fail(m, UV_EINVAL,
                                      "extension \"%s\" counts %zu %s, but points at none", x->name,
                                      lists[i].n, lists[i].what);
    return 0;
}

static int check_sources(const redd_extension *x, redd__message *m)
{
    for (size_t i = 0; i < x->n_sources; i++)
        if (!x->sources[i].name)
            return redd__message_fail(m, UV_EINVAL, "extension \"%s\" has a source without a name",
                                      x->name);
    return 0;
}

int redd__extension_check(const redd_extension *x, const char *label, redd__message *m)
{
    int rc = check_abi(x, label, m);
    if (rc == 0)
        rc = check_lists(x, m);
    if (rc == 0)
        rc = check_versions(x, m);
    if (rc == 0)
        rc = check_sources(x, m);
    for (size_t i = 0; rc == 0 && i < x->n_ops; i++)
        rc = check_op(x, &x->ops[i], m);
    return rc;
}

/** Looks among the first `n` ops of `x`. */
static bool has_op(const redd_extension *x, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(x->ops[i].name, name) == 0)
            return true;
    return false;
}

static int check_op_name(const redd__extensions *e, const redd_extension *x, size_t i,
                         redd__message *m)
{
    const char *name = x->ops[i].name;
    const redd_extension *owner = has_op(x, i, name) ? x : NULL;
    for (size_t k = 0; !owner && k < e->n; k++)
        if (has_op(e->items[k], e->items[k]->n_ops, name))
            owner = e->items[k];
    if (!owner)
        return 0;
    return redd__message_fail(m, REDD_EDUPLICATE,
                              "op \"%s\" of extension \"%s\" is there already, in extension \"%s\"",
                              name, x->name, owner->name);
}

int redd__extensions_check_names(const redd__extensions *e, const redd_extension *x,
                                 redd__message *m)
{
    size_t same = redd__extensions_find(e, x->name);
    if (same < e->n)
        return redd__message_fail(m, REDD_EDUPLICATE,
                                  "extension \"%s\" %s is there already, in version %s", x->name,
                                  x->version, e->items[same]->version);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < x->n_ops; i++)
        rc = check_op_name(e, x, i, m);
    return rc;
}
