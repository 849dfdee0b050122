/* SPDX-License-Identifier: MIT */
#include <redd/slice.h>

static unsigned char lower(char c)
{
    unsigned char u = (unsigned char)c;
    return u >= 'A' && u <= 'Z' ? (unsigned char)(u | 0x20) : u;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

bool redd_slice_equal_nocase(redd_slice a, redd_slice b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (lower(a.data[i]) != lower(b.data[i]))
            return false;
    return true;
}

redd_slice redd_slice_trim(redd_slice s)
{
    while (s.len > 0 && is_blank(s.data[0])) {
        s.data++;
        s.len--;
    }
    while (s.len > 0 && is_blank(s.data[s.len - 1]))
        s.len--;
    return s;
}

/** Bytes before the first comma outside quotes; an unclosed quote reaches to the end. */
static size_t element_length(redd_slice s)
{
    bool quoted = false;
    for (size_t i = 0; i < s.len; i++) {
        if (quoted && s.data[i] == '\\')
            i++; /* the next byte is escaped, whatever it is */
        else if (s.data[i] == '"')
            quoted = !quoted;
        else if (!quoted && s.data[i] == ',')
            return i;
    }
    return s.len;
}

bool redd_slice_next_element(redd_slice *rest, redd_slice *element)
{
    while (rest->len > 0) {
        size_t n = element_length(*rest);
        redd_slice found = redd_slice_trim(redd_slice_of(rest->data, n));
        size_t skip = n < rest->len ? n + 1 : n;
        *rest = redd_slice_of(rest->data + skip, rest->len - skip);
        if (found.len > 0) {
            *element = found;
            return true;
        }
    }
    return false;
}

bool redd_slice_has_token(redd_slice list, redd_slice token)
{
    redd_slice element;
    while (redd_slice_next_element(&list, &element))
        if (redd_slice_equal_nocase(element, token))
            return true;
    return false;
}
