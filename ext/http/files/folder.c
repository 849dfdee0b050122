/* SPDX-License-Identifier: MIT */
#include "ext/http/files/folder.h"

#include "ext/http/files/file.h"
#include "ext/http/files/listing.h"

#include <unistd.h>
#include <uv.h>

static int append(redd_buffer *out, redd_slice s)
{
    return redd_buffer_append(out, s.data, s.len);
}

/* What browsers take for a slash is escaped, and of several slashes in front one is left: else a
 * path could become another host's. */
static int append_path(redd_buffer *out, redd_slice path)
{
    int rc = 0;
    while (path.len > 1 && path.data[0] == '/' && path.data[1] == '/')
        path = redd_slice_of(path.data + 1, path.len - 1);
    for (size_t i = 0; rc == 0 && i < path.len; i++)
        rc = path.data[i] == '\\' ? append(out, redd_slice_str("%5C"))
                                  : redd_buffer_append(out, path.data + i, 1);
    return rc;
}

static int write_location(const redd_http_request *req, redd_buffer *out)
{
    redd_slice query = redd_http_query(req);
    int rc = append_path(out, redd_http_path(req));
    if (rc == 0)
        rc = append(out, redd_slice_str("/"));
    if (rc == 0 && query.len > 0)
        rc = append(out, redd_slice_str("?"));
    if (rc == 0 && query.len > 0)
        rc = append(out, query);
    return rc;
}

/* To the same path with a slash behind it. */
static void redirect(redd_http_request *req)
{
    redd_buffer location;
    size_t max = 3 * redd_http_target(req).len + 1;
    redd_buffer_init(&location, redd_worker_allocator(redd_http_worker(req)), max);
    if (write_location(req, &location)) {
        redd__files_refuse(req, 500);
    } else {
        redd_http_field field = {REDD_SLICE("Location"), redd_buffer_slice(&location)};
        (void)redd_http_respond(req, 301, &field, 1, redd_slice_of(NULL, 0));
    }
    redd_buffer_release(&location);
}

static void list(const redd_http_files *files, redd_http_request *req, const redd__file_path *path,
                 int fd)
{
    redd_buffer page;
    redd_buffer_init(&page, redd_worker_allocator(redd_http_worker(req)), REDD__LISTING_MAX);
    int rc = redd__listing_write(files, path, fd, &page);
    if (rc ||
        redd_http_respond_typed(req, 200, "text/html; charset=utf-8", redd_buffer_slice(&page)))
        redd__files_refuse(req, 500);
    redd_buffer_release(&page);
}

bool redd__folder_respond_index(const redd_http_files *files, redd_http_request *req,
                                redd__file_path *path)
{
    redd__found file;
    size_t len = path->len;
    if (!files->index)
        return false;
    int rc = UV_ENAMETOOLONG;
    if ((len == 0 || redd__file_path_append(path, "/")) &&
        redd__file_path_append(path, files->index))
        rc = redd__find(files, path->text, &file);
    if (rc == 0 && !S_ISREG(file.st.st_mode)) {
        (void)close(file.fd);
        rc = UV_ENOENT;
    }
    unsigned status = rc ? redd__find_status(rc) : 200;
    if (rc == 0)
        redd__file_respond(files, req, path, &file);
    else if (status != 404)
        redd__files_refuse(req, status);
    redd__file_path_cut(path, len);
    return status != 404;
}

void redd__folder_respond(const redd_http_files *files, redd_http_request *req,
                          const redd__file_path *path, const redd__found *folder)
{
    if (path->folder && files->listing) {
        list(files, req, path, folder->fd);
        return;
    }
    (void)close(folder->fd);
    if (path->folder)
        redd__files_refuse(req, 404);
    else
        redirect(req);
}
