/* SPDX-License-Identifier: MIT */
/** A folder made for the test, and a server in memory that serves it. */
#ifndef REDD_TESTS_UNIT_HTTP_FOLDER_H
#define REDD_TESTS_UNIT_HTTP_FOLDER_H

#include "tests/unit/http_must.h"

#include "ext/http/files/files.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct folder {
    bed b;
    client c;
    char top[32];  /* temporary; "root" in it is what is served, "secret" beside it is not */
    char root[40]; /* top/root */
    redd_http_files_options options;
    redd_http_files *files; /* NULL: made by folder_serve */
    const char *prefix;
    bool step_by_step; /* without openat2 */
} folder;

/* --- the files --- */

typedef struct path_text {
    char text[512];
} path_text;

static inline path_text path_of(const folder *f, const char *name)
{
    path_text p;
    int n = snprintf(p.text, sizeof p.text, "%s/%s", f->root, name);
    assert_true(n > 0 && (size_t)n < sizeof p.text);
    return p;
}

static inline void put_bytes(const folder *f, const char *name, const char *data, size_t len)
{
    int fd = open(path_of(f, name).text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, len), len);
    assert_int_equal(close(fd), 0);
}

static inline void put_text(const folder *f, const char *name, const char *text)
{
    put_bytes(f, name, text, strlen(text));
}

/** `len` bytes that tell where they stand. */
static inline char pattern_at(size_t i)
{
    return (char)('a' + (i + i / 23) % 23);
}

static inline void put_pattern(const folder *f, const char *name, size_t len)
{
    char *data = malloc(len + 1);
    assert_non_null(data);
    for (size_t i = 0; i < len; i++)
        data[i] = pattern_at(i);
    put_bytes(f, name, data, len);
    free(data);
}

static inline void put_folder(const folder *f, const char *name)
{
    assert_int_equal(mkdir(path_of(f, name).text, 0755), 0);
}

static inline void put_link(const folder *f, const char *target, const char *name)
{
    assert_int_equal(symlink(target, path_of(f, name).text), 0);
}

static inline void set_time(const folder *f, const char *name, int64_t seconds, long ns)
{
    struct timespec times[2] = {{.tv_sec = (time_t)seconds, .tv_nsec = ns},
                                {.tv_sec = (time_t)seconds, .tv_nsec = ns}};
    assert_int_equal(utimensat(AT_FDCWD, path_of(f, name).text, times, 0), 0);
}

static inline int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

/* --- the server --- */

/** A folder with nothing in it; nothing is served yet. */
static inline void folder_make(folder *f)
{
    memset(f, 0, sizeof *f);
    memcpy(f->top, "/tmp/redd-static-XXXXXX", sizeof "/tmp/redd-static-XXXXXX");
    assert_non_null(mkdtemp(f->top));
    (void)snprintf(f->root, sizeof f->root, "%s/root", f->top);
    assert_int_equal(mkdir(f->root, 0755), 0);
    put_text(f, "../secret", "SECRET");
    f->options = (redd_http_files_options)REDD_HTTP_FILES_OPTIONS_INIT;
    f->options.root = f->root;
}

static inline void folder_remove(folder *f)
{
    assert_int_equal(nftw(f->top, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline void folder_answer(redd_http_request *req, void *user)
{
    folder *f = user;
    redd_http_static(f->files, req, f->prefix);
}

static inline int folder_try_open(folder *f)
{
    int rc =
        redd_http_files_new(redd_counting_allocator_hook(f->b.counting), &f->options, &f->files);
    if (rc == 0 && f->step_by_step)
        f->files->by_system = false;
    return rc;
}

static inline void folder_serve(folder *f)
{
    bed_begin(&f->b, folder_answer, f);
    assert_int_equal(folder_try_open(f), 0);
    client_open(&f->b, &f->c);
}

static inline void folder_end(folder *f)
{
    client_close(&f->c);
    bed_settle(&f->b);
    redd_http_files_free(f->files);
    bed_end(&f->b);
    folder_remove(f);
}

/* --- one exchange --- */

/** The reply to the next request of the connection, which must stay open. `fields` are whole lines.
 *  End it by reply_end. */
static inline void ask(folder *f, const char *method, const char *target, const char *fields,
                       reply *r)
{
    bytes request = {0};
    bytes_clear(&f->c.got);
    bytes_text(&request, method);
    bytes_text(&request, " ");
    bytes_text(&request, target);
    bytes_text(&request, " HTTP/1.1\r\nHost: h\r\n");
    bytes_text(&request, fields);
    bytes_text(&request, "\r\n");
    client_send(&f->c, request.data, request.len);
    bytes_free(&request);
    reply_begin(r, &f->c);
    assert_true(reply_next_to(r, strcmp(method, "HEAD") == 0));
    assert_true(reply_at_end(r));
    assert_false(reply_closes(r));
}

static inline void get(folder *f, const char *target, reply *r)
{
    ask(f, "GET", target, "", r);
}

static inline unsigned status_of(folder *f, const char *target)
{
    reply r;
    get(f, target, &r);
    unsigned status = r.status;
    assert_true(slice_find(redd_slice_of(r.body.data, r.body.len), "SECRET") == SIZE_MAX);
    reply_end(&r);
    return status;
}

static inline void assert_body(folder *f, const char *target, const char *body)
{
    reply r;
    get(f, target, &r);
    if (r.status != 200 || !reply_body_is(&r, body))
        fail_msg("%s: %u %s", target, r.status, r.body.data ? r.body.data : "");
    reply_end(&r);
}

static inline void assert_status(folder *f, const char *target, unsigned status)
{
    unsigned got = status_of(f, target);
    if (got != status)
        fail_msg("%s: %u", target, got);
}

static inline void assert_field(const reply *r, const char *name, const char *value)
{
    redd_slice got = reply_field(r, name);
    if (!value && !got.data)
        return;
    if (!value || !redd_slice_equal(got, redd_slice_str(value)))
        fail_msg("%s: %.*s", name, (int)got.len, got.data ? got.data : "");
}

#endif
