/* SPDX-License-Identifier: MIT */
#include "ext/http/files/listing.h"

#include <redd/error.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#define NAMES_MAX (1U << 20) /* bytes of all names */

static int text(redd_buffer *out, const char *s)
{
    return redd_buffer_append(out, s, strlen(s));
}

static int html(redd_buffer *out, const char *s)
{
    int rc = 0;
    for (; rc == 0 && *s; s++) {
        switch (*s) {
        case '&':
            rc = text(out, "&amp;");
            break;
        case '<':
            rc = text(out, "&lt;");
            break;
        case '>':
            rc = text(out, "&gt;");
            break;
        case '"':
            rc = text(out, "&quot;");
            break;
        default:
            rc = redd_buffer_append(out, s, 1);
        }
    }
    return rc;
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("-._~", c);
}

/* A segment of a relative link; "./" in front keeps a colon in it from being a scheme's. */
static int link_to(redd_buffer *out, const char *name)
{
    static const char hex[] = "0123456789ABCDEF";
    int rc = text(out, "./");
    for (; rc == 0 && *name; name++) {
        unsigned char c = (unsigned char)*name;
        char escape[3] = {'%', hex[c >> 4], hex[c & 15]};
        rc = is_unreserved(*name) ? redd_buffer_append(out, name, 1)
                                  : redd_buffer_append(out, escape, sizeof escape);
    }
    return rc;
}

static int entry(redd_buffer *out, const char *name, bool folder)
{
    int rc;
    const char *slash = folder ? "/" : "";
    if ((rc = text(out, "<li><a href=\"")) || (rc = link_to(out, name)) ||
        (rc = text(out, slash)) || (rc = text(out, "\">")) || (rc = html(out, name)) ||
        (rc = text(out, slash)))
        return rc;
    return text(out, "</a></li>\n");
}

/* --- names, gathered before they are sorted: 'd' or 'f', the name, NUL --- */

static bool is_folder(int fd, const struct dirent *d, bool *served)
{
    struct stat st;
    *served = d->d_type == DT_DIR || d->d_type == DT_REG;
    if (*served)
        return d->d_type == DT_DIR;
    *served = fstatat(fd, d->d_name, &st, 0) == 0 && (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode));
    return *served && S_ISDIR(st.st_mode);
}

static int gather_one(redd_buffer *names, int fd, const struct dirent *d, bool hidden)
{
    bool served;
    if (d->d_name[0] == '.' &&
        (!hidden || strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0))
        return 0;
    bool folder = is_folder(fd, d, &served);
    if (!served)
        return 0;
    int rc = redd_buffer_append(names, folder ? "d" : "f", 1);
    return rc ? rc : redd_buffer_append(names, d->d_name, strlen(d->d_name) + 1);
}

static int gather(int fd, bool hidden, redd_buffer *names)
{
    int rc = 0;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        rc = -errno;
        (void)close(fd);
        return rc;
    }
    errno = 0;
    for (const struct dirent *d; rc == 0 && (d = readdir(dir)); errno = 0)
        rc = gather_one(names, fd, d, hidden);
    if (rc == 0 && errno)
        rc = -errno;
    (void)closedir(dir);
    return rc;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b); /* the kind stands in front */
}

static int write_sorted(const redd_buffer *names, redd_buffer *out)
{
    size_t n = 0, i = 0;
    int rc = 0;
    for (size_t at = 0; at < names->len; at++)
        n += names->data[at] == '\0';
    if (n == 0)
        return 0;
    const char **list = redd_alloc(out->alloc, n * sizeof *list);
    if (!list)
        return UV_ENOMEM;
    for (const char *p = names->data; i < n; p += strlen(p) + 1)
        list[i++] = p;
    qsort(list, n, sizeof *list, compare);
    for (i = 0; rc == 0 && i < n; i++)
        rc = entry(out, list[i] + 1, list[i][0] == 'd');
    redd_free(out->alloc, list, n * sizeof *list);
    return rc;
}

static int head(redd_buffer *out, const char *path, bool parent)
{
    int rc;
    if ((rc = text(out, "<!doctype html>\n<meta charset=\"utf-8\">\n<title>")) ||
        (rc = html(out, path)) || (rc = text(out, "</title>\n<h1>")) || (rc = html(out, path)) ||
        (rc = text(out, "</h1>\n<ul>\n")))
        return rc;
    return parent ? text(out, "<li><a href=\"../\">../</a></li>\n") : 0;
}

int redd__listing_write(int fd, const char *path, bool parent, bool hidden, redd_buffer *out)
{
    redd_buffer names;
    redd_buffer_init(&names, out->alloc, NAMES_MAX);
    int rc = gather(fd, hidden, &names);
    if (rc == 0)
        rc = head(out, path, parent);
    if (rc == 0)
        rc = write_sorted(&names, out);
    if (rc == 0)
        rc = text(out, "</ul>\n");
    redd_buffer_release(&names);
    return rc;
}
