/* SPDX-License-Identifier: MIT */
/** One worker on the caller's loop. */
#include "runtime/worker/worker.h"

#include <assert.h>

int redd_runtime_attach(redd_runtime *rt, uv_loop_t *loop, redd_worker **out)
{
    redd_worker *w;
    int rc = redd__runtime_prepare(rt, 1);
    if (rc < 0)
        return rc;
    atomic_store(&rt->busy, 1);
    rc = redd__worker_new(rt, 0, &w);
    if (rc == 0)
        rc = redd__worker_open(w, loop);
    if (rc < 0) {
        redd__runtime_fail(rt, rc, "worker 0 could not start: %s (%s)", redd_error_text(rc),
                           redd_error_name(rc));
        return redd__runtime_take_failure(rt);
    }
    rc = redd__worker_start(w);
    if (rc < 0)
        return redd__runtime_take_failure(rt);
    *out = w;
    return 0;
}

void redd_worker_detach(redd_worker *w, redd_stop_mode mode, void (*done)(void *user), void *user)
{
    assert(w->attached);
    if (!w->detached) {
        w->detached = true;
        w->done = done;
        w->done_user = user;
    }
    redd__worker_request_stop(w, mode);
}
