/* SPDX-License-Identifier: MIT */
/* Between a request's body and a parser: what comes, what waits, how it ends. */
#include "ext/http/form/form.h"

#include "ext/http/form/parameters.h"

#include <uv.h>

#define MAX_PARTS     1000
#define MAX_PART_HEAD (8U << 10)
#define MAX_FIELD     (1U << 20)

/* --- what the parsers tell --- */

int redd__http_form_count(redd_http_form *f)
{
    return ++f->parts > f->options.max_parts ? REDD_ELIMIT : 0;
}

int redd__http_form_part(redd_http_form *f, const redd_http_part *part)
{
    f->part_bytes = 0;
    f->part_max = part->filename.data ? f->options.max_file : f->options.max_field;
    bool taken = !f->options.on_part || f->options.on_part(f, part, f->options.user);
    return taken ? 0 : UV_ECANCELED;
}

int redd__http_form_data(redd_http_form *f, redd_slice data, bool last)
{
    f->part_bytes += data.len;
    if (f->part_bytes > f->part_max)
        return REDD_ELIMIT;
    return f->options.on_data(f, data, last, f->options.user) ? 0 : UV_ECANCELED;
}

/* --- what a pause leaves --- */

static void drop_kept(redd_http_form *f)
{
    redd_free(f->req->state->alloc, f->kept, f->kept_size);
    f->kept = NULL;
    f->kept_size = f->kept_from = 0;
}

static redd_slice kept(const redd_http_form *f)
{
    if (!f->kept)
        return redd_slice_of(NULL, 0);
    return redd_slice_of(f->kept + f->kept_from, f->kept_size - f->kept_from);
}

/* `data` is the end of what is kept already, or of a piece that will be gone. */
static int keep(redd_http_form *f, redd_slice data)
{
    if (f->kept) {
        f->kept_from = f->kept_size - data.len;
        return 0;
    }
    if (data.len == 0)
        return 0;
    f->kept = redd_alloc(f->req->state->alloc, data.len);
    if (!f->kept)
        return UV_ENOMEM;
    memcpy(f->kept, data.data, data.len);
    f->kept_size = data.len;
    return 0;
}

/* --- the way of a piece --- */

static void form_free(redd_http_form *f)
{
    const redd_allocator *a = f->req->state->alloc;
    drop_kept(f);
    redd_buffer_release(&f->text);
    redd_free(a, f, sizeof *f);
}

static void form_end(redd_http_form *f, int status)
{
    redd_http_request *req = f->req;
    f->over = true;
    redd_timer_stop(&f->resume);
    redd__http_watch_remove(req, &f->watch);
    f->options.on_end(f, status, f->options.user);
    form_free(f);
    redd_http_request_unref(req);
}

static void on_piece(redd_http_request *req, int status, redd_slice data, bool last, void *user);

static void work(redd_http_form *f, redd_slice data)
{
    f->busy = true;
    int rc = f->kind->feed(f, &data, f->last);
    f->busy = false;
    if (rc == 0)
        rc = f->status;
    if (rc == 0 && f->paused)
        rc = keep(f, data);
    else if (rc == 0 && !f->complete) {
        drop_kept(f);
        rc = redd_http_read(f->req, on_piece, f);
    }
    if (rc || f->complete)
        form_end(f, rc);
}

static void on_piece(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    redd_http_form *f = user;
    (void)req;
    f->last = last;
    if (status)
        form_end(f, status);
    else
        work(f, data);
}

static void on_resume(redd_timer *t, void *user)
{
    redd_http_form *f = user;
    (void)t;
    work(f, kept(f));
}

/* The request ends before the form. */
static void on_request_end(redd__http_watch *w, int status)
{
    redd_http_form *f = (redd_http_form *)w;
    f->status = status ? status : UV_ECANCELED;
    if (!f->busy)
        form_end(f, f->status);
}

/* --- public --- */

/* UV_ENOTSUP, UV_EINVAL. */
static int choose_parser(redd_http_form *f)
{
    static const redd_slice multipart = REDD_SLICE("multipart/form-data"),
                            urlencoded = REDD_SLICE("application/x-www-form-urlencoded");
    redd_slice rest = redd_http_field_get(f->req, "content-type", 0);
    if (redd_http_field_get(f->req, "content-type", 1).data)
        return UV_ENOTSUP; /* who reads the other one sees another form */
    redd_slice type = redd__http_cut_value(&rest);
    if (redd_slice_equal_nocase(type, multipart)) {
        f->kind = &redd__http_form_multipart;
        return redd__http_multipart_init(&f->parser.multipart, rest);
    }
    f->kind = &redd__http_form_urlencoded;
    return redd_slice_equal_nocase(type, urlencoded) ? 0 : UV_ENOTSUP;
}

static uint64_t limit(uint64_t set, uint64_t otherwise)
{
    return set ? set : otherwise;
}

static void set_options(redd_http_form *f, const redd_http_form_options *options)
{
    f->options = *options;
    f->options.max_parts = limit(options->max_parts, MAX_PARTS);
    f->options.max_part_head = limit(options->max_part_head, MAX_PART_HEAD);
    f->options.max_field = limit(options->max_field, MAX_FIELD);
    f->options.max_file = limit(options->max_file, UINT64_MAX);
}

int redd_http_form_read(redd_http_request *req, const redd_http_form_options *options,
                        redd_http_form **out)
{
    const redd__http_state *st = req->state;
    if (options->struct_size != sizeof *options || !options->on_data || !options->on_end)
        return UV_EINVAL;
    redd_http_form *f = redd_alloc_zero(st->alloc, sizeof *f);
    if (!f)
        return UV_ENOMEM;
    f->req = req;
    f->watch.end = on_request_end;
    set_options(f, options);
    redd_timer_init(&f->resume, st->timers, on_resume, f);
    int rc = choose_parser(f);
    redd_buffer_init(&f->text, st->alloc,
                     f->kind == &redd__http_form_multipart ? f->options.max_part_head : SIZE_MAX);
    if (rc == 0)
        rc = redd_http_read(req, on_piece, f);
    if (rc) {
        form_free(f);
        return rc;
    }
    (void)redd_http_request_ref(req);
    redd__http_watch_add(req, &f->watch);
    *out = f;
    return 0;
}

void redd_http_form_pause(redd_http_form *form)
{
    form->paused = true;
}

void redd_http_form_resume(redd_http_form *form)
{
    bool waits = form->paused && !form->busy && !form->over && !form->req->read_fn;
    form->paused = false;
    if (waits)
        redd_timer_start(&form->resume, 0);
}

redd_http_request *redd_http_form_request(redd_http_form *form)
{
    return form->req;
}
