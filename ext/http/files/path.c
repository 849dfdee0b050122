/* SPDX-License-Identifier: MIT */
#include "ext/http/files/path.h"

#include <redd/http_router.h>

bool redd__file_path_append(redd__file_path *p, const char *text)
{
    size_t n = strlen(text);
    if (n >= sizeof p->text - p->len)
        return false;
    memcpy(p->text + p->len, text, n + 1);
    p->len += n;
    return true;
}

/* The prefix ends where a segment does. */
static bool take_prefix(redd_slice *path, redd_slice prefix)
{
    while (prefix.len > 0 && prefix.data[prefix.len - 1] == '/')
        prefix.len--;
    if (path->len < prefix.len || (prefix.len && memcmp(path->data, prefix.data, prefix.len) != 0))
        return false;
    *path = redd_slice_of(path->data + prefix.len, path->len - prefix.len);
    return path->len > 0 && path->data[0] == '/';
}

static bool is_name(redd_slice s, bool hidden)
{
    if (s.len == 0 || s.len > NAME_MAX || memchr(s.data, '/', s.len) || memchr(s.data, '\0', s.len))
        return false;
    if (s.data[0] != '.')
        return true;
    bool relative = s.len == 1 || (s.len == 2 && s.data[1] == '.');
    return hidden && !relative;
}

static bool take_segment(redd_slice raw, bool hidden, redd__file_path *out)
{
    size_t n;
    if (out->len > 0 && !redd__file_path_append(out, "/"))
        return false;
    char *at = out->text + out->len;
    if (redd_http_decode_percent(raw, false, at, sizeof out->text - out->len - 1, &n) ||
        !is_name(redd_slice_of(at, n), hidden))
        return false;
    out->len += n;
    out->text[out->len] = '\0';
    return true;
}

bool redd__file_path_parse(redd_slice path, redd_slice prefix, bool hidden, redd__file_path *out)
{
    out->len = 0;
    out->text[0] = '\0';
    if (!take_prefix(&path, prefix))
        return false;
    out->folder = path.data[path.len - 1] == '/';
    if (path.len > 1 && out->folder && path.data[path.len - 2] == '/')
        return false; /* an empty segment at the end */
    const char *p = path.data + 1, *end = path.data + path.len - (path.len > 1 && out->folder);
    while (p < end) {
        const char *slash = memchr(p, '/', (size_t)(end - p));
        const char *stop = slash ? slash : end;
        if (!take_segment(redd_slice_of(p, (size_t)(stop - p)), hidden, out))
            return false;
        p = stop + 1;
    }
    return true;
}
