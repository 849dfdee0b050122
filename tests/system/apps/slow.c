/* SPDX-License-Identifier: MIT */
/* Begins an answer at once and ends it after 300 ms, or, at /never, not at all. */
#include <redd/redd.h>

typedef struct answer {
    redd_timer timer;
    redd_http_request *req;
} answer;

static void finish(redd_timer *t, void *user)
{
    (void)t;
    answer *a = user;
    (void)redd_http_write(a->req, redd_slice_str("end\n"));
    (void)redd_http_finish(a->req);
}

static void ended(redd_http_request *req, int status, void *user)
{
    (void)status;
    answer *a = user;
    redd_timer_stop(&a->timer);
    redd_free(redd_worker_allocator(redd_http_worker(req)), a, sizeof(*a));
}

static void serve(redd_http_request *req, void *user)
{
    (void)user;
    redd_worker *w = redd_http_worker(req);
    answer *a = redd_alloc(redd_worker_allocator(w), sizeof(*a));
    if (!a)
        return;
    a->req = req;
    redd_timer_init(&a->timer, redd_worker_timers(w), finish, a);
    redd_http_on_end(req, ended, a);
    if (!redd_slice_equal(redd_http_path(req), redd_slice_str("/never")))
        redd_timer_start(&a->timer, 300);
    (void)redd_http_start(req, 200, NULL, 0, -1);
    (void)redd_http_write(req, redd_slice_str("begin\n"));
}

REDD_SERVE(serve)
