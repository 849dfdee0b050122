/* SPDX-License-Identifier: MIT */
#include "ext/http/files/transfer.h"

#include "ext/http/files/mime.h"
#include "ext/http/put.h"
#include "ext/http/request.h"

#include <unistd.h>
#include <uv.h>

/* Up to this size a part is read and leaves in one piece with its head: two calls of the system
 * less. */
#define READ_MAX (16U << 10)

#define BOUNDARY 32
/* Of one part, all but its bytes. */
#define PART_HEAD (sizeof "\r\n--" + BOUNDARY + REDD__MIME_MAX + 128)

/* A response that waits for its client. */
typedef struct transfer {
    redd__http_watch watch; /* of the request's end, which frees it */
    const redd_allocator *alloc;
    redd_http_request *req;
    int fd;
    size_t part; /* the next to be sent */
    redd__parts parts;
    size_t type_len; /* of several parts, which repeat it */
    char type[REDD__MIME_MAX];
    char boundary[BOUNDARY];
} transfer;

/* --- heads of parts --- */

static int make_boundary(char out[BOUNDARY])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char bytes[BOUNDARY / 2];
    int rc = uv_random(NULL, NULL, bytes, sizeof bytes, 0, NULL);
    if (rc)
        return rc;
    for (size_t i = 0; i < sizeof bytes; i++) {
        out[2 * i] = hex[bytes[i] >> 4];
        out[2 * i + 1] = hex[bytes[i] & 15];
    }
    return 0;
}

static char *put_content_range(char *p, const redd__range *r, uint64_t size)
{
    p = REDD__PUT(p, "bytes ");
    p = redd__put_number(p, r->first);
    *p++ = '-';
    p = redd__put_number(p, r->last);
    *p++ = '/';
    return redd__put_number(p, size);
}

static redd_slice part_head(const transfer *t, size_t part, char buf[PART_HEAD])
{
    char *p = REDD__PUT(buf, "\r\n--");
    p = redd__put(p, t->boundary, BOUNDARY);
    p = REDD__PUT(p, "\r\nContent-Type: ");
    p = redd__put(p, t->type, t->type_len);
    p = REDD__PUT(p, "\r\nContent-Range: ");
    p = put_content_range(p, &t->parts.ranges[part], t->parts.size);
    p = REDD__PUT(p, "\r\n\r\n");
    return redd_slice_of(buf, (size_t)(p - buf));
}

static redd_slice end_of_parts(const transfer *t, char buf[PART_HEAD])
{
    char *p = REDD__PUT(buf, "\r\n--");
    p = redd__put(p, t->boundary, BOUNDARY);
    p = REDD__PUT(p, "--\r\n");
    return redd_slice_of(buf, (size_t)(p - buf));
}

static uint64_t length_of(const redd__range *r)
{
    return r->last - r->first + 1;
}

static uint64_t length_of_parts(const transfer *t)
{
    char buf[PART_HEAD];
    uint64_t length = end_of_parts(t, buf).len;
    for (size_t i = 0; i < t->parts.n; i++)
        length += part_head(t, i, buf).len + length_of(&t->parts.ranges[i]);
    return length;
}

/* --- going on --- */

static void on_end(redd__http_watch *w, int status)
{
    transfer *t = (transfer *)(void *)w;
    (void)status;
    (void)close(t->fd);
    redd_free(t->alloc, t, sizeof *t);
}

/* Writes until the client is slower, or all is written. Whoever refuses a write calls on_drain when
 * it would be taken, or has ended the request, and with it `t`. */
static void go_on(transfer *t)
{
    redd_http_request *req = t->req;
    char buf[PART_HEAD];
    while (t->part < t->parts.n) {
        const redd__range *r = &t->parts.ranges[t->part];
        if (t->parts.n > 1 && redd_http_write(req, part_head(t, t->part, buf)) < 0)
            return;
        t->part++;
        if (redd_http_write_file(req, t->fd, r->first, length_of(r)))
            return;
    }
    if (t->parts.n > 1 && redd_http_write(req, end_of_parts(t, buf)) < 0)
        return;
    (void)redd_http_finish(req);
}

static void on_drain(redd_http_request *req, void *user)
{
    (void)req;
    go_on(user);
}

/* --- the beginning --- */

/* Small enough to leave with its head. UV_EAGAIN: it is not, or cannot be read whole. */
static int respond_at_once(redd_http_request *req, int fd, unsigned status,
                           const redd_http_field *fields, size_t n, const redd__range *r)
{
    char body[READ_MAX];
    uint64_t length = length_of(r);
    if (length > sizeof body)
        return UV_EAGAIN;
    ssize_t got = pread(fd, body, (size_t)length, (off_t)r->first);
    if (got < 0 || (uint64_t)got != length)
        return UV_EAGAIN;
    int rc = redd_http_respond(req, status, fields, n, redd_slice_of(body, (size_t)length));
    if (rc == 0)
        (void)close(fd);
    return rc;
}

static int start(transfer *t, unsigned status, redd_http_field *fields, size_t n)
{
    char type[sizeof "multipart/byteranges; boundary=" + BOUNDARY];
    uint64_t length = t->parts.n == 1 ? length_of(&t->parts.ranges[0]) : 0;
    if (t->parts.n > 1) {
        redd_slice one = fields[0].value;
        t->type_len = one.len;
        memcpy(t->type, one.data, one.len);
        int rc = make_boundary(t->boundary);
        if (rc)
            return rc;
        char *p = REDD__PUT(type, "multipart/byteranges; boundary=");
        p = redd__put(p, t->boundary, BOUNDARY);
        fields[0].value = redd_slice_of(type, (size_t)(p - type));
        length = length_of_parts(t);
    }
    return redd_http_start(t->req, status, fields, n, (int64_t)length);
}

int redd__transfer_begin(redd_http_request *req, int fd, unsigned status, redd_http_field *fields,
                         size_t n_fields, const redd__parts *parts)
{
    char content_range[80];
    if (status == 206 && parts->n == 1) {
        static const redd_slice name = REDD_SLICE("Content-Range");
        char *p = put_content_range(content_range, &parts->ranges[0], parts->size);
        fields[n_fields++] =
            (redd_http_field){name, redd_slice_of(content_range, (size_t)(p - content_range))};
    }
    int rc = parts->n > 1 ? UV_EAGAIN
                          : respond_at_once(req, fd, status, fields, n_fields, &parts->ranges[0]);
    if (rc != UV_EAGAIN)
        return rc;
    const redd_allocator *a = redd_worker_allocator(redd_http_worker(req));
    transfer *t = redd_alloc_zero(a, sizeof *t);
    if (!t)
        return UV_ENOMEM;
    t->alloc = a;
    t->req = req;
    t->fd = fd;
    t->parts = *parts;
    rc = start(t, status, fields, n_fields);
    if (rc) {
        redd_free(a, t, sizeof *t);
        return rc;
    }
    t->watch.end = on_end;
    redd__http_watch_add(req, &t->watch);
    redd_http_on_drain(req, on_drain, t);
    go_on(t);
    return 0;
}
