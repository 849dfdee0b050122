/* SPDX-License-Identifier: MIT */
/** Reads a command's flags and operands; what it does not know is named. */
#ifndef REDD_CLI_ARGUMENTS_H
#define REDD_CLI_ARGUMENTS_H

#include "runtime/cli/sentence.h"

#include <getopt.h>

/** What one command accepts. */
typedef struct redd__arguments {
    const struct option *flags; /* ends with a zeroed one; `val` is what take receives */
    /** Takes a flag's value (NULL: it has none) or, as flag 0, an operand. On an error `why` says
     *  what was expected. */
    int (*take)(int flag, const char *value, void *user, redd__sentence *why);
} redd__arguments;

/** argv[0] is the command's name. REDD_EVALUE and the sentence, or what take returned. */
int redd__arguments_parse(const redd__arguments *a, int argc, char **argv, void *user,
                          redd__sentence *why);

/** Texts of a repeatable flag, in order; borrowed from argv. */
typedef struct redd__texts {
    const char **at; /* room for one text per argument of the command line */
    size_t n;
} redd__texts;

/** Room for `capacity` texts. UV_ENOMEM. */
int redd__texts_init(redd__texts *t, size_t capacity);
void redd__texts_fini(redd__texts *t, size_t capacity);
void redd__texts_add(redd__texts *t, const char *text);

#endif
