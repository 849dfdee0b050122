/* SPDX-License-Identifier: MIT */
/**
 * Access logs: one line per request, also for those that the server itself has refused.
 *
 *     client - - [30/Nov/2026:23:35:01 +0000] "GET /a HTTP/1.1" 200 512
 *     client - - [30/Nov/2026:23:35:01 +0000] "GET /a HTTP/1.1" 200 512 "referer" "user agent"
 *     {"time":"2026-11-30T23:35:01.250Z","client":"192.0.2.1","method":"GET","target":"/a",
 *      "version":"1.1","status":200,"bytes_sent":512,"bytes_received":0,"duration_ms":3,
 *      "host":"example.org","referer":null,"user_agent":"curl/8.5","request_id":"...",
 *      "outcome":"done"}
 *
 * Time is that of the request's end, in UTC. The client is redd_http_client ("unix" for a unix
 * socket), bytes are those of bodies, the status is 0 when there was no response. What was not sent
 * or not understood is "-", in JSON null. Bytes below 0x20 and above 0x7e, quotes and backslashes
 * are written as \xHH, in JSON as \u00HH: nothing that a peer sends ends a line or leaves its
 * quotes. A line has at most 16 KiB; a text that would make it longer is cut and ends with "...".
 * The outcome is that of the metric redd_http_ends: done, aborted, timed_out, cancelled, malformed
 * or too_large.
 */
#ifndef REDD_ACCESS_LOG_H
#define REDD_ACCESS_LOG_H

#include <redd/http.h>

REDD_BEGIN_DECLS

/** One file for all workers; each gathers lines, and writes them when 64 KiB are together, a second
 *  after the first of them, and at its end. */
typedef struct redd_access_log redd_access_log;

typedef enum redd_access_log_format {
    REDD_ACCESS_LOG_COMMON = 0,
    REDD_ACCESS_LOG_COMBINED, /* with Referer and User-Agent */
    REDD_ACCESS_LOG_JSON      /* an object per line */
} redd_access_log_format;

/** Opens `path` for appending, and creates it with mode 0640; "-": standard output. A pipe, a
 *  terminal or a socket never stops a worker: lines wait for room, up to 64 KiB, and are lost then;
 *  lines of up to PIPE_BUF bytes stay whole there, in a file all do. `rt` must outlive it. UV_E* of
 *  open, UV_ENOMEM. Any thread, before the run. */
REDD_API int redd_access_log_open(redd_runtime *rt, const char *path, redd_access_log_format format,
                                  redd_access_log **out);
/** After the run. NULL is allowed. */
REDD_API void redd_access_log_close(redd_access_log *log);
/** Logs the server's requests from now on (its on_exchange). On the server's worker. UV_ENOMEM. */
REDD_API int redd_access_log_attach(redd_access_log *log, redd_http_server *server);
/** Opens the path again, for a log that was renamed: no line is lost or split. When it cannot be
 *  opened (UV_E* of open) the old file is kept. Does nothing for standard output. Any thread. */
REDD_API int redd_access_log_reopen(redd_access_log *log);
/** Lines that could not be written; that there are such is logged, at most once a second. Any
 *  thread. */
REDD_API uint64_t redd_access_log_lost(const redd_access_log *log);

REDD_END_DECLS

#endif
