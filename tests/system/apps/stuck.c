/* SPDX-License-Identifier: MIT */
/* Answers nothing and never comes back; says when it begins and after each signal. */
#include <redd/redd.h>

#include <signal.h>
#include <unistd.h>

static void say(const char *line)
{
    redd_slice text = redd_slice_str(line);
    ssize_t written = write(STDERR_FILENO, text.data, text.len);
    (void)written;
}

static void serve(redd_http_request *req, void *user)
{
    (void)req;
    (void)user;
    sigset_t block, before;
    (void)sigemptyset(&block);
    (void)sigaddset(&block, SIGTERM);
    (void)sigaddset(&block, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &block, &before);
    say("stuck\n");
    for (;;) {
        (void)sigsuspend(&before); /* none is lost between two of these */
        say("woken\n");
    }
}

REDD_SERVE(serve)
