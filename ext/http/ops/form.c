/* SPDX-License-Identifier: MIT */
/* A form as a resource that is pulled: part by part, and each part piece by piece. */
#include "ext/http/ops/ops.h"
#include "ext/http/ops/request.h"

#include <redd/http_form.h>

#include <uv.h>

/* What the form has told last and nobody has taken yet; it is paused meanwhile. */
typedef enum told { NOTHING, PART, DATA, END } told;

typedef struct form_resource {
    redd_resource resource;
    const redd_allocator *alloc;
    redd_http_form *form; /* NULL after its end */
    told told;
    int status;                         /* with END */
    redd_bytes *name, *filename, *type; /* of the present part; references, filename may be NULL */
    redd_bytes *data;                   /* with DATA; a reference */
    bool paused;
    bool part_ended; /* its last piece was told */
    bool closed;     /* nobody will ask any more */
    bool skipping;   /* the rest of the present part is of no interest */
    bool waiting;    /* a future is there */
    redd_waker *waker;
} form_resource;

static form_resource *of_resource(redd_resource *r)
{
    return (form_resource *)(void *)r;
}

static void drop(redd_bytes **slot)
{
    redd_bytes_unref(*slot);
    *slot = NULL;
}

static void drop_part(form_resource *f)
{
    drop(&f->name);
    drop(&f->filename);
    drop(&f->type);
}

static void form_close(redd_resource *r)
{
    form_resource *f = of_resource(r);
    f->closed = true;
    if (f->form)
        redd_http_form_resume(f->form); /* it ends at its next part or piece */
}

static void form_free(redd_resource *r)
{
    form_resource *f = of_resource(r);
    drop_part(f);
    drop(&f->data);
    redd_free(f->alloc, f, sizeof *f);
}

static const redd_resource_vt form_vt = {"httpForm", form_close, form_free};

static bool tell(form_resource *f, told what)
{
    f->told = what;
    f->paused = true;
    if (f->form)
        redd_http_form_pause(f->form);
    redd_waker_fire(&f->waker);
    return true;
}

static bool keep(const form_resource *f, redd_slice s, redd_bytes **slot)
{
    return !s.data || redd_bytes_copy(f->alloc, s, slot) == 0;
}

static bool on_part(redd_http_form *form, const redd_http_part *part, void *user)
{
    form_resource *f = user;
    (void)form;
    drop_part(f);
    f->part_ended = f->skipping = false;
    if (f->closed || !keep(f, part->name, &f->name) || !keep(f, part->filename, &f->filename) ||
        !keep(f, part->type, &f->type))
        return false;
    return tell(f, PART);
}

static bool on_data(redd_http_form *form, redd_slice data, bool last, void *user)
{
    form_resource *f = user;
    (void)form;
    f->part_ended = last;
    if (f->closed)
        return false;
    if (f->skipping || (data.len == 0 && !last))
        return true;
    if (data.len > 0 && redd_bytes_copy(f->alloc, data, &f->data))
        return false;
    return tell(f, DATA);
}

/* The form holds a reference up to here. */
static void on_end(redd_http_form *form, int status, void *user)
{
    form_resource *f = user;
    (void)form;
    f->form = NULL;
    f->status = status;
    (void)tell(f, END);
    redd_resource_unref(&f->resource);
}

REDD__HTTP_OP(form_read)
{
    redd__http_guest_request *q;
    redd_rid rid;
    (void)state, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc)
        return rc;
    form_resource *f = redd_alloc_zero(q->alloc, sizeof *f);
    if (!f)
        return UV_ENOMEM;
    redd_resource_init(&f->resource, &form_vt);
    f->alloc = q->alloc;
    rc = redd_resource_add(w, redd_resource_ref(&f->resource), &rid);
    if (rc) {
        redd_free(f->alloc, f, sizeof *f);
        return rc;
    }
    redd_http_form_options options = REDD_HTTP_FORM_OPTIONS_INIT;
    options.on_part = on_part;
    options.on_data = on_data;
    options.on_end = on_end;
    options.user = f;
    rc = redd_http_form_read(q->req, &options, &f->form);
    if (rc) {
        redd_resource_unref(&f->resource);
        (void)redd_resource_close(w, rid);
        return rc;
    }
    f->paused = true; /* nothing is read before somebody asks */
    redd_http_form_pause(f->form);
    *out = redd_value_resource(rid);
    return 0;
}

/* --- asking --- */

typedef struct ask {
    redd_future future;
    form_resource *form; /* a reference */
    bool for_part;       /* else for a piece of the present part */
} ask;

static redd_value value_of(redd_bytes **slot)
{
    redd_value v = *slot ? redd_value_bytes(*slot) : redd_value_null();
    *slot = NULL;
    return v;
}

/* Returns false when what was asked for has not come. */
static bool answer(form_resource *f, bool for_part, redd_value *out)
{
    bool wanted = for_part ? f->told == PART : f->told == DATA;
    if (f->told == END) {
        *out = f->status ? redd_value_error(f->status) : redd_value_null();
    } else if (wanted) {
        *out = for_part ? redd_value_bytes(redd_bytes_ref(f->name)) : value_of(&f->data);
        f->told = NOTHING;
    } else if (!for_part && (f->told == PART || f->part_ended)) {
        *out = redd_value_null(); /* the part has no more */
    } else {
        return false;
    }
    return true;
}

static redd_poll ask_poll(redd_future *future, redd_waker *waker, redd_value *out)
{
    const ask *a = (const ask *)(const void *)future;
    form_resource *f = a->form;
    if (answer(f, a->for_part, out))
        return REDD_READY;
    if (f->told == DATA) { /* the next part is asked for: the rest of this one goes */
        drop(&f->data);
        f->told = NOTHING;
    }
    f->skipping = a->for_part;
    redd_waker_keep(&f->waker, waker);
    if (f->paused && f->form) {
        f->paused = false;
        redd_http_form_resume(f->form);
    }
    return REDD_PENDING;
}

static void ask_drop(redd_future *future)
{
    ask *a = (ask *)(void *)future;
    form_resource *f = a->form;
    f->waiting = false;
    redd_waker_keep(&f->waker, NULL);
    redd_free(f->alloc, a, sizeof *a);
    redd_resource_unref(&f->resource);
}

static const redd_future_vt ask_vt = {"http.form", ask_poll, ask_drop};

static int get_form(redd_worker *w, const redd_value *rid, form_resource **out)
{
    redd_resource *r = NULL;
    int rc = redd_resource_get(w, rid->as.rid, &form_vt, &r);
    *out = rc ? NULL : of_resource(r);
    return rc;
}

static int ask_for(redd_worker *w, const redd_value *rid, bool for_part, redd_future **pending)
{
    form_resource *f;
    int rc = get_form(w, rid, &f);
    if (rc)
        return rc;
    if (f->waiting)
        return UV_EBUSY;
    ask *a = redd_alloc(f->alloc, sizeof *a);
    if (!a)
        return UV_ENOMEM;
    a->future.vt = &ask_vt;
    a->form = f;
    a->for_part = for_part;
    f->waiting = true;
    (void)redd_resource_ref(&f->resource);
    *pending = &a->future;
    return 0;
}

REDD__HTTP_OP(form_next_part)
{
    (void)state, (void)out;
    return ask_for(w, &argv[0], true, pending);
}

REDD__HTTP_OP(form_read_part)
{
    (void)state, (void)out;
    return ask_for(w, &argv[0], false, pending);
}

static int give(redd_bytes *b, redd_value *out)
{
    *out = b ? redd_value_bytes(redd_bytes_ref(b)) : redd_value_null();
    return 0;
}

REDD__HTTP_OP(form_part_filename)
{
    form_resource *f;
    (void)state, (void)pending;
    int rc = get_form(w, &argv[0], &f);
    return rc ? rc : give(f->filename, out);
}

REDD__HTTP_OP(form_part_type)
{
    form_resource *f;
    (void)state, (void)pending;
    int rc = get_form(w, &argv[0], &f);
    return rc ? rc : give(f->type, out);
}
