/* SPDX-License-Identifier: MIT */
#include "ext/http/coding/types.h"

static redd_slice without_parameters(redd_slice type)
{
    const char *end = type.len ? memchr(type.data, ';', type.len) : NULL;
    if (end)
        type.len = (size_t)(end - type.data);
    return redd_slice_trim(type);
}

static bool begins_with(redd_slice s, redd_slice start)
{
    return s.len > start.len && redd_slice_equal_nocase(redd_slice_of(s.data, start.len), start);
}

static bool ends_with(redd_slice s, redd_slice end)
{
    return s.len > end.len &&
           redd_slice_equal_nocase(redd_slice_of(s.data + s.len - end.len, end.len), end);
}

bool redd__http_type_compresses(redd_slice content_type)
{
    static const redd_slice text = REDD_SLICE("text/"), events = REDD_SLICE("text/event-stream");
    static const redd_slice suffixes[] = {REDD_SLICE("+json"), REDD_SLICE("+xml"),
                                          REDD_SLICE("+yaml")}; /* RFC 6838 4.2.8 */
    static const redd_slice types[] = {
        REDD_SLICE("application/json"),
        REDD_SLICE("application/javascript"),
        REDD_SLICE("application/x-javascript"),
        REDD_SLICE("application/ecmascript"),
        REDD_SLICE("application/xml"),
        REDD_SLICE("application/xml-dtd"),
        REDD_SLICE("application/wasm"),
        REDD_SLICE("application/x-ndjson"),
        REDD_SLICE("application/jsonl"),
        REDD_SLICE("application/json-seq"),
        REDD_SLICE("application/yaml"),
        REDD_SLICE("application/toml"),
        REDD_SLICE("application/graphql"),
        REDD_SLICE("application/sql"),
        REDD_SLICE("application/rtf"),
        REDD_SLICE("application/x-www-form-urlencoded"),
        REDD_SLICE("application/openmetrics-text"),
        REDD_SLICE("application/vnd.ms-fontobject"),
        REDD_SLICE("font/ttf"),
        REDD_SLICE("font/otf"),
        REDD_SLICE("image/bmp"),
        REDD_SLICE("image/x-icon"),
        REDD_SLICE("image/vnd.microsoft.icon"),
    };
    redd_slice type = without_parameters(content_type);
    if (begins_with(type, text))
        return !redd_slice_equal_nocase(type, events);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (ends_with(type, suffixes[i]))
            return true;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (redd_slice_equal_nocase(type, types[i]))
            return true;
    return false;
}
