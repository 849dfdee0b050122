/* SPDX-License-Identifier: MIT */
/** TERM and INT: the first begins a graceful stop, the second kills, whichever of the two each is.
 */
#ifndef REDD_CLI_SIGNALS_H
#define REDD_CLI_SIGNALS_H

#include <redd/extension.h>

/** Watches on worker 0's loop for as long as that worker lives. */
extern const redd_extension redd__signals_extension;

#endif
