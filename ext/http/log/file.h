/* SPDX-License-Identifier: MIT */
/** The file of an access log: one descriptor number for all workers and as long as the log lives.
 */
#ifndef REDD_HTTP_LOG_FILE_H
#define REDD_HTTP_LOG_FILE_H

#include <redd/alloc.h>

#include <stdatomic.h>

typedef struct redd__log_file {
    const redd_allocator *alloc;
    char *path; /* NULL: standard output */
    int fd;
    bool socket;             /* standard output may be one */
    _Atomic bool is_regular; /* else it may have no room now */
} redd__log_file;

/** Opens `path` for appending ("-": standard output), and creates it with mode 0640. UV_E* of open,
 *  UV_ENOMEM. */
int redd__log_file_open(redd__log_file *f, const redd_allocator *a, const char *path);
void redd__log_file_close(redd__log_file *f);
/** Puts what is now at the path in the place of the file, for all threads at once: a write goes to
 *  the one or the other as a whole. An error keeps the file. Any thread. */
int redd__log_file_reopen(redd__log_file *f);
/** Writes lines, up to the first failure; returns the bytes that were taken, and what failed in
 *  *error: UV_EAGAIN when there is no room now. Never waits, but for a disk. Lines do not mix with
 *  those of other threads, in a pipe if they are not longer than PIPE_BUF. Any thread. */
size_t redd__log_file_write(const redd__log_file *f, const char *lines, size_t len, int *error);
/** Waits for room, at most `ms`; false: there is none. */
bool redd__log_file_wait(const redd__log_file *f, int ms);

#endif
