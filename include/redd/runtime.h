/* SPDX-License-Identifier: MIT */
/** The runtime: a set of extensions, replicated over N workers. */
#ifndef REDD_RUNTIME_H
#define REDD_RUNTIME_H

#include <redd/extension.h>
#include <redd/log.h>
#include <redd/timer.h>

REDD_BEGIN_DECLS

struct uv_loop_s;

typedef struct redd_runtime_options {
    uint32_t struct_size;
    unsigned workers;                /* at most 1,024; 0: redd_default_workers */
    unsigned blocking_threads;       /* most threads of the blocking pool, up to 4,096; 0: 32 */
    unsigned blocking_queue;         /* most jobs that wait for one, up to 2^24; 0: 4,096 */
    unsigned run_budget;             /* task polls per loop turn; 0: 1,024 */
    uint64_t drain_timeout_ms;       /* graceful stop becomes forced after this; 0: 10,000 */
    const redd_allocator *allocator; /* NULL: the default; must outlive the runtime */
    redd_logger logger;              /* copied */
    redd_clock *clock;               /* NULL: real time; must outlive the runtime */
    bool op_metrics;
    /** Once per worker on its thread: gives the executor that extensions see, one around `inner`:
     *  it may count, refuse, delay or wrap what it is given, but what runs must run on `inner`,
     *  which drives the loop, the batches of completions and the worker's end. It must outlive the
     *  worker. NULL or a NULL result: `inner` itself. */
    redd_executor *(*wrap_executor)(redd_worker *w, redd_executor *inner, void *user);
    void *wrap_user;
    unsigned max_posts; /* most posts that wait for one worker, up to 2^30; 0: 1,048,576 */
} redd_runtime_options;
/** Initialiser with every default. */
#define REDD_RUNTIME_OPTIONS_INIT                   \
    {                                               \
        .struct_size = sizeof(redd_runtime_options) \
    }

/** `options` NULL: the defaults. UV_ENOMEM; UV_EINVAL: a number beyond what its field allows, or a
 *  struct_size that this redd does not know. */
REDD_API int redd_runtime_new(const redd_runtime_options *options, redd_runtime **out);
/** Runs the extensions' fini and frees. No worker may be left. NULL is allowed. */
REDD_API void redd_runtime_free(redd_runtime *rt);

/** Adds a linked-in extension. On an error redd_runtime_message tells in a sentence: REDD_EABI,
 *  UV_EINVAL (malformed), REDD_EDUPLICATE (extension, op, option or metric; the sentence names both
 *  sides), REDD_ESEALED, UV_ENOMEM. The extension must outlive the runtime. NULL is malformed. */
REDD_API int redd_runtime_add(redd_runtime *rt, const redd_extension *extension);
/** Loads a shared object and adds its extension. As redd_runtime_add, and UV_ENOENT,
 *  UV_ENAMETOOLONG, UV_EINVAL (no shared object, or one that the system cannot link), REDD_ESYMBOL.
 *  A path without a slash is one in the working directory. A refused object leaves
 * nothing behind but its mapping; an object is never unloaded once its extension was added. */
REDD_API int redd_runtime_load(redd_runtime *rt, const char *path);

/** Sets an option from text. REDD_EOPTION, REDD_EVALUE (the message names the option, the value and
 *  what was expected), REDD_ESEALED, UV_ENOMEM (a text is copied): the option is as it was. */
REDD_API int redd_runtime_set(redd_runtime *rt, const char *name, const char *value);
/** The option's value in its unit (bytes, milliseconds, count, 0 or 1; of a text its length). An
 *  undeclared name is a programming error. Any thread once sealed. */
REDD_API uint64_t redd_runtime_option(const redd_runtime *rt, const char *name);
/** As redd_runtime_option, for an option of unit TEXT; valid as long as the runtime. */
REDD_API const char *redd_runtime_option_text(const redd_runtime *rt, const char *name);

/** Orders the extensions, gives ops their ids and runs every init. Done by run and attach if it was
 *  not done before; afterwards the runtime is immutable. REDD_EDEPENDENCY, REDD_ECYCLE, REDD_ELIMIT
 *  (more than 65,535 ops), UV_ENOMEM, a lock that the system cannot make, or an init's error:
 *  everything is rolled back, and the runtime can only be freed (REDD_ESTATE from then on). */
REDD_API int redd_runtime_seal(redd_runtime *rt);

/** The last failed call's sentence, "" if there was none; valid until the next call. */
REDD_API const char *redd_runtime_message(const redd_runtime *rt);

/** Extensions in order of addition until sealed, of initialisation after; NULL past the end. */
REDD_API const redd_extension *redd_runtime_extension(const redd_runtime *rt, size_t i);

/** Once per worker, on its thread, after every extension of every worker was initialised. An error
 *  stops the runtime, which then returns it. */
typedef int (*redd_main_fn)(redd_worker *w, void *user);
/** On worker 0, once every worker's main has succeeded. */
typedef void (*redd_ready_fn)(redd_worker *w, void *user);

/** Runs N workers, worker 0 on the calling thread, until redd_runtime_stop or until no worker has
 *  anything left to do. Returns 0, or the first error (the message says which worker): as
 *  redd_runtime_seal; REDD_EVALUE: as redd_default_workers; UV_EINVAL: a clock for more than one
 *  worker; REDD_ESTATE: a runtime runs once; UV_ENOMEM; an error of the system in making a loop or
 * a thread; that of a worker_init or of `main`. `main` and `ready` may be NULL. */
REDD_API int redd_runtime_run(redd_runtime *rt, redd_main_fn main, redd_ready_fn ready, void *user);

/** Stops every worker; callable again to go from graceful to forced. Any thread; also before and
 *  after the run. Not from a signal handler. */
REDD_API void redd_runtime_stop(redd_runtime *rt, redd_stop_mode mode);

/** Tasks that a forced stop dropped, over all workers, after the run. */
REDD_API uint64_t redd_runtime_forced(const redd_runtime *rt);

REDD_API unsigned redd_runtime_workers(const redd_runtime *rt);
REDD_API const redd_allocator *redd_runtime_allocator(const redd_runtime *rt);
REDD_API const redd_logger *redd_runtime_logger(const redd_runtime *rt);

/**
 * Makes one worker on the caller's own loop and thread, and returns at once; the caller runs the
 * loop. It keeps the loop alive while it has tasks. May be called once per runtime, which then has
 * one worker, whatever its options say: listeners are bound after it. Updates the loop's time.
 * REDD_ESTATE and the errors of redd_runtime_seal leave the loop alone. After any other (UV_ENOMEM,
 * a worker_init's) every worker_fini that is due has run, and nothing of redd or the caller will be
 * called any more, but libuv frees handles only in a turn of the loop: let the loop run once more
 * (uv_run in any mode) before closing it and before the allocator goes. The runtime may be freed
 * before that.
 */
REDD_API int redd_runtime_attach(redd_runtime *rt, struct uv_loop_s *loop, redd_worker **out);
/** Stops it. `done` runs on the loop when no handle of redd is left on it; the worker is gone then.
 *  Callable again to go from graceful to forced (`done` of the first call counts). */
REDD_API void redd_worker_detach(redd_worker *w, redd_stop_mode mode, void (*done)(void *user),
                                 void *user);

/** Workers to start when nobody says: REDD_JOBS, else DENO_JOBS, else the CPUs that the process may
 *  use (affinity and cgroup quota, at least 1). `*source` (may be NULL) receives where the number
 *  comes from, e.g. "REDD_JOBS" or "cgroup quota". REDD_EVALUE when a variable is not a number from
 * 1 to 1,024; `*source` then names the variable. */
REDD_API int redd_default_workers(unsigned *n, const char **source);

REDD_END_DECLS

#endif
