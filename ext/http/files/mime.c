/* SPDX-License-Identifier: MIT */
#include "ext/http/files/mime.h"

#include "ext/http/fields.h"
#include "ext/http/put.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#define FILE_MAX   (4U << 20)
#define ENDING_MAX 32
#define FIRST_CAP  256

static const char well_known[] = "text/html html htm\n"
                                 "text/css css\n"
                                 "text/javascript js mjs\n"
                                 "text/plain txt\n"
                                 "text/markdown md\n"
                                 "text/csv csv\n"
                                 "application/json json map\n"
                                 "application/xml xml\n"
                                 "application/wasm wasm\n"
                                 "application/pdf pdf\n"
                                 "application/zip zip\n"
                                 "application/gzip gz\n"
                                 "image/svg+xml svg\n"
                                 "image/png png\n"
                                 "image/jpeg jpg jpeg\n"
                                 "image/gif gif\n"
                                 "image/webp webp\n"
                                 "image/avif avif\n"
                                 "image/vnd.microsoft.icon ico\n"
                                 "font/woff woff\n"
                                 "font/woff2 woff2\n"
                                 "audio/mpeg mp3\n"
                                 "video/mp4 mp4\n"
                                 "video/webm webm\n";

/* Reads the file, and leaves room for `extra` bytes behind it. */
static int read_all(redd__mime *m, int fd, size_t extra)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return -errno;
    if (st.st_size > FILE_MAX)
        return UV_EFBIG;
    size_t max = (size_t)st.st_size, len = 0;
    m->size = max + extra;
    m->text = redd_alloc(m->alloc, m->size);
    if (!m->text)
        return UV_ENOMEM;
    ssize_t got = 1;
    while (got > 0 && len < max) {
        got = read(fd, m->text + len, max - len);
        len += got > 0 ? (size_t)got : 0;
    }
    m->text[len] = '\0';
    return got < 0 ? -errno : 0;
}

/* What the system's file does not know, or where there is none. */
static void append_well_known(redd__mime *m)
{
    size_t len = strlen(m->text);
    m->text[len] = '\n';
    memcpy(m->text + len + 1, well_known, sizeof well_known);
}

static int read_system(redd__mime *m)
{
    int fd = open("/etc/mime.types", O_RDONLY | O_CLOEXEC);
    size_t extra = 1 + sizeof well_known;
    int rc = UV_ENOENT;
    if (fd >= 0) {
        rc = read_all(m, fd, extra);
        (void)close(fd);
    }
    if (rc && rc != UV_ENOMEM) {
        redd__mime_fini(m);
        m->size = extra;
        m->text = redd_alloc_zero(m->alloc, extra);
        rc = m->text ? 0 : UV_ENOMEM;
    }
    if (rc == 0)
        append_well_known(m);
    return rc;
}

static int read_named(redd__mime *m, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = read_all(m, fd, 1);
    (void)close(fd);
    return rc;
}

static int add(redd__mime *m, redd_slice ending, redd_slice type)
{
    if (ending.len > ENDING_MAX || type.len + sizeof "; charset=utf-8" > REDD__MIME_MAX ||
        !redd__http_is_value(type))
        return 0; /* nobody asks for it, or it cannot be told */
    if (m->n == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : FIRST_CAP;
        redd__mime_entry *entries =
            m->alloc->resize(m->alloc, m->entries, m->cap * sizeof *entries, cap * sizeof *entries);
        if (!entries)
            return UV_ENOMEM;
        m->entries = entries;
        m->cap = cap;
    }
    m->entries[m->n++] = (redd__mime_entry){ending, type};
    return 0;
}

/* Cuts the next word off the line, in lower case. */
static redd_slice next_word(char **line)
{
    char *p = *line;
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    char *start = p;
    for (; *p && *p != ' ' && *p != '\t' && *p != '\r'; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p | 0x20);
    *line = p;
    return redd_slice_of(start, (size_t)(p - start));
}

static int parse_line(redd__mime *m, char *line)
{
    int rc = 0;
    if (*line == '#')
        return 0;
    redd_slice type = next_word(&line), ending;
    while (rc == 0 && (ending = next_word(&line)).len > 0)
        rc = add(m, ending, type);
    return rc;
}

static int parse(redd__mime *m)
{
    int rc = 0;
    for (char *line = m->text; rc == 0 && line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        rc = parse_line(m, line);
        line = end ? end + 1 : NULL;
    }
    return rc;
}

static int compare(const void *a, const void *b)
{
    redd_slice x = ((const redd__mime_entry *)a)->ending, y = ((const redd__mime_entry *)b)->ending;
    size_t n = x.len < y.len ? x.len : y.len;
    int order = memcmp(x.data, y.data, n);
    return order ? order : (x.len > y.len) - (x.len < y.len);
}

/* Of equal ones the first in the text counts. */
static int compare_in_text(const void *a, const void *b)
{
    const redd__mime_entry *x = a, *y = b;
    int order = compare(a, b);
    return order ? order : (x->ending.data > y->ending.data) - (x->ending.data < y->ending.data);
}

static void order_entries(redd__mime *m)
{
    size_t kept = 0;
    qsort(m->entries, m->n, sizeof *m->entries, compare_in_text);
    for (size_t i = 1; i < m->n; i++)
        if (compare(&m->entries[i], &m->entries[kept]) != 0)
            m->entries[++kept] = m->entries[i];
    m->n = kept + 1;
}

int redd__mime_load(redd__mime *m, const redd_allocator *a, const char *path)
{
    *m = (redd__mime){.alloc = a};
    int rc = path ? read_named(m, path) : read_system(m);
    if (rc == 0)
        rc = parse(m);
    if (rc)
        redd__mime_fini(m);
    else if (m->n > 0)
        order_entries(m);
    return rc;
}

void redd__mime_fini(redd__mime *m)
{
    redd_free(m->alloc, m->entries, m->cap * sizeof *m->entries);
    redd_free(m->alloc, m->text, m->size);
    m->entries = NULL;
    m->text = NULL;
    m->n = m->cap = m->size = 0;
}

static redd_slice find(const redd__mime *m, const char *name)
{
    static const redd_slice unknown = REDD_SLICE("application/octet-stream");
    char lower[ENDING_MAX];
    const char *dot = strrchr(name, '.'), *slash = strrchr(name, '/');
    size_t n = dot && (!slash || dot > slash) ? strlen(dot + 1) : 0;
    if (n == 0 || n > sizeof lower || m->n == 0)
        return unknown;
    for (size_t i = 0; i < n; i++) {
        lower[i] = dot[1 + i];
        if (lower[i] >= 'A' && lower[i] <= 'Z')
            lower[i] = (char)(lower[i] | 0x20);
    }
    redd__mime_entry key = {.ending = redd_slice_of(lower, n)};
    const redd__mime_entry *e = bsearch(&key, m->entries, m->n, sizeof key, compare);
    return e ? e->type : unknown;
}

redd_slice redd__mime_type(const redd__mime *m, const char *name, char buf[REDD__MIME_MAX])
{
    redd_slice type = find(m, name);
    char *p = redd__put_slice(buf, type);
    if (type.len > 5 && memcmp(type.data, "text/", 5) == 0)
        p = REDD__PUT(p, "; charset=utf-8");
    return redd_slice_of(buf, (size_t)(p - buf));
}
