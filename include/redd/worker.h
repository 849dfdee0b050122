/* SPDX-License-Identifier: MIT */
/** A worker: one thread, one loop, one executor, and each extension's state. */
#ifndef REDD_WORKER_H
#define REDD_WORKER_H

#include <redd/runtime.h>

REDD_BEGIN_DECLS

/** 0..workers-1. Any thread. */
REDD_API unsigned redd_worker_index(const redd_worker *w);
/** Any thread. */
REDD_API redd_runtime *redd_worker_runtime(const redd_worker *w);
/** The executor for every future of this worker's extensions. */
REDD_API redd_executor *redd_worker_executor(redd_worker *w);
REDD_API redd_timers *redd_worker_timers(redd_worker *w);
REDD_API const redd_allocator *redd_worker_allocator(const redd_worker *w);
REDD_API const redd_logger *redd_worker_logger(const redd_worker *w);
REDD_API struct uv_loop_s *redd_worker_loop(redd_worker *w);

/** What the extension's worker_init stored; NULL without such an extension. Looks the name up: keep
 *  the pointer. */
REDD_API void *redd_worker_state(const redd_worker *w, const char *extension);

/** 0 while running, else the mode of the stop in progress. */
REDD_API int redd_worker_stopping(const redd_worker *w);

typedef void (*redd_post_fn)(redd_worker *w, void *user);
/** Runs `fn` on the worker's thread, in the order of the posts of each thread. UV_ENOMEM; UV_EBUSY
 *  when redd_runtime_options.max_posts wait there; REDD_ECLOSED when the worker has ended, or has
 *  not come as far as its extensions' worker_init: `fn` is not called. A post that was taken runs,
 *  also on a worker that is stopped, or whose start fails (before the first worker_fini). It keeps
 *  a run going, but not the caller's loop of an attached worker. Any thread, while it is certain
 *  that the worker is there: from another worker of the same run, or before its stop. */
REDD_API int redd_worker_post(redd_worker *w, redd_post_fn fn, void *user);
/** As redd_worker_post to worker `worker`, by any thread and at any time in the runtime's life:
 *  REDD_ECLOSED as long as the worker has not started, and once it has ended. */
REDD_API int redd_runtime_post(redd_runtime *rt, unsigned worker, redd_post_fn fn, void *user);

/** Worker `i` of a running runtime, or NULL. Any thread; valid until the run ends, of an attached
 *  worker until its detach. */
REDD_API redd_worker *redd_runtime_worker(const redd_runtime *rt, unsigned i);

REDD_END_DECLS

#endif
