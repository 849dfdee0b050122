/* SPDX-License-Identifier: MIT */
/* redd check: loads extensions and an app; prints their order, what they need and what was refused.
 */
#include "runtime/cli/app_load.h"
#include "runtime/cli/command.h"
#include "runtime/cli/extension_options.h"
#include "runtime/cli/extensions.h"

#include <stdio.h>

static const char usage[] =
    "Usage: redd check [--ext PATH]... [APP]\n"
    "\n"
    "Loads net, http, websocket, every extension PATH and APP (each a shared object or a .c "
    "file),\n"
    "initialises them without serving, and prints them in the order of their start, each with the\n"
    "extensions that it needs. What is refused is told in a sentence, and the exit code is 1.\n";

typedef struct checking {
    redd__extension_options options;
    redd_runtime *rt;
    redd__app app;
    unsigned refused;
} checking;

static void refuse(checking *c, const redd__sentence *why)
{
    c->refused++;
    (void)printf("refused: %s\n", why->text);
}

static void print_extension(const redd_extension *e)
{
    (void)printf("  %s %s", e->name, e->version);
    for (size_t i = 0; i < e->n_deps; i++) {
        const redd_dependency *dep = &e->deps[i];
        (void)printf("%s%s", i ? ", " : " -> ", dep->name);
        if (dep->min_version)
            (void)printf(" >= %s", dep->min_version);
    }
    (void)puts("");
}

static void print_graph(const checking *c, bool ordered)
{
    const redd_extension *e;
    (void)puts(ordered ? "extensions, in the order of their start:"
                       : "extensions, in the order of the command line:");
    for (size_t i = 0; (e = redd_runtime_extension(c->rt, i)) != NULL; i++)
        print_extension(e);
}

static int check(checking *c, redd__sentence *why)
{
    int err = redd__extensions_begin(NULL, &c->rt, why);
    if (err)
        return err;
    for (size_t i = 0; i < c->options.extensions.n; i++) {
        if (redd__extensions_load(c->rt, c->options.extensions.at[i], why))
            refuse(c, why);
    }
    if (c->options.app && redd__app_load(&c->app, c->rt, c->options.app, why))
        refuse(c, why);
    bool ordered = redd_runtime_seal(c->rt) == 0;
    if (!ordered) {
        (void)redd__sentence_set(why, 0, "%s", redd_runtime_message(c->rt));
        refuse(c, why);
    }
    print_graph(c, ordered);
    return 0;
}

int redd__command_check(int argc, char **argv)
{
    checking c = {.rt = NULL};
    redd__sentence why = {""};
    int code = REDD__EXIT_OK;
    if (redd__extension_options_parse(&c.options, true, argc, argv, &why))
        code = REDD__EXIT_USAGE;
    else if (c.options.version)
        redd__print_version();
    else if (c.options.help)
        (void)fputs(usage, stdout);
    else if (check(&c, &why))
        code = REDD__EXIT_FAILURE;
    if (code != REDD__EXIT_OK)
        redd__say("redd check", "%s", why.text);
    else if (c.refused > 0)
        code = REDD__EXIT_FAILURE;
    redd_runtime_free(c.rt);
    redd__app_fini(&c.app);
    redd__extension_options_fini(&c.options);
    return code;
}
