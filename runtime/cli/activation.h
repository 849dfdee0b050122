/* SPDX-License-Identifier: MIT */
/** Listening sockets that a service manager opened (sd_listen_fds(3)). */
#ifndef REDD_CLI_ACTIVATION_H
#define REDD_CLI_ACTIVATION_H

/** The first of them; they follow each other. */
#define REDD__ACTIVATION_FIRST 3

/** How many sockets LISTEN_FDS passes to this process, as LISTEN_PID says; 0 for none, -1 when
 *  LISTEN_FDS is no number of sockets. The variables are gone afterwards, so that no child takes
 *  them for its own. */
int redd__activation_take(void);

#endif
