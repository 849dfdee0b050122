/* SPDX-License-Identifier: MIT */
/** Plain values: what ops take and return and what futures end with. */
#ifndef REDD_VALUE_H
#define REDD_VALUE_H

#include <redd/bytes.h>
#include <redd/error.h>

REDD_BEGIN_DECLS

/** Resource id: 20 bits of index, 12 bits of generation; 0 is never valid. */
typedef uint32_t redd_rid;

typedef enum redd_kind {
    REDD_UNDEFINED = 0,
    REDD_NULL,
    REDD_BOOL,
    REDD_I32,
    REDD_U32,
    REDD_I64,
    REDD_F64,
    REDD_STRING,   /* counted bytes that are UTF-8 */
    REDD_BYTES,    /* counted bytes */
    REDD_RESOURCE, /* resource id */
    REDD_ERROR     /* negative error code in as.i32 */
} redd_kind;

/** 16 bytes. A value of kind STRING or BYTES owns one reference. */
typedef struct redd_value {
    uint32_t kind; /* redd_kind */
    uint32_t reserved;
    union {
        bool boolean;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        double f64;
        redd_bytes *bytes;
        redd_rid rid;
    } as;
} redd_value;

static inline redd_value redd_value_undefined(void)
{
    redd_value v = {REDD_UNDEFINED, 0, {0}};
    return v;
}
static inline redd_value redd_value_null(void)
{
    redd_value v = {REDD_NULL, 0, {0}};
    return v;
}
static inline redd_value redd_value_bool(bool b)
{
    redd_value v = {REDD_BOOL, 0, {0}};
    v.as.boolean = b;
    return v;
}
static inline redd_value redd_value_i32(int32_t n)
{
    redd_value v = {REDD_I32, 0, {0}};
    v.as.i32 = n;
    return v;
}
static inline redd_value redd_value_u32(uint32_t n)
{
    redd_value v = {REDD_U32, 0, {0}};
    v.as.u32 = n;
    return v;
}
static inline redd_value redd_value_i64(int64_t n)
{
    redd_value v = {REDD_I64, 0, {0}};
    v.as.i64 = n;
    return v;
}
static inline redd_value redd_value_f64(double n)
{
    redd_value v = {REDD_F64, 0, {0}};
    v.as.f64 = n;
    return v;
}
/** Takes the caller's reference. */
static inline redd_value redd_value_string(redd_bytes *utf8)
{
    redd_value v = {REDD_STRING, 0, {0}};
    v.as.bytes = utf8;
    return v;
}
/** Takes the caller's reference. */
static inline redd_value redd_value_bytes(redd_bytes *bytes)
{
    redd_value v = {REDD_BYTES, 0, {0}};
    v.as.bytes = bytes;
    return v;
}
static inline redd_value redd_value_resource(redd_rid rid)
{
    redd_value v = {REDD_RESOURCE, 0, {0}};
    v.as.rid = rid;
    return v;
}
static inline redd_value redd_value_error(int code)
{
    redd_value v = {REDD_ERROR, 0, {0}};
    v.as.i32 = code;
    return v;
}

/** A copy that owns a reference of its own. */
static inline redd_value redd_value_ref(redd_value v)
{
    if (v.kind == REDD_STRING || v.kind == REDD_BYTES)
        (void)redd_bytes_ref(v.as.bytes);
    return v;
}

/** Gives up what the value owns and makes it undefined. */
static inline void redd_value_drop(redd_value *v)
{
    if (v->kind == REDD_STRING || v->kind == REDD_BYTES)
        redd_bytes_unref(v->as.bytes);
    *v = redd_value_undefined();
}

/** "u32", "bytes", ...; static text, "?" for a number that is no kind. */
REDD_API const char *redd_kind_name(redd_kind kind);

REDD_END_DECLS

#endif
