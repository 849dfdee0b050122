/* SPDX-License-Identifier: MIT */
#include <redd/value.h>

_Static_assert(sizeof(redd_value) == 16, "values are passed and stored by the million");

const char *redd_kind_name(redd_kind kind)
{
    static const char *const names[] = {
        [REDD_UNDEFINED] = "undefined",
        [REDD_NULL] = "null",
        [REDD_BOOL] = "bool",
        [REDD_I32] = "i32",
        [REDD_U32] = "u32",
        [REDD_I64] = "i64",
        [REDD_F64] = "f64",
        [REDD_STRING] = "string",
        [REDD_BYTES] = "bytes",
        [REDD_RESOURCE] = "resource",
        [REDD_ERROR] = "error",
    };
    return (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "?";
}
