/* SPDX-License-Identifier: MIT */
#include "ext/http/form/parameters.h"

#include "ext/http/fields.h"

static void skip(redd_slice *s, size_t n)
{
    *s = redd_slice_of(s->data + n, s->len - n);
}

static void skip_blanks(redd_slice *s)
{
    while (s->len > 0 && (s->data[0] == ' ' || s->data[0] == '\t'))
        skip(s, 1);
}

redd_slice redd__http_cut_value(redd_slice *rest)
{
    const char *mark = rest->len > 0 ? memchr(rest->data, ';', rest->len) : NULL;
    redd_slice value = redd_slice_of(rest->data, mark ? (size_t)(mark - rest->data) : rest->len);
    skip(rest, value.len);
    return redd_slice_trim(value);
}

/* Bytes between the quotes; SIZE_MAX when the second one is missing. */
static size_t quoted_length(redd_slice s)
{
    for (size_t i = 1; i < s.len; i++) {
        if (s.data[i] == '"')
            return i - 1;
        if (s.data[i] == '\\')
            i++; /* the next byte is escaped, whatever it is */
    }
    return SIZE_MAX;
}

static bool take_quoted(redd_slice *rest, redd_slice *value)
{
    size_t n = quoted_length(*rest);
    if (n == SIZE_MAX)
        return false;
    *value = redd_slice_of(rest->data + 1, n);
    skip(rest, n + 2);
    return true;
}

static bool take_plain(redd_slice *rest, redd_slice *value)
{
    size_t n = 0;
    while (n < rest->len && !strchr("; \t\"", rest->data[n]))
        n++;
    *value = redd_slice_of(rest->data, n);
    skip(rest, n);
    return n > 0;
}

redd__http_parameter_result redd__http_next_parameter(redd_slice *rest, redd__http_parameter *out)
{
    do {
        skip_blanks(rest);
        if (rest->len == 0)
            return REDD__HTTP_NO_PARAMETER;
        if (rest->data[0] != ';')
            return REDD__HTTP_BAD_PARAMETER;
        skip(rest, 1);
        skip_blanks(rest);
    } while (rest->len == 0 || rest->data[0] == ';');
    const char *equals = memchr(rest->data, '=', rest->len);
    if (!equals)
        return REDD__HTTP_BAD_PARAMETER;
    out->name = redd_slice_of(rest->data, (size_t)(equals - rest->data));
    skip(rest, out->name.len + 1);
    out->quoted = rest->len > 0 && rest->data[0] == '"';
    bool taken = out->quoted ? take_quoted(rest, &out->value) : take_plain(rest, &out->value);
    return taken && redd__http_is_token(out->name) ? REDD__HTTP_PARAMETER
                                                   : REDD__HTTP_BAD_PARAMETER;
}
