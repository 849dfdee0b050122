/* SPDX-License-Identifier: MIT */
/** Access logs: one line per request. */
#ifndef REDD_ACCESS_LOG_H
#define REDD_ACCESS_LOG_H

#include <redd/http.h>

REDD_BEGIN_DECLS

/** One file for all workers; each gathers lines, and writes them when 64 KiB are together, once a
 *  second, and at its end. */
typedef struct redd_access_log redd_access_log;

typedef enum redd_access_log_format {
    REDD_ACCESS_LOG_COMMON = 0,
    REDD_ACCESS_LOG_COMBINED, /* with Referer and User-Agent */
    REDD_ACCESS_LOG_JSON      /* an object per line */
} redd_access_log_format;

/** Opens `path` for appending; "-": standard output. `rt` must outlive it. UV_E* of open,
 * UV_ENOMEM. Any thread, before the run. */
REDD_API int redd_access_log_open(redd_runtime *rt, const char *path, redd_access_log_format format,
                                  redd_access_log **out);
/** After the run. NULL is allowed. */
REDD_API void redd_access_log_close(redd_access_log *log);
/** Logs the server's requests from now on (its on_exchange). On the server's worker. UV_ENOMEM. */
REDD_API int redd_access_log_attach(redd_access_log *log, redd_http_server *server);
/** Opens the path again, for a log that was renamed: no line is lost or split. When it cannot be
 *  opened the old file is kept. Any thread. */
REDD_API int redd_access_log_reopen(redd_access_log *log);
/** Lines that could not be written. Any thread. */
REDD_API uint64_t redd_access_log_lost(const redd_access_log *log);

REDD_END_DECLS

#endif
