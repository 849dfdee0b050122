/* SPDX-License-Identifier: MIT */
/** How many workers there should be. */
#ifndef REDD_WORKER_JOBS_H
#define REDD_WORKER_JOBS_H

#define REDD__MAX_WORKERS 1024U

/** As redd_default_workers, for a process that may run on `affinity` CPUs and finds /proc and /sys
 *  in the folder `root` ("": the real ones). */
int redd__jobs(const char *root, unsigned affinity, unsigned *n, const char **source);

/** CPUs by the quota of the process's cgroup and those above it, rounded up; 0: no quota. */
unsigned redd__cgroup_cpus(const char *root);

#endif
