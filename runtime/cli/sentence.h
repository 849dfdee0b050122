/* SPDX-License-Identifier: MIT */
/** What the program says: one sentence that names the file, flag or value and what was expected. */
#ifndef REDD_CLI_SENTENCE_H
#define REDD_CLI_SENTENCE_H

#include <redd/api.h>

typedef struct redd__sentence {
    char text[2048];
} redd__sentence;

/** Writes the sentence, cut where it is too long, and returns `code`. */
int redd__sentence_set(redd__sentence *s, int code, const char *format, ...) REDD_PRINTF(3, 4);

/** One line on stderr, "COMMAND: text", in one write so that lines of threads do not mix. */
void redd__say(const char *command, const char *format, ...) REDD_PRINTF(2, 3);

#endif
