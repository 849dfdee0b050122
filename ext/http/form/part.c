/* SPDX-License-Identifier: MIT */
#include "ext/http/form/part.h"

#include "ext/http/fields.h"
#include "ext/http/form/parameters.h"

#include <redd/http_router.h>

/* Where an escape begins at s[i], its length and the byte that it stands for: those of browsers
 * (https://html.spec.whatwg.org/#multipart-form-data), and of quoted strings those that are needed:
 * other backslashes are the name's own, since browsers send it as it is. */
static size_t escape_at(redd_slice s, size_t i, char *byte)
{
    static const struct {
        redd_slice escape;
        char byte;
    } escapes[] = {
        {REDD_SLICE("%22"), '"'},  {REDD_SLICE("%0D"), '\r'},  {REDD_SLICE("%0A"), '\n'},
        {REDD_SLICE("\\\""), '"'}, {REDD_SLICE("\\\\"), '\\'},
    };
    for (size_t k = 0; k < sizeof escapes / sizeof *escapes; k++) {
        redd_slice escape = escapes[k].escape;
        if (s.len - i >= escape.len && memcmp(s.data + i, escape.data, escape.len) == 0) {
            *byte = escapes[k].byte;
            return escape.len;
        }
    }
    *byte = s.data[i];
    return 1;
}

/* `s` lies in `head`, which is ours to write. */
static redd_slice undo_escapes(char *head, size_t off, redd_slice s)
{
    char *start = head + off;
    size_t n = 0;
    for (size_t i = 0; i < s.len;) {
        char byte;
        i += escape_at(s, i, &byte);
        start[n++] = byte;
    }
    return redd_slice_of(start, n);
}

/* form-data; name="..."; filename="..." (RFC 7578 4.2; filename* is ignored). */
static bool parse_disposition(char *head, redd_slice rest, redd_http_part *out)
{
    static const redd_slice form_data = REDD_SLICE("form-data"), name = REDD_SLICE("name"),
                            filename = REDD_SLICE("filename");
    redd__http_parameter p;
    redd__http_parameter_result result;
    if (!redd_slice_equal_nocase(redd__http_cut_value(&rest), form_data))
        return false;
    while ((result = redd__http_next_parameter(&rest, &p)) == REDD__HTTP_PARAMETER) {
        redd_slice *slot = NULL;
        if (redd_slice_equal_nocase(p.name, name))
            slot = &out->name;
        else if (redd_slice_equal_nocase(p.name, filename))
            slot = &out->filename;
        if (!slot)
            continue;
        if (slot->data)
            return false; /* two of them mean two things to two readers */
        *slot = p.quoted ? undo_escapes(head, (size_t)(p.value.data - head), p.value) : p.value;
    }
    return result == REDD__HTTP_NO_PARAMETER && out->name.data;
}

static bool parse_line(char *head, redd_slice line, redd_http_part *out)
{
    static const redd_slice disposition = REDD_SLICE("content-disposition"),
                            type = REDD_SLICE("content-type");
    const char *colon = memchr(line.data, ':', line.len);
    if (!colon)
        return false;
    redd_slice name = redd_slice_of(line.data, (size_t)(colon - line.data));
    redd_slice value = redd_slice_trim(redd_slice_of(colon + 1, line.len - name.len - 1));
    if (!redd__http_is_token(name) || !redd__http_is_value(value))
        return false;
    if (redd_slice_equal_nocase(name, disposition))
        return !out->name.data && parse_disposition(head, value, out);
    if (redd_slice_equal_nocase(name, type)) {
        if (out->type.data)
            return false;
        out->type = value;
    }
    return true;
}

bool redd__http_part_parse(char *head, size_t len, redd_http_part *out)
{
    *out = (redd_http_part){.name = {NULL, 0}};
    for (size_t at = 0; at < len;) {
        const char *end = memchr(head + at, '\n', len - at);
        size_t n = (size_t)(end - head) - at - 1; /* without CR LF */
        if (!parse_line(head, redd_slice_of(head + at, n), out))
            return false;
        at += n + 2;
    }
    return out->name.data != NULL;
}
