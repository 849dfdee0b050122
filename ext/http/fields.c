/* SPDX-License-Identifier: MIT */
#include "ext/http/fields.h"

#include "ext/http/put.h"

#include <uv.h>

/* tchar of RFC 9110 5.6.2, one bit per byte. */
static const uint32_t token_chars[8] = {
    0, 0x03ff6cfa, 0xc7fffffe, 0x57ffffff, 0, 0, 0, 0,
};

bool redd__http_is_token_char(char c)
{
    unsigned char ch = (unsigned char)c;
    return token_chars[ch >> 5] >> (ch & 31) & 1;
}

bool redd__http_is_token(redd_slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!redd__http_is_token_char(s.data[i]))
            return false;
    return s.len > 0;
}

/* Without an early exit, so that the compiler can take many bytes at a time. */
bool redd__http_is_value(redd_slice s)
{
    unsigned bad = 0;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char ch = (unsigned char)s.data[i];
        bad |= (unsigned)(ch < 0x20 && ch != '\t') | (unsigned)(ch == 0x7f);
    }
    return bad == 0;
}

static bool named(redd_slice name, const char *other)
{
    return redd_slice_equal_nocase(name, redd_slice_str(other));
}

/* Framing and the connection's fate are the server's; by length first, since most names are none.
 */
static int classify(redd_http_field f, redd__http_field_facts *facts)
{
    switch (f.name.len) {
    case 4:
        facts->date |= named(f.name, "date");
        return 0;
    case 7:
        facts->upgrade |= named(f.name, "upgrade");
        return 0;
    case 10:
        if (named(f.name, "keep-alive"))
            return UV_EINVAL;
        if (!named(f.name, "connection"))
            return 0;
        facts->close = named(f.value, "close");
        return facts->close ? 0 : UV_EINVAL;
    case 12:
        facts->id |= named(f.name, "x-request-id");
        return 0;
    case 14:
        return named(f.name, "content-length") ? UV_EINVAL : 0;
    case 17:
        return named(f.name, "transfer-encoding") ? UV_EINVAL : 0;
    default:
        return 0;
    }
}

int redd__http_fields_check(const redd_http_field *fields, size_t n, redd__http_field_facts *facts)
{
    *facts = (redd__http_field_facts){.size = 0};
    for (size_t i = 0; i < n; i++) {
        if (!redd__http_is_token(fields[i].name) || !redd__http_is_value(fields[i].value) ||
            classify(fields[i], facts))
            return UV_EINVAL;
        facts->size += fields[i].name.len + fields[i].value.len + 4;
    }
    return 0;
}

static bool may_be_trailer(redd_slice name)
{
    static const char *const banned[] = {"age",
                                         "authorization",
                                         "cache-control",
                                         "connection",
                                         "content-encoding",
                                         "content-length",
                                         "content-range",
                                         "content-type",
                                         "cookie",
                                         "date",
                                         "expires",
                                         "host",
                                         "keep-alive",
                                         "location",
                                         "max-forwards",
                                         "proxy-authenticate",
                                         "proxy-authorization",
                                         "range",
                                         "retry-after",
                                         "set-cookie",
                                         "te",
                                         "trailer",
                                         "transfer-encoding",
                                         "upgrade",
                                         "vary",
                                         "www-authenticate"};
    for (size_t i = 0; i < sizeof banned / sizeof *banned; i++)
        if (named(name, banned[i]))
            return false;
    return true;
}

int redd__http_trailers_check(const redd_http_field *fields, size_t n, size_t *size)
{
    redd__http_field_facts facts;
    int rc = redd__http_fields_check(fields, n, &facts);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = may_be_trailer(fields[i].name) ? 0 : UV_EINVAL;
    *size = facts.size;
    return rc;
}

char *redd__http_fields_write(char *p, const redd_http_field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (fields[i].name.len == 10 && named(fields[i].name, "connection"))
            continue;
        p = redd__put_slice(p, fields[i].name);
        *p++ = ':';
        *p++ = ' ';
        p = redd__put_slice(p, fields[i].value);
        *p++ = '\r';
        *p++ = '\n';
    }
    return p;
}

redd_slice redd__http_reason(unsigned status)
{
    static const struct reason {
        unsigned status;
        redd_slice text;
    } reasons[] = {
        {101, REDD_SLICE("Switching Protocols")},
        {102, REDD_SLICE("Processing")},
        {103, REDD_SLICE("Early Hints")},
        {200, REDD_SLICE("OK")},
        {201, REDD_SLICE("Created")},
        {202, REDD_SLICE("Accepted")},
        {203, REDD_SLICE("Non-Authoritative Information")},
        {204, REDD_SLICE("No Content")},
        {205, REDD_SLICE("Reset Content")},
        {206, REDD_SLICE("Partial Content")},
        {300, REDD_SLICE("Multiple Choices")},
        {301, REDD_SLICE("Moved Permanently")},
        {302, REDD_SLICE("Found")},
        {303, REDD_SLICE("See Other")},
        {304, REDD_SLICE("Not Modified")},
        {307, REDD_SLICE("Temporary Redirect")},
        {308, REDD_SLICE("Permanent Redirect")},
        {400, REDD_SLICE("Bad Request")},
        {401, REDD_SLICE("Unauthorized")},
        {403, REDD_SLICE("Forbidden")},
        {404, REDD_SLICE("Not Found")},
        {405, REDD_SLICE("Method Not Allowed")},
        {406, REDD_SLICE("Not Acceptable")},
        {408, REDD_SLICE("Request Timeout")},
        {409, REDD_SLICE("Conflict")},
        {410, REDD_SLICE("Gone")},
        {411, REDD_SLICE("Length Required")},
        {412, REDD_SLICE("Precondition Failed")},
        {413, REDD_SLICE("Content Too Large")},
        {414, REDD_SLICE("URI Too Long")},
        {415, REDD_SLICE("Unsupported Media Type")},
        {416, REDD_SLICE("Range Not Satisfiable")},
        {417, REDD_SLICE("Expectation Failed")},
        {421, REDD_SLICE("Misdirected Request")},
        {422, REDD_SLICE("Unprocessable Content")},
        {425, REDD_SLICE("Too Early")},
        {426, REDD_SLICE("Upgrade Required")},
        {428, REDD_SLICE("Precondition Required")},
        {429, REDD_SLICE("Too Many Requests")},
        {431, REDD_SLICE("Request Header Fields Too Large")},
        {500, REDD_SLICE("Internal Server Error")},
        {501, REDD_SLICE("Not Implemented")},
        {502, REDD_SLICE("Bad Gateway")},
        {503, REDD_SLICE("Service Unavailable")},
        {504, REDD_SLICE("Gateway Timeout")},
        {505, REDD_SLICE("HTTP Version Not Supported")},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].text;
    return redd_slice_of(NULL, 0);
}
