/* SPDX-License-Identifier: MIT */
/* From a request to what it names. */
#include "ext/http/fields.h"
#include "ext/http/files/file.h"
#include "ext/http/files/folder.h"

#include <stdio.h>
#include <unistd.h>

void redd__files_refuse(redd_http_request *req, unsigned status)
{
    char text[64];
    redd_slice reason = redd__http_reason(status);
    (void)snprintf(text, sizeof text, "%.*s\n", (int)reason.len, reason.data);
    (void)redd_http_respond_text(req, status, text);
}

static bool is_method(const redd_http_request *req, const char *name)
{
    return redd_slice_equal(redd_http_method(req), redd_slice_str(name));
}

static void respond_found(const redd_http_files *files, redd_http_request *req,
                          redd__file_path *path, redd__found *it)
{
    if (S_ISDIR(it->st.st_mode)) {
        redd__folder_respond(files, req, path, it);
    } else if (S_ISREG(it->st.st_mode) && !path->folder) {
        redd__file_respond(files, req, path, it);
    } else {
        (void)close(it->fd);
        redd__files_refuse(req, 404); /* no file, or "file/" */
    }
}

void redd_http_static(redd_http_files *files, redd_http_request *req, const char *prefix)
{
    redd__file_path path;
    redd__found it;
    if (!is_method(req, "GET") && !is_method(req, "HEAD")) {
        redd_http_field allow = {REDD_SLICE("Allow"), REDD_SLICE("GET, HEAD")};
        (void)redd_http_respond(req, 405, &allow, 1, redd_slice_of(NULL, 0));
        return;
    }
    if (!redd__file_path_parse(redd_http_path(req), redd_slice_str(prefix), files->hidden, &path)) {
        redd__files_refuse(req, 404);
        return;
    }
    if (path.folder && redd__folder_respond_index(files, req, &path))
        return;
    int rc = redd__find(files, path.text, &it);
    if (rc)
        redd__files_refuse(req, redd__find_status(rc));
    else
        respond_found(files, req, &path, &it);
}

void redd_http_static_handler(redd_http_request *req, void *files)
{
    redd_http_static(files, req, NULL);
}
