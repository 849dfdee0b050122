/* SPDX-License-Identifier: MIT */
/** TERM and INT: the first begins a graceful stop, the second kills, whichever of the two each is.
 *  USR1: opens logs again. */
#ifndef REDD_CLI_SIGNALS_H
#define REDD_CLI_SIGNALS_H

#include <redd/extension.h>

/** Watches on worker 0's loop for as long as that worker lives. */
extern const redd_extension redd__signals_extension;

/** What USR1 calls on worker 0, from its next start on; NULL: the system's own handling. */
void redd__signals_on_reopen(void (*fn)(void *user), void *user);

#endif
