/* SPDX-License-Identifier: MIT */
#include "runtime/worker/jobs.h"

#include <redd/runtime.h>

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned affinity_cpus(void)
{
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return (unsigned)CPU_COUNT(&set);
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

static int parse(const char *text, unsigned *n)
{
    unsigned value = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9' && value <= REDD__MAX_WORKERS; p++)
        value = value * 10 + (unsigned)(*p - '0');
    if (*p || value < 1 || value > REDD__MAX_WORKERS)
        return REDD_EVALUE;
    *n = value;
    return 0;
}

int redd__jobs(const char *root, unsigned affinity, unsigned *n, const char **source)
{
    static const char *const variables[] = {"REDD_JOBS", "DENO_JOBS"};
    for (size_t i = 0; i < 2; i++) {
        const char *text = getenv(variables[i]);
        *source = variables[i];
        if (text)
            return parse(text, n);
    }
    unsigned quota = redd__cgroup_cpus(root);
    bool limited = quota > 0 && quota < affinity;
    *source = limited ? "cgroup quota" : "CPU affinity";
    unsigned cpus = limited ? quota : affinity;
    *n = cpus < REDD__MAX_WORKERS ? cpus : REDD__MAX_WORKERS;
    return 0;
}

int redd_default_workers(unsigned *n, const char **source)
{
    const char *ignored;
    return redd__jobs("", affinity_cpus(), n, source ? source : &ignored);
}
