/* SPDX-License-Identifier: MIT */
/** What becomes of a response under compression: its coding, and the fields that tell of it. */
#ifndef REDD_HTTP_CODING_PLAN_H
#define REDD_HTTP_CODING_PLAN_H

#include "ext/http/coding/codec.h"

#include <redd/http.h>

typedef struct redd__http_plan {
    redd__http_coding coding; /* identity: the body goes as it is */
    bool negotiated;          /* by Accept-Encoding, which Vary tells */
    bool weak;                /* the ETag becomes a weak one */
} redd__http_plan;

/** What the plan depends on beside the request. */
typedef struct redd__http_plan_input {
    redd_http_compression mode;
    uint64_t min; /* http.compress_min */
    unsigned status;
    int64_t length; /* of the body; -1: not known */
    const redd_http_field *fields;
    size_t n;
} redd__http_plan_input;

redd__http_plan redd__http_plan_of(const redd_http_request *req, const redd__http_plan_input *in);
/** The body was not worth coding after all. */
void redd__http_plan_identity(redd__http_plan *plan);

/** Bytes by which a plan makes `n` lines longer, at most. */
#define REDD__HTTP_PLAN_SIZE(n) (64 + 2 * (n))
/** As redd__http_fields_write, with Content-Encoding, Vary and the ETag as planned. */
char *redd__http_plan_write(char *p, const redd__http_plan *plan, const redd_http_field *fields,
                            size_t n);

#endif
