/* SPDX-License-Identifier: MIT */
#include "runtime/cli/cache.h"

#include <redd/error.h>

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(redd__sentence *why, int code, const char *doing, const char *path)
{
    return redd__sentence_set(why, code, "cannot %s %s: %s", doing, path, redd_error_text(code));
}

/* FOLDER/NAMEending */
static int join(char out[PATH_MAX], const char *folder, const char *name, const char *ending,
                redd__sentence *why)
{
    int n = snprintf(out, PATH_MAX, "%s/%s%s", folder, name, ending);
    if (n < 0 || n >= PATH_MAX)
        return refuse(why, -ENAMETOOLONG, "use the cache folder", folder);
    return 0;
}

static const char *home(void)
{
    const char *dir = getenv("HOME");
    if (dir && dir[0] == '/')
        return dir;
    const struct passwd *user = getpwuid(getuid());
    return user ? user->pw_dir : NULL;
}

/* mkdir -p, private to the user where a folder is missing. */
static int make_folders(char *path, redd__sentence *why)
{
    for (char *at = path + 1;; at++) {
        if (*at && *at != '/')
            continue;
        char kept = *at;
        *at = '\0';
        int err = mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -errno;
        if (err)
            return refuse(why, err, "make the cache folder", path);
        *at = kept;
        if (!kept)
            return 0;
    }
}

int redd__cache_open(redd__cache *c, redd__sentence *why)
{
    /* The XDG rules: a relative path is to be ignored. */
    const char *base = getenv("XDG_CACHE_HOME");
    bool own = base && base[0] == '/';
    if (!own)
        base = home();
    if (!base)
        return redd__sentence_set(why, -ENOENT,
                                  "no place for compiled apps: set XDG_CACHE_HOME or HOME");
    int err = join(c->folder, base, own ? "redd" : ".cache/redd", "", why);
    return err ? err : make_folders(c->folder, why);
}

int redd__cache_path(const redd__cache *c, const char *key, const char *ending, char out[PATH_MAX],
                     redd__sentence *why)
{
    return join(out, c->folder, key, ending, why);
}

int redd__cache_temporary(const redd__cache *c, const char *ending, char out[PATH_MAX],
                          redd__sentence *why)
{
    int err = redd__cache_path(c, "new-XXXXXX", ending, out, why);
    if (err)
        return err;
    int fd = mkostemps(out, (int)strlen(ending), O_CLOEXEC);
    return fd >= 0 ? fd : refuse(why, -errno, "write to the cache folder", c->folder);
}

int redd__cache_scratch(const redd__cache *c, redd__sentence *why)
{
    char path[PATH_MAX];
    int fd = redd__cache_temporary(c, "", path, why);
    if (fd >= 0)
        (void)unlink(path);
    return fd;
}
