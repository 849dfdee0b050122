/* SPDX-License-Identifier: MIT */
/** How many workers there are when nobody says: variables, affinity and cgroup quotas. */
#include "runtime/worker/jobs.h"
#include "tests/unit/worker_fixture.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- a root folder with files of our making --- */

static char root[64];

static void write_file(const char *name, const char *text)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        (void)mkdir(path, 0700);
        *p = '/';
    }
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
    (void)state;
    (void)unsetenv("REDD_JOBS");
    (void)unsetenv("DENO_JOBS");
    (void)snprintf(root, sizeof(root), "/tmp/redd-jobs-test-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    static const char *const names[] = {"proc/self/cgroup",
                                        "proc/self",
                                        "proc",
                                        "sys/fs/cgroup/cpu.max",
                                        "sys/fs/cgroup/a/cpu.max",
                                        "sys/fs/cgroup/a/b/cpu.max",
                                        "sys/fs/cgroup/a/b",
                                        "sys/fs/cgroup/a",
                                        "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us",
                                        "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us",
                                        "sys/fs/cgroup/cpu,cpuacct/x",
                                        "sys/fs/cgroup/cpu,cpuacct",
                                        "sys/fs/cgroup/cpu/cpu.cfs_quota_us",
                                        "sys/fs/cgroup/cpu/cpu.cfs_period_us",
                                        "sys/fs/cgroup/cpu",
                                        "sys/fs/cgroup",
                                        "sys/fs",
                                        "sys",
                                        ""};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[256];
        (void)snprintf(path, sizeof(path), "%s/%s", root, names[i]);
        (void)remove(path);
    }
    return access(root, F_OK) == 0 ? -1 : 0; /* everything was cleaned up */
}

static void assert_jobs(unsigned affinity, unsigned n, const char *source)
{
    unsigned found = 0;
    const char *where;
    assert_int_equal(redd__jobs(root, affinity, &found, &where), 0);
    assert_int_equal(found, n);
    assert_string_equal(where, source);
}

static void no_cgroup(void **state)
{
    (void)state;
    assert_int_equal(redd__cgroup_cpus(root), 0);
    assert_jobs(6, 6, "CPU affinity");
    assert_jobs(5000, 1024, "CPU affinity");
}

static void version_2(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "0::/a/b\n");
    write_file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_jobs(8, 8, "CPU affinity");
    write_file("sys/fs/cgroup/a/cpu.max", "150000 100000\n"); /* of a group above it; rounded up */
    assert_jobs(8, 2, "cgroup quota");
    assert_jobs(1, 1, "CPU affinity"); /* affinity is the tighter one */
    write_file("sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
    assert_jobs(8, 1, "cgroup quota");
    write_file("sys/fs/cgroup/a/b/cpu.max", "400000 100000\n"); /* the smallest counts */
    assert_jobs(8, 2, "cgroup quota");
}

/** In a container the group's path may be one of the host, and the quota is at the mount. */
static void version_2_in_a_container(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "0::/system.slice/docker-abc.scope\n");
    write_file("sys/fs/cgroup/cpu.max", "300000 100000\n");
    assert_jobs(8, 3, "cgroup quota");
    write_file("proc/self/cgroup", "0::/\n");
    assert_jobs(8, 3, "cgroup quota");
}

static void version_1(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "12:memory:/x\n4:cpu,cpuacct:/x\n3:cpuset:/y\n0::/\n");
    write_file("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
    write_file("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
    assert_jobs(8, 8, "CPU affinity");
    write_file("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "250000\n");
    assert_jobs(8, 3, "cgroup quota");
}

static void version_1_other_mount(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "4:cpuacct,cpu:/docker/abc\n");
    write_file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
    write_file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000\n");
    assert_jobs(8, 2, "cgroup quota");
}

static void malformed_files(void **state)
{
    (void)state;
    static const char *const groups[] = {"", "\n", "0\n", "0:\n", "::\n", "0::a\n", "garbage"};
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        write_file("proc/self/cgroup", groups[i]);
        assert_jobs(8, 8, "CPU affinity");
    }
    static const char *const quotas[] = {"", "\n", "100000", "100000 0", "0 100000", "x y", "-5 3"};
    write_file("proc/self/cgroup", "0::/\n");
    for (size_t i = 0; i < sizeof(quotas) / sizeof(quotas[0]); i++) {
        write_file("sys/fs/cgroup/cpu.max", quotas[i]);
        assert_jobs(8, 8, "CPU affinity");
    }
}

static void variables(void **state)
{
    (void)state;
    write_file("proc/self/cgroup", "0::/\n");
    write_file("sys/fs/cgroup/cpu.max", "100000 100000\n");
    (void)setenv("DENO_JOBS", "3", 1);
    assert_jobs(8, 3, "DENO_JOBS");
    (void)setenv("REDD_JOBS", "1024", 1);
    assert_jobs(8, 1024, "REDD_JOBS");
    static const char *const bad[] = {"0", "1025", "-1", "two",
                                      "",  "4x",   " 4", "99999999999999999999"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        unsigned n = 77;
        const char *where;
        (void)setenv("REDD_JOBS", bad[i], 1);
        assert_int_equal(redd_default_workers(&n, &where), REDD_EVALUE);
        assert_string_equal(where, "REDD_JOBS");
        assert_int_equal(n, 77);
    }
}

static void public_function(void **state)
{
    (void)state;
    unsigned n = 0;
    assert_int_equal(redd_default_workers(&n, NULL), 0);
    assert_in_range(n, 1, REDD__MAX_WORKERS);
    assert_true(n <= (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
    (void)setenv("REDD_JOBS", "5", 1);
    redd_runtime *rt;
    assert_int_equal(redd_runtime_new(NULL, &rt), 0);
    assert_int_equal(redd_runtime_workers(rt), 5);
    redd_runtime_free(rt);
    redd_runtime_options o = REDD_RUNTIME_OPTIONS_INIT;
    o.workers = 2; /* who says a number is asked first */
    assert_int_equal(redd_runtime_new(&o, &rt), 0);
    assert_int_equal(redd_runtime_workers(rt), 2);
    redd_runtime_free(rt);
    o.workers = REDD__MAX_WORKERS + 1;
    assert_int_equal(redd_runtime_new(&o, &rt), UV_EINVAL);
}

static void bad_variable_is_told_by_the_run(void **state)
{
    (void)state;
    (void)setenv("REDD_JOBS", "many", 1);
    redd_runtime *rt;
    assert_int_equal(redd_runtime_new(NULL, &rt), 0);
    assert_int_equal(redd_runtime_run(rt, NULL, NULL, NULL), REDD_EVALUE);
    assert_string_equal(redd_runtime_message(rt), "REDD_JOBS must be a number from 1 to 1024");
    redd_runtime_free(rt);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_cgroup),
        TEST(version_2),
        TEST(version_1),
        TEST(version_2_in_a_container),
        TEST(malformed_files),
        TEST(version_1_other_mount),
        TEST(variables),
        TEST(public_function),
        TEST(bad_variable_is_told_by_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
