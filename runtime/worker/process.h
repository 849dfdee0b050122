/* SPDX-License-Identifier: MIT */
/** What the system says of this process. */
#ifndef REDD_WORKER_PROCESS_H
#define REDD_WORKER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct redd__process {
    double cpu_seconds;        /* used so far, by all threads */
    double start_time_seconds; /* since 1970 */
    uint64_t resident_bytes;
    uint64_t open_fds;
} redd__process;

/** False: the system tells none of it. */
bool redd__process_read(redd__process *out);

#endif
