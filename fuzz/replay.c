/* SPDX-License-Identifier: MIT */
/* Stands in for libFuzzer where there is none: runs a target over the files, and the files of the
 * folders, that are its arguments. A folder that is not there counts as empty: most targets have
 * no regressions. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An input's block is exactly as large as the input, so that a read past it is seen. */
static int replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return -1;
    }
    uint8_t *data = malloc(size ? size : 1);
    int failed = !data || fread(data, 1, size, file) != size;
    (void)fclose(file);
    if (failed)
        (void)fprintf(stderr, "%s: cannot be read\n", path);
    else
        (void)LLVMFuzzerTestOneInput(data, size);
    free(data);
    return failed ? -1 : 1;
}

static int replay(const char *path);

static int replay_folder(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) {
        perror(path);
        return -1;
    }
    int sum = 0;
    for (struct dirent *entry; sum >= 0 && (entry = readdir(folder));) {
        char inner[PATH_MAX];
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
        int n = replay(inner);
        sum = n < 0 ? n : sum + n;
    }
    (void)closedir(folder);
    return sum;
}

/* The number of inputs, or -1. */
static int replay(const char *path)
{
    struct stat info;
    if (stat(path, &info))
        return errno == ENOENT ? 0 : -1;
    return S_ISDIR(info.st_mode) ? replay_folder(path) : replay_file(path, (size_t)info.st_size);
}

int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 1; i < argc; i++) {
        int n = replay(argv[i]);
        if (n < 0)
            return EXIT_FAILURE;
        sum += n;
    }
    (void)printf("%d inputs\n", sum);
    /* A test without inputs would pass whatever the target does. */
    return sum ? EXIT_SUCCESS : EXIT_FAILURE;
}
