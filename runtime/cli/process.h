/* SPDX-License-Identifier: MIT */
/** Runs another program to its end, without a shell. */
#ifndef REDD_CLI_PROCESS_H
#define REDD_CLI_PROCESS_H

/** Finds argv[0] through PATH and waits for its end. Its stdout and stderr go to `out` and `err`
 *  (-1: where ours go). The files that it makes are the user's alone. Returns its exit status, 128
 * + signal when a signal ended it, or a negative system error when it could not be started. */
int redd__process_run(char *const argv[], int out, int err);

#endif
