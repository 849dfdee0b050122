/* SPDX-License-Identifier: MIT */
/* redd ops: the ops of the extensions, with their ids, kinds and arguments. */
#include "runtime/cli/command.h"
#include "runtime/cli/extension_options.h"
#include "runtime/cli/extensions.h"

#include <redd/op.h>

#include <stdio.h>

static const char usage[] =
    "Usage: redd ops [--ext PATH]...\n"
    "\n"
    "Lists the ops of net, http, websocket and of every extension PATH (a shared object or a .c\n"
    "file): id, name, kind, and for each argument the kinds of values that it accepts.\n";

static const char *kind_of(const redd_op *op)
{
    if (op->flags & REDD_OP_BLOCKING)
        return "blocking";
    if (op->flags & REDD_OP_ASYNC)
        return "async";
    return op->flags & REDD_OP_FAST ? "fast" : "sync";
}

static void print_accepted(uint32_t accepts)
{
    if (accepts == REDD_ACCEPT_ANY) {
        (void)fputs("any", stdout);
        return;
    }
    const char *between = "";
    for (int kind = REDD_UNDEFINED; kind <= REDD_ERROR; kind++) {
        if (!(accepts & REDD_ACCEPT(kind)))
            continue;
        (void)printf("%s%s", between, redd_kind_name((redd_kind)kind));
        between = "|";
    }
}

static void print_op(redd_op_id id, const redd_op *op)
{
    (void)printf("  %3u  %-36s %-8s (", id, op->name, kind_of(op));
    for (unsigned i = 0; i < op->argc; i++) {
        (void)printf("%s%s: ", i ? ", " : "", op->args[i].name);
        print_accepted(op->args[i].accepts);
    }
    (void)puts(")");
}

static void print_extension(const redd_runtime *rt, const redd_extension *e)
{
    (void)printf("%s %s: %zu ops\n", e->name, e->version, e->n_ops);
    for (size_t i = 0; i < e->n_ops; i++)
        print_op(redd_op_find(rt, e->ops[i].name), &e->ops[i]);
}

static int list(const redd__extension_options *options, redd_runtime **rt, redd__sentence *why)
{
    int err = redd__extensions_begin(NULL, rt, why);
    for (size_t i = 0; !err && i < options->extensions.n; i++)
        err = redd__extensions_load(*rt, options->extensions.at[i], why);
    if (err)
        return err;
    err = redd_runtime_seal(*rt); /* gives the ids */
    if (err)
        return redd__sentence_set(why, err, "%s", redd_runtime_message(*rt));
    const redd_extension *e;
    for (size_t i = 0; (e = redd_runtime_extension(*rt, i)) != NULL; i++)
        print_extension(*rt, e);
    return 0;
}

int redd__command_ops(int argc, char **argv)
{
    redd__extension_options options;
    redd__sentence why = {""};
    redd_runtime *rt = NULL;
    int code = REDD__EXIT_OK;
    if (redd__extension_options_parse(&options, false, argc, argv, &why))
        code = REDD__EXIT_USAGE;
    else if (options.version)
        redd__print_version();
    else if (options.help)
        (void)fputs(usage, stdout);
    else if (list(&options, &rt, &why))
        code = REDD__EXIT_FAILURE;
    if (code != REDD__EXIT_OK)
        redd__say("redd ops", "%s", why.text);
    redd_runtime_free(rt);
    redd__extension_options_fini(&options);
    return code;
}
