/* SPDX-License-Identifier: MIT */
#include "ext/http/files/listing.h"

#include "ext/http/files/find.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

/* Of the names that are listed, a byte of which makes at most nine of the page ("%22&quot;"), and
 * an entry less than sixty more: a page is shorter than REDD__LISTING_MAX. */
#define NAMES_MAX   (512U << 10)
#define ENTRIES_MAX 10000U

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

typedef struct names {
    const redd_http_files *files;
    redd__file_path path; /* of the folder, with a slash behind it unless it is the root */
    redd_buffer list;
    size_t n;
    bool more; /* than are listed */
} names;

/* What a link leads to is opened as a request would: links out of the root are not listed. */
static mode_t mode_of(names *all, const struct dirent *d)
{
    redd__found it;
    size_t len = all->path.len;
    mode_t mode = 0;
    if (d->d_type == DT_DIR || d->d_type == DT_REG)
        return d->d_type == DT_DIR ? S_IFDIR : S_IFREG;
    if (d->d_type != DT_LNK && d->d_type != DT_UNKNOWN)
        return 0;
    if (redd__file_path_append(&all->path, d->d_name) &&
        redd__find(all->files, all->path.text, &it) == 0) {
        (void)close(it.fd);
        mode = it.st.st_mode & S_IFMT;
    }
    redd__file_path_cut(&all->path, len);
    return mode;
}

static bool is_shown(const names *all, const char *name)
{
    if (name[0] != '.')
        return true;
    return all->files->hidden && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int gather_one(names *all, const struct dirent *d)
{
    size_t size = strlen(d->d_name) + 1;
    if (!is_shown(all, d->d_name))
        return 0;
    mode_t mode = mode_of(all, d);
    if (mode != S_IFDIR && mode != S_IFREG)
        return 0;
    if (all->n == ENTRIES_MAX || size + 1 > NAMES_MAX - all->list.len) {
        all->more = true;
        return 0;
    }
    int rc = redd_buffer_append(&all->list, mode == S_IFDIR ? "d" : "f", 1);
    if (rc == 0)
        rc = redd_buffer_append(&all->list, d->d_name, size);
    all->n += rc == 0;
    return rc;
}

static int gather(names *all, int fd)
{
    int rc = 0;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        rc = -errno;
        (void)close(fd);
        return rc;
    }
    errno = 0;
    for (const struct dirent *d; rc == 0 && !all->more && (d = readdir(dir)); errno = 0)
        rc = gather_one(all, d);
    if (rc == 0 && errno)
        rc = -errno;
    (void)closedir(dir);
    return rc;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b); /* the kind stands in front */
}

static int write_sorted(const names *all, redd_buffer *out)
{
    size_t i = 0;
    int rc = 0;
    if (all->n == 0)
        return 0;
    const char **list = redd_alloc(out->alloc, all->n * sizeof *list);
    if (!list)
        return UV_ENOMEM;
    for (const char *p = all->list.data; i < all->n; p += strlen(p) + 1)
        list[i++] = p;
    qsort(list, all->n, sizeof *list, compare);
    for (i = 0; rc == 0 && i < all->n; i++)
        rc = entry(out, list[i] + 1, list[i][0] == 'd');
    redd_free(out->alloc, list, all->n * sizeof *list);
    return rc;
}

static int write_head(const redd__file_path *path, redd_buffer *out)
{
    int rc;
    if ((rc = text(out, "<!doctype html>\n<meta charset=\"utf-8\">\n<title>/")) ||
        (rc = html(out, path->text)) || (rc = text(out, "</title>\n<h1>/")) ||
        (rc = html(out, path->text)) || (rc = text(out, "</h1>\n<ul>\n")))
        return rc;
    return path->len > 0 ? text(out, "<li><a href=\"../\">../</a></li>\n") : 0;
}

static int write_page(const names *all, redd_buffer *out)
{
    int rc = write_head(&all->path, out);
    if (rc == 0)
        rc = write_sorted(all, out);
    if (rc == 0 && all->more)
        rc = text(out, "<li>and more</li>\n");
    return rc ? rc : text(out, "</ul>\n");
}

int redd__listing_write(const redd_http_files *files, const redd__file_path *path, int fd,
                        redd_buffer *out)
{
    names all = {.files = files, .path = *path};
    redd_buffer_init(&all.list, out->alloc, NAMES_MAX);
    if (path->len > 0 && !redd__file_path_append(&all.path, "/")) {
        (void)close(fd);
        return UV_ENAMETOOLONG;
    }
    int rc = gather(&all, fd);
    if (rc == 0)
        rc = write_page(&all, out);
    redd_buffer_release(&all.list);
    return rc;
}
