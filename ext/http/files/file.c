/* SPDX-License-Identifier: MIT */
#include "ext/http/files/file.h"

#include "ext/http/coding/response.h"
#include "ext/http/files/condition.h"
#include "ext/http/files/transfer.h"
#include "ext/http/put.h"

#include <unistd.h>

/* Content-Type is the first. Those from `kept` on are what caches go by: a 304 has them too, and
 * nothing that describes a body (RFC 9110 15.4.5). */
typedef struct fields {
    size_t n, kept;
    redd_http_field list[8]; /* one more than there are: of a part */
} fields;

static void add(fields *f, const char *name, redd_slice value)
{
    f->list[f->n++] = (redd_http_field){redd_slice_str(name), value};
}

static void describe(const redd_http_files *files, const redd__found *file,
                     const redd__validators *v, redd_slice type, fields *f)
{
    f->n = 0;
    add(f, "Content-Type", type);
    add(f, "Last-Modified", redd_slice_of(v->modified_text, sizeof v->modified_text));
    add(f, "Accept-Ranges", redd_slice_str("bytes"));
    if (file->coding)
        add(f, "Content-Encoding", redd_slice_str(file->coding));
    f->kept = f->n;
    add(f, "ETag", redd_slice_of(v->etag, v->etag_len));
    if (files->cache_control)
        add(f, "Cache-Control", redd_slice_str(files->cache_control));
    if (files->precompressed)
        add(f, "Vary", redd_slice_str("Accept-Encoding"));
}

/* --- without a body --- */

/* Only the fields of the 200 that it stands for show whether that one would be compressed, and so
 * whether its tag is a weak one. */
static void respond_not_modified(redd_http_request *req, const fields *f, uint64_t size)
{
    if (redd__http_may_compress(req) &&
        !redd__http_plan_response(req, 200, f->list, f->n, (int64_t)size).negotiated)
        redd_http_compress(req, REDD_HTTP_COMPRESS_OFF);
    (void)redd_http_respond(req, 304, f->list + f->kept, f->n - f->kept, redd_slice_of(NULL, 0));
}

static void respond_unsatisfiable(redd_http_request *req, uint64_t size)
{
    char value[40];
    char *p = REDD__PUT(value, "bytes */");
    p = redd__put_number(p, size);
    redd_http_field field = {REDD_SLICE("Content-Range"),
                             redd_slice_of(value, (size_t)(p - value))};
    (void)redd_http_respond(req, 416, &field, 1, redd_slice_of(NULL, 0));
}

/* --- with one --- */

/* Only GET knows ranges (RFC 9110 14.2). */
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

static void send_file(redd_http_request *req, const redd__found *file, fields *f,
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
        redd__files_refuse(req, 500);
    }
}

void redd__file_respond(const redd_http_files *files, redd_http_request *req, redd__file_path *path,
                        redd__found *file)
{
    char type[REDD__MIME_MAX];
    redd__validators v;
    fields f;
    int64_t now = redd_timers_unix_time(redd_worker_timers(redd_http_worker(req)));
    if (files->precompressed)
        redd__find_neighbour(files, req, path, file);
    redd__validators_of(&file->st, file->coding, now, &v);
    describe(files, file, &v, redd__mime_type(&files->mime, path->text, type), &f);
    unsigned status = redd__conditions_judge(req, &v, now);
    if (status == 0) {
        send_file(req, file, &f, &v, now);
        return;
    }
    (void)close(file->fd);
    if (status == 304)
        respond_not_modified(req, &f, (uint64_t)file->st.st_size);
    else
        redd__files_refuse(req, status);
}
