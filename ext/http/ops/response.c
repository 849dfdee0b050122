/* SPDX-License-Identifier: MIT */
#include "ext/http/ops/ops.h"
#include "ext/http/ops/request.h"

#include <uv.h>

/* --- fields, kept until the response begins --- */

static int keep_field(redd__http_guest_field *fields, size_t *n, size_t max, redd_bytes *name,
                      redd_bytes *value)
{
    if (*n == max)
        return REDD_ELIMIT;
    fields[(*n)++] = (redd__http_guest_field){redd_bytes_ref(name), redd_bytes_ref(value)};
    return 0;
}

REDD__HTTP_OP(set_header)
{
    redd__http_guest_request *q;
    (void)state, (void)out, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    return rc ? rc
              : keep_field(q->fields, &q->n_fields, REDD__HTTP_GUEST_FIELDS, argv[1].as.bytes,
                           argv[2].as.bytes);
}

REDD__HTTP_OP(set_trailer)
{
    redd__http_guest_request *q;
    (void)state, (void)out, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    return rc ? rc
              : keep_field(q->trailers, &q->n_trailers, REDD__HTTP_GUEST_TRAILERS, argv[1].as.bytes,
                           argv[2].as.bytes);
}

static void as_fields(const redd__http_guest_field *kept, size_t n, redd_http_field *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (redd_http_field){redd_bytes_slice(kept[i].name), redd_bytes_slice(kept[i].value)};
}

/* "name NUL value NUL ...", as op_http_get_request_headers gives it. */
static int parse_fields(redd_slice flat, redd_http_field *fields, size_t max, size_t *n)
{
    redd_slice text[2];
    size_t i = 0;
    *n = 0;
    while (flat.len > 0) {
        const char *end = memchr(flat.data, '\0', flat.len);
        if (!end)
            return UV_EINVAL;
        text[i % 2] = redd_slice_of(flat.data, (size_t)(end - flat.data));
        flat = redd_slice_of(end + 1, flat.len - text[i % 2].len - 1);
        if (++i % 2)
            continue;
        if (*n == max)
            return REDD_ELIMIT;
        fields[(*n)++] = (redd_http_field){text[0], text[1]};
    }
    return i % 2 ? UV_EINVAL : 0;
}

static int keep_copy(redd__http_guest_request *q, const redd_http_field *f)
{
    redd_bytes *name, *value;
    int rc = redd_bytes_copy(q->alloc, f->name, &name);
    if (rc)
        return rc;
    rc = redd_bytes_copy(q->alloc, f->value, &value);
    if (rc == 0) {
        rc = keep_field(q->fields, &q->n_fields, REDD__HTTP_GUEST_FIELDS, name, value);
        redd_bytes_unref(value);
    }
    redd_bytes_unref(name);
    return rc;
}

REDD__HTTP_OP(set_headers)
{
    redd__http_guest_request *q;
    redd_http_field fields[REDD__HTTP_GUEST_FIELDS];
    size_t n;
    (void)state, (void)out, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc == 0)
        rc = parse_fields(redd_bytes_slice(argv[1].as.bytes), fields,
                          REDD__HTTP_GUEST_FIELDS - q->n_fields, &n);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = keep_copy(q, &fields[i]);
    return rc;
}

REDD__HTTP_OP(set_compression)
{
    redd__http_guest_request *q;
    (void)state, (void)out, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc)
        return rc;
    redd_http_compress(q->req, argv[1].as.boolean ? REDD_HTTP_COMPRESS_ON : REDD_HTTP_COMPRESS_OFF);
    return 0;
}

/* --- answering --- */

REDD__HTTP_OP(send_interim)
{
    redd__http_guest_request *q;
    redd_http_field fields[REDD__HTTP_GUEST_FIELDS];
    size_t n;
    (void)state, (void)out, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc == 0)
        rc = parse_fields(redd_bytes_slice(argv[2].as.bytes), fields, REDD__HTTP_GUEST_FIELDS, &n);
    return rc ? rc : redd_http_inform(q->req, argv[1].as.u32, fields, n);
}

REDD__HTTP_OP(set_body)
{
    redd__http_guest_request *q;
    redd_http_field fields[REDD__HTTP_GUEST_FIELDS];
    (void)state, (void)out, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc)
        return rc;
    as_fields(q->fields, q->n_fields, fields);
    return redd_http_respond(q->req, argv[1].as.u32, fields, q->n_fields,
                             redd_bytes_slice(argv[2].as.bytes));
}

/* Null for a length that is not known. */
static bool length_of(const redd_value *v, int64_t *out)
{
    *out = v->kind == REDD_U32 ? (int64_t)v->as.u32 : v->kind == REDD_I64 ? v->as.i64 : -1;
    return v->kind != REDD_I64 || v->as.i64 >= 0;
}

REDD__HTTP_OP(start)
{
    redd__http_guest_request *q;
    redd_http_field fields[REDD__HTTP_GUEST_FIELDS];
    int64_t length;
    (void)state, (void)out, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc == 0 && !length_of(&argv[2], &length))
        rc = UV_EINVAL;
    if (rc)
        return rc;
    as_fields(q->fields, q->n_fields, fields);
    return redd_http_start(q->req, argv[1].as.u32, fields, q->n_fields, length);
}

REDD__HTTP_OP(finish)
{
    redd__http_guest_request *q;
    redd_http_field trailers[REDD__HTTP_GUEST_TRAILERS];
    (void)state, (void)out, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc)
        return rc;
    as_fields(q->trailers, q->n_trailers, trailers);
    return redd_http_finish_with(q->req, trailers, q->n_trailers);
}

REDD__HTTP_OP(abort)
{
    redd__http_guest_request *q;
    (void)state, (void)out, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    return rc ? rc : redd_http_abort(q->req);
}
