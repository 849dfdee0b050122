/* SPDX-License-Identifier: MIT */
/** Options as text. Knows nothing of a runtime: the program takes it in for flags of its own. */
#ifndef REDD_WORKER_OPTION_H
#define REDD_WORKER_OPTION_H

#include <redd/extension.h>

/** Whether its unit is one, and its default within its range. */
bool redd__option_valid(const redd_option *o);
/** Text to value, range included; of a TEXT, to its length. REDD_EVALUE. */
int redd__option_parse(const redd_option *o, const char *text, uint64_t *out);
/** What redd__option_parse takes: "a size from 1k to 16m, such as 64k". */
void redd__option_expected(const redd_option *o, char *buf, size_t size);
/** A value as one would write it: "64k", "on"; not of a TEXT. */
void redd__option_format(const redd_option *o, uint64_t value, char *buf, size_t size);

#endif
