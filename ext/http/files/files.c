/* SPDX-License-Identifier: MIT */
#include "ext/http/files/files.h"

#include "ext/http/fields.h"
#include "ext/http/files/open.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <uv.h>

static int copy(const redd_allocator *a, const char *text, char **out)
{
    *out = redd_alloc_string(a, text, strlen(text));
    return *out ? 0 : UV_ENOMEM;
}

static void drop(const redd_allocator *a, char *text)
{
    if (text)
        redd_free(a, text, strlen(text) + 1);
}

static bool options_valid(const redd_http_files_options *o)
{
    if (o->struct_size != sizeof *o || !o->root || (o->index && strchr(o->index, '/')))
        return false;
    return !o->cache_control || redd__http_is_value(redd_slice_str(o->cache_control));
}

static int open_root(redd_http_files *f, const char *root)
{
    f->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (f->root < 0)
        return -errno;
    f->by_system = redd__open_beneath_works(f->root);
    return 0;
}

int redd_http_files_new(const redd_allocator *a, const redd_http_files_options *o,
                        redd_http_files **out)
{
    if (!options_valid(o))
        return UV_EINVAL;
    redd_http_files *f = redd_alloc_zero(a, sizeof *f);
    if (!f)
        return UV_ENOMEM;
    f->alloc = a;
    f->root = -1;
    f->mime.alloc = a;
    f->listing = o->listing;
    f->hidden = o->hidden;
    f->precompressed = !o->no_precompressed;
    const char *index = o->index ? o->index : "index.html";
    int rc = open_root(f, o->root);
    if (rc == 0)
        rc = redd__mime_load(&f->mime, a, o->mime_types);
    if (rc == 0 && *index)
        rc = copy(a, index, &f->index);
    if (rc == 0 && o->cache_control)
        rc = copy(a, o->cache_control, &f->cache_control);
    if (rc)
        redd_http_files_free(f);
    else
        *out = f;
    return rc;
}

void redd_http_files_free(redd_http_files *f)
{
    if (!f)
        return;
    redd__mime_fini(&f->mime);
    drop(f->alloc, f->index);
    drop(f->alloc, f->cache_control);
    if (f->root >= 0)
        (void)close(f->root);
    redd_free(f->alloc, f, sizeof *f);
}
