/* SPDX-License-Identifier: MIT */
/** The folder of $FILES_ROOT, with listings, below /files/ and at the root. */
#include <redd/redd.h>

#include <stdlib.h>

static int begin(redd_runtime *rt, void **shared)
{
    redd_http_files_options o = REDD_HTTP_FILES_OPTIONS_INIT;
    o.root = getenv("FILES_ROOT");
    o.listing = true;
    o.cache_control = "max-age=60";
    return redd_http_files_new(redd_runtime_allocator(rt), &o, (redd_http_files **)shared);
}

static int begin_worker(redd_worker *w, void *shared, void **state)
{
    (void)w;
    *state = shared;
    return 0;
}

static void end(redd_runtime *rt, void *shared)
{
    (void)rt;
    redd_http_files_free(shared);
}

static void serve(redd_http_request *req, void *files)
{
    redd_slice path = redd_http_path(req);
    bool below = path.len >= 7 && memcmp(path.data, "/files/", 7) == 0;
    redd_http_static(files, req, below ? "/files" : NULL);
}

REDD_APP(.serve = serve, .init = begin, .worker_init = begin_worker, .fini = end)
