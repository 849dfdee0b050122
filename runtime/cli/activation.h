/* SPDX-License-Identifier: MIT */
/** Listening sockets that a service manager opened (sd_listen_fds(3)). */
#ifndef REDD_CLI_ACTIVATION_H
#define REDD_CLI_ACTIVATION_H

#include "runtime/cli/sentence.h"

/** The first of them; they follow each other. */
#define REDD__ACTIVATION_FIRST 3

/** How many sockets LISTEN_FDS passes to this process, as LISTEN_PID says; 0 for none. No child
 * gets them or the variables. Before anything else is opened, so that a descriptor that was
 * promised but not passed is nobody's. A negative error and the sentence. */
int redd__activation_take(unsigned *n, redd__sentence *why);

#endif
