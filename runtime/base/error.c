/* SPDX-License-Identifier: MIT */
#include <redd/error.h>

#include <uv.h>

/* libuv's own uv_err_name and uv_strerror allocate for codes that they do not know and never free
 * that, so its table is expanded here instead. */

const char *redd_error_name(int code)
{
    switch (code) {
#define UV_NAME(name, text) \
    case UV_##name:         \
        return #name;
        UV_ERRNO_MAP(UV_NAME)
#undef UV_NAME
#define REDD_NAME(name, number, text) \
    case number:                      \
        return "REDD_" #name;
        REDD_ERROR_MAP(REDD_NAME)
#undef REDD_NAME
    default:
        return "UNKNOWN";
    }
}

const char *redd_error_text(int code)
{
    switch (code) {
#define UV_TEXT(name, text) \
    case UV_##name:         \
        return text;
        UV_ERRNO_MAP(UV_TEXT)
#undef UV_TEXT
#define REDD_TEXT(name, number, text) \
    case number:                      \
        return text;
        REDD_ERROR_MAP(REDD_TEXT)
#undef REDD_TEXT
    default:
        return "unknown error";
    }
}
