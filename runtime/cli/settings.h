/* SPDX-License-Identifier: MIT */
/** --set NAME=VALUE: the options of the extensions. */
#ifndef REDD_CLI_SETTINGS_H
#define REDD_CLI_SETTINGS_H

#include "runtime/cli/sentence.h"

#include <redd/runtime.h>

#include <stdio.h>

/** Sets one option from "NAME=VALUE". A negative error and the sentence. */
int redd__settings_apply(redd_runtime *rt, const char *text, redd__sentence *why);

/** Every option of every extension of `rt`, with its default and unit, grouped by extension. */
void redd__settings_print(const redd_runtime *rt, FILE *to);

#endif
