/* SPDX-License-Identifier: MIT */
#include "runtime/worker/process.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Field `n` (from 3 on) of /proc/self/stat (proc(5)), whose second field may hold blanks. */
static bool stat_field(const char *text, int n, unsigned long long *out)
{
    const char *p = strrchr(text, ')');
    for (int i = 2; p && i < n; i++) {
        p = strchr(p, ' ');
        if (p)
            p++;
    }
    if (!p)
        return false;
    *out = strtoull(p, NULL, 10);
    return true;
}

static bool read_stat(redd__process *out)
{
    enum { START_TIME = 22, RESIDENT_PAGES = 24 };
    char text[1024];
    unsigned long long started, pages;
    struct timespec up, now;
    FILE *f = fopen("/proc/self/stat", "re");
    if (!f)
        return false;
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    (void)fclose(f);
    text[n] = '\0';
    if (!stat_field(text, START_TIME, &started) || !stat_field(text, RESIDENT_PAGES, &pages) ||
        clock_gettime(CLOCK_BOOTTIME, &up) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0)
        return false;
    double boot = (double)(now.tv_sec - up.tv_sec) + (double)(now.tv_nsec - up.tv_nsec) / 1e9;
    out->start_time_seconds = boot + (double)started / (double)sysconf(_SC_CLK_TCK);
    out->resident_bytes = pages * (unsigned long long)sysconf(_SC_PAGESIZE);
    return true;
}

static uint64_t count_fds(void)
{
    uint64_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return 0;
    for (const struct dirent *d; (d = readdir(dir));)
        n += d->d_name[0] != '.';
    (void)closedir(dir);
    return n - 1; /* the folder itself */
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

bool redd__process_read(redd__process *out)
{
    struct rusage usage;
    if (!read_stat(out) || getrusage(RUSAGE_SELF, &usage) != 0)
        return false;
    out->cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    out->open_fds = count_fds();
    return true;
}
