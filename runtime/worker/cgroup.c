/* SPDX-License-Identifier: MIT */
/** CPU quotas of Linux control groups, version 2 (cpu.max) and 1 (cpu.cfs_quota_us). */
#include "runtime/worker/jobs.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Reads a whole small file; false when there is none. */
static bool read_file(const char *path, char *buf, size_t size)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    size_t n = fread(buf, 1, size - 1, f);
    buf[n] = '\0';
    (void)fclose(f);
    return n > 0;
}

/** The number at the start of `text`; 0 when there is none ("max", "-1"). */
static unsigned long long number(const char *text)
{
    return *text >= '0' && *text <= '9' ? strtoull(text, NULL, 10) : 0;
}

static unsigned cpus(unsigned long long quota, unsigned long long period)
{
    if (quota == 0 || period == 0)
        return 0;
    unsigned long long n = quota / period + (quota % period != 0);
    return n < REDD__MAX_WORKERS ? (unsigned)n : REDD__MAX_WORKERS;
}

static unsigned quota_v2(const char *folder)
{
    char path[PATH_MAX + 32];
    char text[64];
    (void)snprintf(path, sizeof(path), "%s/cpu.max", folder);
    if (!read_file(path, text, sizeof(text)))
        return 0;
    const char *space = strchr(text, ' ');
    return space ? cpus(number(text), number(space + 1)) : 0;
}

static unsigned quota_v1(const char *folder)
{
    char path[PATH_MAX + 32];
    char quota[64];
    char period[64];
    (void)snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", folder);
    if (!read_file(path, quota, sizeof(quota)))
        return 0;
    (void)snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", folder);
    return read_file(path, period, sizeof(period)) ? cpus(number(quota), number(period)) : 0;
}

/** The smallest quota of the group and all above it. Inside a container the group's own folder may
 *  be out of sight: then only those above it count. */
static unsigned smallest_quota(const char *mount, const char *group,
                               unsigned (*quota)(const char *folder))
{
    char folder[PATH_MAX];
    int n = snprintf(folder, sizeof(folder), "%s%s", mount, group);
    if (n < 0 || (size_t)n >= sizeof(folder))
        return 0;
    size_t end = strlen(mount);
    unsigned least = 0;
    for (;;) {
        unsigned found = quota(folder);
        if (found && (!least || found < least))
            least = found;
        if (strlen(folder) <= end)
            return least;
        *strrchr(folder, '/') = '\0';
    }
}

static bool has_controller(const char *list, const char *name)
{
    size_t len = strlen(name);
    while (strncmp(list, name, len) != 0 || (list[len] != ',' && list[len] != '\0')) {
        list = strchr(list, ',');
        if (!list)
            return false;
        list++;
    }
    return true;
}

/** One line of /proc/self/cgroup: "id:controllers:/group", the controllers of version 2 being "".
 */
static unsigned line_quota(const char *root, char *line)
{
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return 0;
    *controllers++ = '\0';
    *group++ = '\0';
    char mount[PATH_MAX];
    if (!*controllers) {
        (void)snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup", root);
        return smallest_quota(mount, group, quota_v2);
    }
    if (!has_controller(controllers, "cpu"))
        return 0;
    (void)snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/%s", root, controllers);
    unsigned found = smallest_quota(mount, group, quota_v1);
    if (found)
        return found;
    (void)snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/cpu", root);
    return smallest_quota(mount, group, quota_v1);
}

unsigned redd__cgroup_cpus(const char *root)
{
    char path[PATH_MAX];
    char text[4096];
    (void)snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    if (!read_file(path, text, sizeof(text)))
        return 0;
    unsigned least = 0;
    char *rest = text;
    while (rest) {
        char *line = rest;
        rest = strchr(line, '\n');
        if (rest)
            *rest++ = '\0';
        unsigned found = line_quota(root, line);
        if (found && (!least || found < least))
            least = found;
    }
    return least;
}
