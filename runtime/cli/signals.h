/* SPDX-License-Identifier: MIT */
/** TERM and INT: the first begins a graceful stop, the second kills, whichever of the two each is.
 *  USR1: opens logs again. */
#ifndef REDD_CLI_SIGNALS_H
#define REDD_CLI_SIGNALS_H

#include <redd/extension.h>

/** Watches on worker 0's loop for as long as that worker lives. */
extern const redd_extension redd__signals_extension;

/** What USR1 calls on worker 0, as long as that worker lives; NULL: the system's own handling. */
void redd__signals_on_reopen(void (*fn)(void *user), void *user);
/** USR1 does nothing from now on, until there is a worker to call that: whoever rotates a log may
 *  come early or late, and must not kill. */
void redd__signals_ignore_reopen(void);

#endif
