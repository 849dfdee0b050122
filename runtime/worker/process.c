/* SPDX-License-Identifier: MIT */
#include "runtime/worker/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/** Field `n` (from 3 on) of /proc/self/stat (proc(5)), whose second field may hold blanks. */
static uint64_t stat_field(const char *text, int n)
{
    const char *p = strrchr(text, ')');
    for (int i = 2; p && i < n; i++) {
        p = strchr(p, ' ');
        if (p)
            p++;
    }
    return p ? strtoull(p, NULL, 10) : 0;
}

static uint64_t millis(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/** When the system was started, ms since 1970. */
static uint64_t boot_ms(void)
{
    struct timespec up, now;
    if (clock_gettime(CLOCK_BOOTTIME, &up) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0)
        return 0;
    return millis(now) - millis(up);
}

static void read_stat(redd__process *out)
{
    enum { START_TICKS = 22, RESIDENT_PAGES = 24 };
    char text[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    if (n <= 0)
        return;
    text[n] = '\0';
    uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK), boot = boot_ms();
    if (boot > 0)
        out->started_ms = boot + stat_field(text, START_TICKS) * 1000 / ticks;
    out->resident_bytes = stat_field(text, RESIDENT_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/** One by one; `max` when none is left to look with. */
static uint64_t count_fds(uint64_t max)
{
    uint64_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return errno == EMFILE ? max : 0;
    for (const struct dirent *d; (d = readdir(dir));)
        n += d->d_name[0] != '.';
    (void)closedir(dir);
    return n - 1; /* the folder itself */
}

static void read_fds(redd__process *out)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        out->max_fds = limit.rlim_cur;
    struct stat folder;
    if (stat("/proc/self/fd", &folder) == 0 && folder.st_size > 0)
        out->open_fds = (uint64_t)folder.st_size; /* their number, since Linux 6.2 */
    else
        out->open_fds = count_fds(out->max_fds);
}

static uint64_t micros(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

redd__process redd__process_read(void)
{
    redd__process process = {0};
    struct rusage usage;
    read_stat(&process);
    read_fds(&process);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        process.cpu_us = micros(usage.ru_utime) + micros(usage.ru_stime);
    return process;
}
