/* SPDX-License-Identifier: MIT */
#include "runtime/cli/process.h"

#include <errno.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int start(char *const argv[], int out, int err, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed)
        return -failed;
    if (out >= 0)
        failed = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (!failed && err >= 0)
        failed = posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    if (!failed)
        failed = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return -failed;
}

int redd__process_run(char *const argv[], int out, int err)
{
    pid_t pid = 0;
    mode_t mask = umask(077); /* inherited; no thread of ours runs yet that could mind */
    int failed = start(argv, out, err, &pid);
    (void)umask(mask);
    if (failed)
        return failed;
    int status;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return -errno;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
