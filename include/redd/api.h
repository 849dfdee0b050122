/* SPDX-License-Identifier: MIT */
/**
 * Linkage and attributes shared by every public header.
 *
 * Laws that hold for all of redd unless a function says otherwise:
 *
 * Threads    A worker and everything it owns belong to the worker's thread. Only functions marked
 *            "any thread" may be called from elsewhere.
 * Errors     Functions that return int return 0 (or a documented positive value) on success and a
 *            negative code on failure: a system error as libuv numbers it (UV_E*, which is -errno
 *            on Unix) or one of REDD_E*. An error return means: no side effect, no later callback,
 *            ownership of the arguments unchanged.
 * Ownership  _new/_free: heap object. _init/_fini: the caller's memory. _ref/_unref: counted.
 *            _take: moves. A borrowed pointer's documentation says until when it is valid.
 * Polling    *_poll never blocks. REDD_PENDING: the waker is kept and will be woken. Polling again
 *            after REDD_READY is a programming error.
 * Closing    An object may be closed inside its own callbacks.
 */
#ifndef REDD_API_H
#define REDD_API_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define REDD_BEGIN_DECLS extern "C" {
#define REDD_END_DECLS   }
#else
#define REDD_BEGIN_DECLS
#define REDD_END_DECLS
#endif

/** Marks a public symbol; everything else in libredd is hidden. */
#define REDD_API __attribute__((visibility("default")))

#define REDD_PRINTF(format_index, first_arg) \
    __attribute__((format(printf, format_index, first_arg)))

REDD_BEGIN_DECLS

typedef struct redd_runtime redd_runtime;
typedef struct redd_worker redd_worker;
typedef struct redd_extension redd_extension;

/** How something is brought to its end. GRACEFUL lets work in hand finish; FORCED drops it. A stop
 *  only ever goes from graceful to forced. */
typedef enum redd_stop_mode { REDD_STOP_GRACEFUL = 1, REDD_STOP_FORCED = 2 } redd_stop_mode;

REDD_END_DECLS

#endif
