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

void redd__file_path_cut(redd__file_path *p, size_t len)
{
    p->len = len;
    p->text[len] = '\0';
}

/* The prefix ends where a segment does. What is left is empty or begins with a slash. */
static bool take_prefix(redd_slice *path, redd_slice prefix)
{
    while (prefix.len > 0 && prefix.data[prefix.len - 1] == '/')
        prefix.len--;
    if (path->len < prefix.len || (prefix.len && memcmp(path->data, prefix.data, prefix.len) != 0))
        return false;
    *path = redd_slice_of(path->data + prefix.len, path->len - prefix.len);
    return path->len > 0 ? path->data[0] == '/' : prefix.len > 0;
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

/* Made to be public, for all its dot (RFC 8615). */
static bool is_well_known(redd_slice s)
{
    static const redd_slice name = REDD_SLICE(".well-known");
    return redd_slice_equal(s, name);
}

static bool take_segment(redd_slice raw, bool hidden, redd__file_path *out)
{
    size_t n;
    bool first = out->len == 0;
    if (!first && !redd__file_path_append(out, "/"))
        return false;
    char *at = out->text + out->len;
    if (redd_http_decode_percent(raw, false, at, sizeof out->text - out->len - 1, &n))
        return false;
    redd_slice name = redd_slice_of(at, n);
    if (!is_name(name, hidden) && !(first && is_well_known(name)))
        return false;
    out->len += n;
    out->text[out->len] = '\0';
    return true;
}

bool redd__file_path_parse(redd_slice path, redd_slice prefix, bool hidden, redd__file_path *out)
{
    out->len = 0;
    out->text[0] = '\0';
    out->folder = false;
    if (!take_prefix(&path, prefix))
        return false;
    while (path.len > 0) {
        /* It is at a slash: what is behind it is a segment, or nothing. */
        redd_slice rest = redd_slice_of(path.data + 1, path.len - 1);
        out->folder = rest.len == 0;
        if (out->folder)
            break;
        const char *slash = memchr(rest.data, '/', rest.len);
        size_t n = slash ? (size_t)(slash - rest.data) : rest.len;
        if (!take_segment(redd_slice_of(rest.data, n), hidden, out))
            return false;
        path = redd_slice_of(rest.data + n, rest.len - n);
    }
    return true;
}
