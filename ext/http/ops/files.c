/* SPDX-License-Identifier: MIT */
#include "ext/http/ops/ops.h"
#include "ext/http/ops/request.h"

#include <redd/http_static.h>

#include <uv.h>

typedef struct files_resource {
    redd_resource resource;
    const redd_allocator *alloc;
    redd_http_files *files;
} files_resource;

static files_resource *of_resource(redd_resource *r)
{
    return (files_resource *)(void *)r;
}

static void files_free(redd_resource *r)
{
    files_resource *f = of_resource(r);
    redd_http_files_free(f->files);
    redd_free(f->alloc, f, sizeof *f);
}

static const redd_resource_vt files_vt = {"httpFiles", NULL, files_free};

REDD__HTTP_OP(files_open)
{
    const redd_allocator *a = redd_worker_allocator(w);
    char root[4096];
    redd_rid rid;
    (void)state, (void)pending;
    int rc = redd__http_terminated(&argv[0], root, sizeof root);
    if (rc)
        return rc;
    files_resource *f = redd_alloc_zero(a, sizeof *f);
    if (!f)
        return UV_ENOMEM;
    redd_resource_init(&f->resource, &files_vt);
    f->alloc = a;
    redd_http_files_options options = REDD_HTTP_FILES_OPTIONS_INIT;
    options.root = root;
    options.listing = argv[1].as.boolean;
    rc = redd_http_files_new(a, &options, &f->files);
    if (rc == 0)
        rc = redd_resource_add(w, &f->resource, &rid);
    if (rc)
        redd_resource_unref(&f->resource);
    else
        *out = redd_value_resource(rid);
    return rc;
}

REDD__HTTP_OP(respond_file)
{
    redd__http_guest_request *q;
    redd_resource *files;
    char prefix[1024];
    (void)state, (void)out, (void)pending;
    int rc = redd__http_guest_get(w, &argv[0], &q);
    if (rc == 0)
        rc = redd_resource_get(w, argv[1].as.rid, &files_vt, &files);
    bool none = argv[2].kind == REDD_NULL;
    if (rc == 0 && !none)
        rc = redd__http_terminated(&argv[2], prefix, sizeof prefix);
    if (rc == 0)
        redd_http_static(of_resource(files)->files, q->req, none ? NULL : prefix);
    return rc;
}
