/* SPDX-License-Identifier: MIT */
/** Ops: functions that hosts find by name once and call by id. */
#ifndef REDD_OP_H
#define REDD_OP_H

#include <redd/resource.h>
#include <redd/task.h>

REDD_BEGIN_DECLS

/** Small and the same in every worker of a runtime; 0 is no op. */
typedef uint16_t redd_op_id;
/** Names one parked call on its worker; never 0, never used twice. */
typedef uint64_t redd_op_call_id;

#define REDD_OP_MAX_ARGS 8

typedef enum redd_op_flags {
    REDD_OP_SYNC = 1,     /* ends inside the call */
    REDD_OP_ASYNC = 2,    /* ends inside the call, or gives a future */
    REDD_OP_BLOCKING = 4, /* runs on the blocking pool: no worker, no resources, values only */
    REDD_OP_FAST = 8      /* with SYNC: never calls back into the host, so that the host may call it
                             without leaving the state it is in */
} redd_op_flags;

/** Set of kinds that an argument accepts. */
#define REDD_ACCEPT(kind) (1U << (kind))
#define REDD_ACCEPT_ANY   0xffffffffU

typedef struct redd_op_arg {
    const char *name;
    uint32_t accepts; /* REDD_ACCEPT(...) joined by | */
} redd_op_arg;

/**
 * Does the op. `argv` has exactly the declared arguments, of accepted kinds, borrowed for the call
 * (for a BLOCKING op until it returns); what is kept longer is referenced.
 * Returns 0 with the result in `*out` (undefined on entry), or a negative code; a value that it
 * left in `*out` is dropped then. An ASYNC op may instead leave `*out` alone and set `*pending` to
 * a future, which the caller takes. `pending` is NULL for other kinds; `w` is NULL and `state` the
 * shared state for BLOCKING ones, else `state` is the extension's state on this worker.
 */
typedef int (*redd_op_fn)(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                          redd_future **pending);

/** A constant in the extension. */
typedef struct redd_op {
    uint32_t struct_size;
    uint16_t flags;
    uint16_t argc;
    const char *name; /* "op_..." */
    redd_op_fn call;
    redd_op_arg args[REDD_OP_MAX_ARGS];
} redd_op;

/* --- hosts --- */

/** The id, or 0; 0 for all before the runtime is sealed and when that failed. Any thread once it is
 *  sealed. */
REDD_API redd_op_id redd_op_find(const redd_runtime *rt, const char *name);
/** Ids are 1..count. */
REDD_API size_t redd_op_count(const redd_runtime *rt);
/** NULL for an id out of range. `extension` (may be NULL) receives the extension's name. */
REDD_API const redd_op *redd_op_info(const redd_runtime *rt, redd_op_id id, const char **extension);

#define REDD_OP_PARKED 1

/**
 * Calls op `id`. Returns 0 with the result in `*out`, or a negative code with `*out` undefined:
 * REDD_EOP, REDD_EARGUMENT, the op's own (UV_EINVAL for one that breaks its contract); REDD_ESTATE
 * before the worker_init of the op's extension has succeeded on this worker, and after its
 * worker_fini; for an ASYNC or BLOCKING op REDD_ELIMIT at 2^20 parked calls (it is not called
 * then), UV_EBUSY when too many blocking jobs wait or the error of a thread that the system cannot
 * make; for one that would go on UV_ENOMEM. Returns REDD_OP_PARKED when the op goes on: `*call`
 * names it, and its result comes through the completion function. A call that ends at once
 * allocates nothing. A future that the op returns is polled exactly once before it is parked, and
 * what it ends with at once is returned at once (an error value as a negative code). `argv` stays
 * the caller's.
 */
REDD_API int redd_op_call(redd_worker *w, redd_op_id id, const redd_value *argv, size_t argc,
                          redd_value *out, redd_op_call_id *call);
/** Drops a parked call; no completion comes. UV_ENOENT when there is none of that id. */
REDD_API int redd_op_cancel(redd_worker *w, redd_op_call_id call);

/** Gets all calls that ended in one pass over the worker's tasks, as one batch; errors are values
 * of kind REDD_ERROR. The values belong to the receiver. It may call ops: what these end with, if
 * not at once, comes in a later batch. A forced stop ends parked calls with UV_ECANCELED. */
typedef void (*redd_op_completion_fn)(redd_worker *w, const redd_op_call_id *calls,
                                      redd_value *values, size_t n, void *user);
/** Without one, results of parked calls are dropped. */
REDD_API void redd_op_on_completion(redd_worker *w, redd_op_completion_fn fn, void *user);

/** Counted only when redd_runtime_options.op_metrics is set; else all zero. */
typedef struct redd_op_metrics {
    uint64_t dispatched, completed, failed, in_flight;
    uint64_t nanoseconds; /* from call to end, summed */
} redd_op_metrics;
REDD_API int redd_op_metrics_get(const redd_worker *w, redd_op_id id, redd_op_metrics *out);

REDD_END_DECLS

#endif
