/* SPDX-License-Identifier: MIT */
/* The program: finds the command that argv names and runs it. */
#include "runtime/cli/command.h"
#include "runtime/cli/hint.h"
#include "runtime/cli/sentence.h"

#include <redd/error.h>
#include <redd/version.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

static const char usage[] =
    "redd " REDD_VERSION ": serves HTTP and WebSocket applications written in C\n"
    "\n"
    "Usage: redd COMMAND [ARGUMENT]...\n"
    "\n"
    "Commands:\n"
    "  serve     serve an app, a .c file or a shared object, or a folder\n"
    "  ops       list the ops of the extensions\n"
    "  check     load extensions and an app; print their dependencies and what was refused\n"
    "  help      print this text; `redd COMMAND --help` tells about a command\n"
    "  version   print the version\n";

static int help(int argc, char **argv)
{
    (void)argc, (void)argv;
    (void)fputs(usage, stdout);
    return REDD__EXIT_OK;
}

void redd__print_version(void)
{
    (void)puts("redd " REDD_VERSION);
}

static int version(int argc, char **argv)
{
    (void)argc, (void)argv;
    redd__print_version();
    return REDD__EXIT_OK;
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"serve", redd__command_serve}, {"ops", redd__command_ops},
    {"check", redd__command_check}, {"help", help},
    {"version", version},           {"--help", help},
    {"--version", version},         {"-h", help},
};

/* What a parent may have left us without, and every unit takes for granted. Were a standard
 * descriptor closed, the next file or socket would get its number, and our output with it; with
 * SIGCHLD ignored, nobody learns how the compiler ended. */
static void repair_inheritance(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", O_RDWR); /* gets the lowest free number: this one */
    }
    (void)signal(SIGCHLD, SIG_DFL);
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        (void)fputs(usage, stderr);
        return REDD__EXIT_USAGE;
    }
    redd__hint hint = {.word = argv[1]};
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
        redd__hint_offer(&hint, commands[i].name);
    }
    char buf[64];
    const char *more = redd__hint_text(&hint, "", buf, sizeof(buf));
    redd__say("redd", "unknown command %s%s", argv[1],
              *more ? more : "; `redd help` lists the commands");
    return REDD__EXIT_USAGE;
}

/* What was asked for has not been given until it has left the buffer. */
static int finish(int code)
{
    int err = fflush(stdout) != 0 ? -errno : 0;
    if (!err && ferror(stdout))
        err = UV_EIO; /* an earlier write, whose errno is gone */
    if (!err)
        return code;
    redd__say("redd", "cannot write to stdout: %s", redd_error_text(err));
    return code != REDD__EXIT_OK ? code : REDD__EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    repair_inheritance();
    return finish(run(argc, argv));
}
