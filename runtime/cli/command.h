/* SPDX-License-Identifier: MIT */
/** The commands of the program. */
#ifndef REDD_CLI_COMMAND_H
#define REDD_CLI_COMMAND_H

/** Exit codes. */
enum { REDD__EXIT_OK = 0, REDD__EXIT_FAILURE = 1, REDD__EXIT_USAGE = 2 };

/* argv[0] is the command's own name; each returns the exit code. */
int redd__command_serve(int argc, char **argv);
int redd__command_ops(int argc, char **argv);
int redd__command_check(int argc, char **argv);

/** What every command prints for --version. */
void redd__print_version(void);

#endif
