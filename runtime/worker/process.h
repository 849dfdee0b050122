/* SPDX-License-Identifier: MIT */
/** What the system says of this process. */
#ifndef REDD_WORKER_PROCESS_H
#define REDD_WORKER_PROCESS_H

#include <stdint.h>

/** 0 for what it does not say. */
typedef struct redd__process {
    uint64_t cpu_us;     /* used so far, by all threads */
    uint64_t started_ms; /* since 1970, to some milliseconds: clocks drift apart */
    uint64_t resident_bytes;
    uint64_t open_fds, max_fds;
} redd__process;

redd__process redd__process_read(void);

#endif
