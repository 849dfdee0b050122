/* SPDX-License-Identifier: MIT */
/* Logs an error of its own, and leaves no descriptor to those that start after it. */
#include <redd/redd.h>

#include <sys/resource.h>

static struct rlimit before;

static int worker_init(redd_worker *w, void *shared, void **state)
{
    (void)shared;
    (void)state;
    redd_log(redd_worker_logger(w), REDD_LOG_ERROR, "a line before the failure");
    (void)getrlimit(RLIMIT_NOFILE, &before);
    return setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, before.rlim_max});
}

static void worker_fini(redd_worker *w, void *state)
{
    (void)w;
    (void)state;
    (void)setrlimit(RLIMIT_NOFILE, &before);
}

static void serve(redd_http_request *req, void *user)
{
    (void)user;
    redd_http_respond_text(req, 200, "served");
}

REDD_APP(.worker_init = worker_init, .worker_fini = worker_fini, .serve = serve)
