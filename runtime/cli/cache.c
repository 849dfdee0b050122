/* SPDX-License-Identifier: MIT */
#include "runtime/cli/cache.h"

#include <redd/error.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#define UNFINISHED "new-" /* begins the name of an entry in the making */

enum { STALE_SECONDS = 3600 };

static int refuse(redd__sentence *why, int code, const char *doing, const char *path)
{
    return redd__sentence_set(why, code, "cannot %s %s: %s", doing, path, redd_error_text(code));
}

/* FOLDER/NAME */
static int join(char out[PATH_MAX], const char *folder, const char *name, redd__sentence *why)
{
    int n = snprintf(out, PATH_MAX, "%s/%s", folder, name);
    if (n < 0 || n >= PATH_MAX)
        return refuse(why, UV_ENAMETOOLONG, "use the cache folder", folder);
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

static int name_folder(redd__cache *c, redd__sentence *why)
{
    /* The XDG rules: a relative path is to be ignored. */
    const char *base = getenv("XDG_CACHE_HOME");
    bool own = base && base[0] == '/';
    if (!own)
        base = home();
    if (!base)
        return redd__sentence_set(why, UV_ENOENT,
                                  "no place for compiled apps: set XDG_CACHE_HOME or HOME");
    return join(c->folder, base, own ? "redd" : ".cache/redd", why);
}

static int distrust(const redd__cache *c, const char *what, redd__sentence *why)
{
    return redd__sentence_set(
        why, UV_EPERM,
        "the cache folder %s %s: remove it, or let XDG_CACHE_HOME name a place of your own",
        c->folder, what);
}

/* Others could have put code of theirs where this user's is expected. */
static bool others_write(const struct stat *st)
{
    return (st->st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

static int check_folder(const redd__cache *c, redd__sentence *why)
{
    struct stat st;
    if (fstat(c->fd, &st) != 0)
        return refuse(why, -errno, "use the cache folder", c->folder);
    if (st.st_uid != geteuid())
        return distrust(c, "belongs to another user", why);
    return others_write(&st) ? distrust(c, "can be written by other users", why) : 0;
}

int redd__cache_open(redd__cache *c, redd__sentence *why)
{
    c->fd = -1;
    int err = name_folder(c, why);
    if (!err)
        err = make_folders(c->folder, why);
    if (err)
        return err;
    c->fd = open(c->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (c->fd >= 0)
        return check_folder(c, why);
    if (errno == ENOTDIR || errno == ELOOP)
        return distrust(c, "is a symbolic link or no folder", why);
    return refuse(why, -errno, "use the cache folder", c->folder);
}

void redd__cache_close(redd__cache *c)
{
    if (c->fd >= 0)
        (void)close(c->fd);
    c->fd = -1;
}

int redd__cache_find(const redd__cache *c, const char *name)
{
    struct stat st;
    /* Not to be held up by a pipe of that name. */
    int fd = openat(c->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !others_write(&st))
        return fd;
    (void)close(fd);
    return UV_EPERM;
}

void redd__cache_inner_path(const redd__cache *c, const char *name, char out[PATH_MAX])
{
    (void)snprintf(out, PATH_MAX, "/proc/self/fd/%d/%s", c->fd, name);
}

int redd__cache_path(const redd__cache *c, const char *name, char out[PATH_MAX],
                     redd__sentence *why)
{
    return join(out, c->folder, name, why);
}

int redd__cache_temporary(const redd__cache *c, const char *ending, char name[REDD__CACHE_NAME],
                          redd__sentence *why)
{
    uint64_t unique = 0;
    int err = uv_random(NULL, NULL, &unique, sizeof(unique), 0, NULL);
    if (err)
        return refuse(why, err, "write to the cache folder", c->folder);
    (void)snprintf(name, REDD__CACHE_NAME, UNFINISHED "%016" PRIx64 "%s", unique, ending);
    int fd = openat(c->fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd >= 0 ? fd : refuse(why, -errno, "write to the cache folder", c->folder);
}

int redd__cache_scratch(const redd__cache *c, redd__sentence *why)
{
    char name[REDD__CACHE_NAME];
    int fd = redd__cache_temporary(c, "", name, why);
    if (fd >= 0)
        redd__cache_remove(c, name);
    return fd;
}

int redd__cache_rename(const redd__cache *c, const char *from, const char *to, redd__sentence *why)
{
    if (renameat(c->fd, from, c->fd, to) == 0)
        return 0;
    int err = -errno;
    return redd__sentence_set(why, err, "cannot write %s/%s: %s", c->folder, to,
                              redd_error_text(err));
}

void redd__cache_remove(const redd__cache *c, const char *name)
{
    (void)unlinkat(c->fd, name, 0);
}

static bool is_stale(const redd__cache *c, const char *name, time_t now)
{
    struct stat st;
    return strncmp(name, UNFINISHED, strlen(UNFINISHED)) == 0 &&
           fstatat(c->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mtime < now - STALE_SECONDS;
}

void redd__cache_sweep(const redd__cache *c)
{
    int fd = openat(c->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder) {
        if (fd >= 0)
            (void)close(fd);
        return; /* a tidy cache is not worth a refusal */
    }
    time_t now = time(NULL);
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (is_stale(c, entry->d_name, now))
            redd__cache_remove(c, entry->d_name);
    }
    (void)closedir(folder);
}
