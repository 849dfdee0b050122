/* SPDX-License-Identifier: MIT */
#include "ext/http/coding/plan.h"

#include "ext/http/coding/accept.h"
#include "ext/http/coding/types.h"
#include "ext/http/fields.h"
#include "ext/http/put.h"

static const redd_slice vary = REDD_SLICE("Vary"), etag = REDD_SLICE("ETag");

/* What the response's own fields say. */
typedef struct facts {
    bool barred; /* it must not be changed */
    bool typed, compresses;
} facts;

/* A part, what is coded already, and what a field describes byte by byte (RFC 9530). */
static bool bars(redd_http_field f)
{
    static const redd_slice names[] = {
        REDD_SLICE("Content-Encoding"), REDD_SLICE("Content-Range"), REDD_SLICE("Content-Digest"),
        REDD_SLICE("Repr-Digest"),      REDD_SLICE("Digest"),        REDD_SLICE("Content-MD5"),
    };
    static const redd_slice control = REDD_SLICE("Cache-Control"),
                            no_transform = REDD_SLICE("no-transform");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (redd_slice_equal_nocase(f.name, names[i]))
            return true;
    return redd_slice_equal_nocase(f.name, control) && redd_slice_has_token(f.value, no_transform);
}

static facts read_fields(const redd_http_field *fields, size_t n)
{
    static const redd_slice type = REDD_SLICE("Content-Type");
    facts found = {.barred = false};
    for (size_t i = 0; i < n; i++) {
        found.barred |= bars(fields[i]);
        if (redd_slice_equal_nocase(fields[i].name, type)) {
            found.typed = true;
            found.compresses = redd__http_type_compresses(fields[i].value);
        }
    }
    return found;
}

/* A response that could be coded for somebody. A 304 is judged like the 200 that it stands for
 * (RFC 9110 15.4.5), as far as it can be seen. */
static bool could_be_coded(const redd__http_plan_input *in)
{
    bool stands_in = in->status == 304;
    if (in->status == 204 || in->status == 205 || in->status == 206 || in->length == 0)
        if (!stands_in)
            return false;
    if (!stands_in && in->length >= 0 && (uint64_t)in->length < in->min)
        return false;
    facts found = read_fields(in->fields, in->n);
    if (found.barred)
        return false;
    bool suits = found.typed ? found.compresses : stands_in;
    return suits || in->mode == REDD_HTTP_COMPRESS_ON;
}

redd__http_plan redd__http_plan_of(const redd_http_request *req, const redd__http_plan_input *in)
{
    redd__http_plan plan = {.coding = REDD__HTTP_IDENTITY};
    if (!could_be_coded(in))
        return plan;
    plan.negotiated = true;
    plan.coding = redd__http_coding_accepted(req, redd__http_codings_encoded());
    plan.weak = plan.coding != REDD__HTTP_IDENTITY;
    if (in->status == 304)
        plan.coding = REDD__HTTP_IDENTITY;
    return plan;
}

void redd__http_plan_identity(redd__http_plan *plan)
{
    plan->coding = REDD__HTTP_IDENTITY;
    plan->weak = false;
}

/* --- fields --- */

static bool is_vary(redd_http_field f)
{
    return redd_slice_equal_nocase(f.name, vary);
}

static bool varies_already(const redd_http_field *fields, size_t n)
{
    static const redd_slice accept_encoding = REDD_SLICE("accept-encoding"), any = REDD_SLICE("*");
    for (size_t i = 0; i < n; i++)
        if (is_vary(fields[i]) && (redd_slice_has_token(fields[i].value, accept_encoding) ||
                                   redd_slice_has_token(fields[i].value, any)))
            return true;
    return false;
}

/* Where ranges of the coded bytes cannot be asked for, they must not be offered. */
static bool is_left_out(const redd__http_plan *plan, redd_http_field f)
{
    static const redd_slice ranges = REDD_SLICE("Accept-Ranges");
    return plan->coding != REDD__HTTP_IDENTITY && redd_slice_equal_nocase(f.name, ranges);
}

static char *write_name(char *p, redd_slice name)
{
    p = redd__put_slice(p, name);
    return REDD__PUT(p, ": ");
}

static char *write_vary(char *p, redd_slice before)
{
    p = write_name(p, vary);
    p = redd__put_slice(p, before);
    if (before.len > 0)
        p = REDD__PUT(p, ", ");
    return REDD__PUT(p, "Accept-Encoding\r\n");
}

/* Two codings of one thing are not the same byte by byte (RFC 9110 8.8.1). */
static char *write_weak(char *p, redd_slice tag)
{
    p = write_name(p, etag);
    if (tag.len > 0 && tag.data[0] == '"')
        p = REDD__PUT(p, "W/");
    p = redd__put_slice(p, tag);
    return REDD__PUT(p, "\r\n");
}

char *redd__http_plan_write(char *p, const redd__http_plan *plan, const redd_http_field *fields,
                            size_t n)
{
    bool add_vary = plan->negotiated && !varies_already(fields, n);
    for (size_t i = 0; i < n; i++) {
        if (is_left_out(plan, fields[i]))
            continue;
        if (add_vary && is_vary(fields[i])) {
            p = write_vary(p, fields[i].value);
            add_vary = false;
        } else if (plan->weak && redd_slice_equal_nocase(fields[i].name, etag)) {
            p = write_weak(p, fields[i].value);
        } else {
            p = redd__http_fields_write(p, &fields[i], 1);
        }
    }
    if (add_vary)
        p = write_vary(p, redd_slice_of(NULL, 0));
    if (plan->coding != REDD__HTTP_IDENTITY) {
        p = REDD__PUT(p, "Content-Encoding: ");
        p = redd__put_slice(p, redd__http_codec_of(plan->coding)->name);
        p = REDD__PUT(p, "\r\n");
    }
    return p;
}
