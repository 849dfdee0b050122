/* SPDX-License-Identifier: MIT */
/* From a request to the file that it names. */
#include "ext/http/coding/accept.h"
#include "ext/http/fields.h"
#include "ext/http/files/condition.h"
#include "ext/http/files/files.h"
#include "ext/http/files/listing.h"
#include "ext/http/files/open.h"
#include "ext/http/files/path.h"
#include "ext/http/files/transfer.h"

#include <unistd.h>
#include <uv.h>

#define LISTING_MAX (8U << 20)
#define FIELDS_MAX  10

/* What is found below the root. */
typedef struct found {
    int fd;
    struct stat st;
    const char *coding; /* of a precompressed neighbour; NULL: none */
} found;

static void refuse(redd_http_request *req, unsigned status)
{
    char text[64];
    redd_slice reason = redd__http_reason(status);
    (void)snprintf(text, sizeof text, "%.*s\n", (int)reason.len, reason.data);
    (void)redd_http_respond_text(req, status, text);
}

/* What does not exist for a client is 404, whatever the reason is. */
static unsigned status_of_error(int error)
{
    switch (error) {
    case UV_ENOENT:
    case UV_ENOTDIR:
    case UV_ELOOP:
    case UV_EXDEV:
    case UV_ENAMETOOLONG:
    case UV_ENXIO:
    case UV_EINVAL:
        return 404;
    case UV_EACCES:
    case UV_EPERM:
        return 403;
    case UV_EMFILE:
    case UV_ENFILE:
    case UV_ENOMEM:
    case UV_EAGAIN:
        return 503;
    default:
        return 500;
    }
}

static int find(const redd_http_files *f, const char *path, found *out)
{
    int rc = redd__open_beneath(f->root, path, f->by_system, &out->fd);
    out->coding = NULL;
    if (rc)
        return rc;
    if (fstat(out->fd, &out->st) == 0)
        return 0;
    rc = uv_translate_sys_error(errno);
    (void)close(out->fd);
    return rc;
}

/* --- precompressed neighbours --- */

static const struct neighbour {
    redd__http_coding coding;
    const char *ending, *name;
} neighbours[] = {{REDD__HTTP_BR, ".br", "br"},
                  {REDD__HTTP_ZSTD, ".zst", "zstd"},
                  {REDD__HTTP_GZIP, ".gz", "gzip"}};

static const struct neighbour *neighbour_of(redd__http_coding coding)
{
    for (size_t i = 0; i < sizeof neighbours / sizeof *neighbours; i++)
        if (neighbours[i].coding == coding)
            return &neighbours[i];
    return NULL;
}

/* Puts the neighbour that the client likes best in the place of the file. */
static void prefer_neighbour(const redd_http_files *f, const redd_http_request *req,
                             redd__file_path *path, found *file)
{
    unsigned offered = 0;
    size_t len = path->len;
    for (size_t i = 0; i < sizeof neighbours / sizeof *neighbours; i++)
        offered |= REDD__HTTP_CODING_BIT(neighbours[i].coding);
    while (offered) {
        const struct neighbour *n = neighbour_of(redd__http_coding_accepted(req, offered));
        found other;
        if (!n)
            return;
        offered &= ~REDD__HTTP_CODING_BIT(n->coding);
        bool is_there = redd__file_path_append(path, n->ending) && find(f, path->text, &other) == 0;
        path->len = len;
        path->text[len] = '\0';
        if (!is_there)
            continue;
        if (S_ISREG(other.st.st_mode)) {
            (void)close(file->fd);
            *file = other;
            file->coding = n->name;
            return;
        }
        (void)close(other.fd);
    }
}

/* --- a file --- */

typedef struct fields {
    size_t n;
    redd_http_field list[FIELDS_MAX];
} fields;

static void add(fields *f, const char *name, redd_slice value)
{
    f->list[f->n++] = (redd_http_field){redd_slice_str(name), value};
}

static void respond_unsatisfiable(redd_http_request *req, uint64_t size)
{
    char value[40];
    int n = snprintf(value, sizeof value, "bytes */%llu", (unsigned long long)size);
    redd_http_field field = {REDD_SLICE("Content-Range"), redd_slice_of(value, (size_t)n)};
    (void)redd_http_respond(req, 416, &field, 1, redd_slice_of(NULL, 0));
}

static redd__ranges_outcome ranges_of(const redd_http_request *req, const redd__validators *v,
                                      int64_t now, redd__parts *parts)
{
    static const redd_slice get = REDD_SLICE("GET");
    redd_slice value = redd_http_field_get(req, "range", 0);
    if (!value.data || redd_http_field_get(req, "range", 1).data ||
        !redd_slice_equal(redd_http_method(req), get) || !redd__if_range_holds(req, v, now))
        return REDD__RANGES_NONE;
    return redd__ranges_parse(value, parts->size, parts->ranges, &parts->n);
}

/* Takes the file's descriptor. */
static void send_file(redd_http_request *req, const found *file, fields *f,
                      const redd__validators *v, int64_t now)
{
    redd__parts parts = {.size = (uint64_t)file->st.st_size};
    unsigned status = 200;
    switch (ranges_of(req, v, now, &parts)) {
    case REDD__RANGES_UNSATISFIABLE:
        (void)close(file->fd);
        respond_unsatisfiable(req, parts.size);
        return;
    case REDD__RANGES_SOME:
        status = 206;
        break;
    default:
        /* Of an empty file it wraps to a length of 0. */
        parts.ranges[0] = (redd__range){0, parts.size - 1};
        parts.n = 1;
    }
    if (redd__transfer_begin(req, file->fd, status, f->list, f->n, &parts)) {
        (void)close(file->fd);
        refuse(req, 500);
    }
}

static void describe(const redd_http_files *files, const found *file, const redd__validators *v,
                     redd_slice type, fields *f)
{
    add(f, "Content-Type", type);
    add(f, "Last-Modified", redd_slice_of(v->modified_text, sizeof v->modified_text));
    add(f, "ETag", redd_slice_of(v->etag, v->etag_len));
    add(f, "Accept-Ranges", redd_slice_str("bytes"));
    if (files->cache_control)
        add(f, "Cache-Control", redd_slice_str(files->cache_control));
    if (file->coding)
        add(f, "Content-Encoding", redd_slice_str(file->coding));
    if (files->precompressed)
        add(f, "Vary", redd_slice_str("Accept-Encoding"));
}

/* Takes the file's descriptor. */
static void respond_file(const redd_http_files *files, redd_http_request *req,
                         redd__file_path *path, found *file)
{
    char type[REDD__MIME_MAX];
    redd__validators v;
    fields f = {.n = 0};
    int64_t now = redd_timers_unix_time(redd_worker_timers(redd_http_worker(req)));
    if (files->precompressed)
        prefer_neighbour(files, req, path, file);
    redd__validators_of(&file->st, &v);
    describe(files, file, &v, redd__mime_type(&files->mime, path->text, type), &f);
    unsigned status = redd__conditions_judge(req, &v, now);
    if (status) {
        (void)close(file->fd);
        /* A 304 tells what caches go by, not what describes a body (RFC 9110 15.4.5). */
        (void)redd_http_respond(req, status, f.list + 1, f.n - 1, redd_slice_of(NULL, 0));
        return;
    }
    send_file(req, file, &f, &v, now);
}

/* --- a folder --- */

/* To the same path with a slash behind it. What begins with two slashes would be another host. */
static void redirect(redd_http_request *req)
{
    char location[PATH_MAX];
    redd_slice path = redd_http_path(req), query = redd_http_query(req);
    while (path.len > 1 && path.data[0] == '/' && path.data[1] == '/')
        path = redd_slice_of(path.data + 1, path.len - 1);
    int n = snprintf(location, sizeof location, "%.*s/%s%.*s", (int)path.len, path.data,
                     query.len ? "?" : "", (int)query.len, query.len ? query.data : "");
    if (n < 0 || (size_t)n >= sizeof location) {
        refuse(req, 404);
        return;
    }
    redd_http_field field = {REDD_SLICE("Location"), redd_slice_of(location, (size_t)n)};
    (void)redd_http_respond(req, 301, &field, 1, redd_slice_of(NULL, 0));
}

/* Takes the folder's descriptor. */
static void list(const redd_http_files *files, redd_http_request *req, const redd__file_path *path,
                 int fd)
{
    redd_buffer page;
    char title[PATH_MAX + 2];
    (void)snprintf(title, sizeof title, "/%s%s", path->text, path->len ? "/" : "");
    redd_buffer_init(&page, redd_worker_allocator(redd_http_worker(req)), LISTING_MAX);
    int rc = redd__listing_write(fd, title, path->len > 0, files->hidden, &page);
    if (rc ||
        redd_http_respond_typed(req, 200, "text/html; charset=utf-8", redd_buffer_slice(&page)))
        refuse(req, 500);
    redd_buffer_release(&page);
}

/* Takes the folder's descriptor. */
static void respond_folder(const redd_http_files *files, redd_http_request *req,
                           redd__file_path *path, const found *folder)
{
    redd__file_path index = *path;
    found file;
    if (files->index && (index.len == 0 || redd__file_path_append(&index, "/")) &&
        redd__file_path_append(&index, files->index) && find(files, index.text, &file) == 0) {
        (void)close(folder->fd);
        if (S_ISREG(file.st.st_mode)) {
            respond_file(files, req, &index, &file);
            return;
        }
        (void)close(file.fd);
        refuse(req, 404);
        return;
    }
    if (files->listing) {
        list(files, req, path, folder->fd);
        return;
    }
    (void)close(folder->fd);
    refuse(req, 404);
}

/* --- the request --- */

static bool is_method(const redd_http_request *req, const char *name)
{
    return redd_slice_equal(redd_http_method(req), redd_slice_str(name));
}

static void respond_found(const redd_http_files *files, redd_http_request *req,
                          redd__file_path *path, found *it)
{
    bool folder = S_ISDIR(it->st.st_mode);
    if (folder && (path->folder || path->len == 0)) {
        respond_folder(files, req, path, it);
    } else if (S_ISREG(it->st.st_mode) && !path->folder) {
        respond_file(files, req, path, it);
    } else {
        (void)close(it->fd);
        if (folder)
            redirect(req);
        else
            refuse(req, 404); /* no file, or "file/" */
    }
}

void redd_http_static(redd_http_files *files, redd_http_request *req, const char *prefix)
{
    redd__file_path path;
    found it;
    if (!is_method(req, "GET") && !is_method(req, "HEAD")) {
        redd_http_field allow = {REDD_SLICE("Allow"), REDD_SLICE("GET, HEAD")};
        (void)redd_http_respond(req, 405, &allow, 1, redd_slice_of(NULL, 0));
        return;
    }
    if (!redd__file_path_parse(redd_http_path(req), redd_slice_str(prefix), files->hidden, &path)) {
        refuse(req, 404);
        return;
    }
    int rc = find(files, path.text, &it);
    if (rc)
        refuse(req, status_of_error(rc));
    else
        respond_found(files, req, &path, &it);
}

void redd_http_static_handler(redd_http_request *req, void *files)
{
    redd_http_static(files, req, NULL);
}
