/* SPDX-License-Identifier: MIT */
#include "runtime/cli/compiler.h"

#include "runtime/cli/process.h"

#include <redd/alloc.h>
#include <redd/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define OWN_WORDS 8 /* what a single run adds to the shared words */

static int add_word(redd__compiler *c, const char *word)
{
    if (c->n == REDD__COMPILER_WORDS - OWN_WORDS)
        return REDD_ELIMIT;
    c->argv[c->n++] = word;
    return 0;
}

static int load_command(redd__compiler *c, redd__sentence *why)
{
    static const char blanks[] = " \t";
    const char *text = getenv("CC");
    if (!text || text[strspn(text, blanks)] == '\0')
        text = "cc";
    c->command_size = strlen(text) + 1;
    c->command = redd_alloc_string(redd_allocator_default(), text, c->command_size - 1);
    if (!c->command)
        return redd__sentence_set(why, UV_ENOMEM, "out of memory");
    char *rest;
    for (char *word = strtok_r(c->command, blanks, &rest); word;
         word = strtok_r(NULL, blanks, &rest)) {
        if (add_word(c, word))
            return redd__sentence_set(why, REDD_ELIMIT, "CC has too many words: %s", text);
    }
    c->n_command = c->n;
    return 0;
}

/* The headers beside this very program: those of the build tree when it runs there, else the
 * installed ones. */
static int load_includes(redd__compiler *c, redd__sentence *why)
{
    char folder[PATH_MAX], build[PATH_MAX];
    size_t len = sizeof(folder);
    int err = uv_exepath(folder, &len);
    char *slash = err ? NULL : strrchr(folder, '/');
    if (!slash)
        return redd__sentence_set(why, err ? err : UV_ENOENT,
                                  "cannot tell where this program is, and so its headers");
    *slash = '\0';
    if (realpath(REDD_BUILD_DIR, build) && strcmp(folder, build) == 0)
        (void)snprintf(c->includes, sizeof(c->includes), "%s", REDD_BUILD_INCLUDE_DIRS);
    else
        (void)snprintf(c->includes, sizeof(c->includes), "%s/%s", folder, REDD_INSTALL_INCLUDEDIR);
    char *rest;
    for (char *word = strtok_r(c->includes, ";", &rest); word; word = strtok_r(NULL, ";", &rest)) {
        if (add_word(c, "-I") || add_word(c, word))
            return redd__sentence_set(why, REDD_ELIMIT, "CC has too many words");
    }
    return 0;
}

int redd__compiler_load(redd__compiler *c, redd__sentence *why)
{
    static const char *const flags[] = {"-std=gnu17", "-O2", "-g", "-fPIC", "-Wall"};
    int err = load_command(c, why);
    for (size_t i = 0; !err && i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (add_word(c, flags[i]))
            err = redd__sentence_set(why, REDD_ELIMIT, "CC has too many words");
    }
    return err ? err : load_includes(c, why);
}

void redd__compiler_fini(redd__compiler *c)
{
    redd_free(redd_allocator_default(), c->command, c->command_size);
}

const char *redd__compiler_name(const redd__compiler *c)
{
    return c->argv[0];
}

/* Runs the first `n` words and those that follow. */
static int run(redd__compiler *c, size_t n, const char *const *own, size_t n_own, int out, int err)
{
    const char *argv[REDD__COMPILER_WORDS + 1] = {NULL};
    memcpy(argv, c->argv, n * sizeof(*argv));
    memcpy(argv + n, own, n_own * sizeof(*argv));
    union { /* exec takes its words without const, and does not write to them */
        const char **words;
        char *const *argv;
    } exec = {argv};
    return redd__process_run(exec.argv, out, err);
}

int redd__compiler_version(redd__compiler *c, int out, int err)
{
    static const char *const own[] = {"--version"};
    return run(c, c->n_command, own, 1, out, err);
}

int redd__compiler_preprocess(redd__compiler *c, const char *source, int out, int err)
{
    const char *own[] = {"-E", source};
    return run(c, c->n, own, 2, out, err);
}

int redd__compiler_compile(redd__compiler *c, const char *source, const char *object)
{
    const char *own[] = {"-shared", "-o", object, source};
    return run(c, c->n, own, 4, -1, -1);
}
