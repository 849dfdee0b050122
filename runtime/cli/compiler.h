/* SPDX-License-Identifier: MIT */
/** The system's C compiler and the command lines that turn an app's source into a shared object. */
#ifndef REDD_CLI_COMPILER_H
#define REDD_CLI_COMPILER_H

#include "runtime/cli/sentence.h"

#include <limits.h>

#define REDD__COMPILER_WORDS 64

/** Zero-initialised before load; the fields are private. */
typedef struct redd__compiler {
    const char *argv[REDD__COMPILER_WORDS + 1];
    size_t n;         /* words of the command and of the flags that every run shares */
    size_t n_command; /* those that $CC gave */
    char *command;    /* $CC, cut into words */
    size_t command_size;
    char includes[PATH_MAX + sizeof("/" REDD_INSTALL_INCLUDEDIR)]; /* cut into folders */
} redd__compiler;

/** The command in $CC (words separated by blanks), else "cc", and the folder of redd's headers. A
 *  negative error and the sentence; after an error too, fini is due. */
int redd__compiler_load(redd__compiler *c, redd__sentence *why);
void redd__compiler_fini(redd__compiler *c);

/** The command's name, for sentences. */
const char *redd__compiler_name(const redd__compiler *c);

/* Each runs the compiler as redd__process_run does. */

/** Prints the compiler's version to `out`. */
int redd__compiler_version(redd__compiler *c, int out, int err);
/** Writes the preprocessed source to `out`. */
int redd__compiler_preprocess(redd__compiler *c, const char *source, int out, int err);
/** Compiles to the shared object `object`; errors and warnings go to stderr. */
int redd__compiler_compile(redd__compiler *c, const char *source, const char *object);

#endif
