/* SPDX-License-Identifier: MIT */
/** Leveled logging through one callback. */
#ifndef REDD_LOG_H
#define REDD_LOG_H

#include <redd/slice.h>

REDD_BEGIN_DECLS

typedef enum redd_log_level {
    REDD_LOG_ERROR = 0,
    REDD_LOG_WARN,
    REDD_LOG_INFO,
    REDD_LOG_DEBUG
} redd_log_level;

/** Gets one line without its end, control bytes escaped. Called from any thread, possibly at once
 *  from several. */
typedef void (*redd_log_fn)(redd_log_level level, redd_slice line, void *user);

/** Caller's memory, constant while in use. A zeroed logger writes errors to stderr. */
typedef struct redd_logger {
    redd_log_fn write; /* NULL: one write(2) per line to stderr, "redd: warning: ..." */
    void *user;
    redd_log_level level; /* lines above it are dropped before they are formatted */
} redd_logger;

/** Formats (at most 1 KiB, cut with "...") and hands on. `logger` NULL: the zeroed one. Any thread.
 */
REDD_API void redd_log(const redd_logger *logger, redd_log_level level, const char *format, ...)
    REDD_PRINTF(3, 4);

/** "error", "warning", "info", "debug". */
REDD_API const char *redd_log_level_name(redd_log_level level);

REDD_END_DECLS

#endif
