/* SPDX-License-Identifier: MIT */
#include "ext/http/files/find.h"

#include "ext/http/coding/accept.h"
#include "ext/http/files/open.h"

#include <errno.h>
#include <unistd.h>
#include <uv.h>

int redd__find(const redd_http_files *f, const char *path, redd__found *out)
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

unsigned redd__find_status(int error)
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

/* --- precompressed neighbours --- */

static const struct neighbour {
    redd__http_coding coding;
    const char *ending, *name;
} neighbours[] = {{REDD__HTTP_BR, ".br", "br"},
                  {REDD__HTTP_ZSTD, ".zst", "zstd"},
                  {REDD__HTTP_GZIP, ".gz", "gzip"}};

#define N_NEIGHBOURS (sizeof neighbours / sizeof *neighbours)

static const struct neighbour *neighbour_of(redd__http_coding coding)
{
    for (size_t i = 0; i < N_NEIGHBOURS; i++)
        if (neighbours[i].coding == coding)
            return &neighbours[i];
    return NULL;
}

static bool find_regular(const redd_http_files *f, redd__file_path *path, const char *ending,
                         redd__found *out)
{
    size_t len = path->len;
    bool found = redd__file_path_append(path, ending) && redd__find(f, path->text, out) == 0;
    redd__file_path_cut(path, len);
    if (found && !S_ISREG(out->st.st_mode)) {
        (void)close(out->fd);
        found = false;
    }
    return found;
}

void redd__find_neighbour(const redd_http_files *f, const redd_http_request *req,
                          redd__file_path *path, redd__found *file)
{
    const struct neighbour *n;
    unsigned offered = 0;
    for (size_t i = 0; i < N_NEIGHBOURS; i++)
        offered |= REDD__HTTP_CODING_BIT(neighbours[i].coding);
    while ((n = neighbour_of(redd__http_coding_accepted(req, offered)))) {
        redd__found other;
        if (find_regular(f, path, n->ending, &other)) {
            (void)close(file->fd);
            *file = other;
            file->coding = n->name;
            return;
        }
        offered &= ~REDD__HTTP_CODING_BIT(n->coding);
    }
}
