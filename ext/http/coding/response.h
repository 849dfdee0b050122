/* SPDX-License-Identifier: MIT */
/** The coding of response bodies: whole ones at once, streamed ones piece by piece. */
#ifndef REDD_HTTP_CODING_RESPONSE_H
#define REDD_HTTP_CODING_RESPONSE_H

#include "ext/http/coding/plan.h"
#include "ext/http/connection.h"

/** The one question that a response costs which is not to be compressed. */
static inline bool redd__http_may_compress(const redd_http_request *req)
{
    if (req->compress == REDD_HTTP_COMPRESS_DEFAULT)
        return req->conn->server->options.compress != 0;
    return req->compress == REDD_HTTP_COMPRESS_ON;
}

/** After redd__http_may_compress. `length` of the body; -1: not known. */
redd__http_plan redd__http_plan_response(const redd_http_request *req, unsigned status,
                                         const redd_http_field *fields, size_t n, int64_t length);

/** A whole body after its coding, and the memory that it lies in. */
typedef struct redd__http_coded {
    redd_slice data;
    char *memory;
    size_t size;
} redd__http_coded;
/** No data: the plan is identity, or has become it, since the body would not be smaller or there is
 *  no memory. */
redd__http_coded redd__http_code_whole(redd_http_request *req, redd__http_plan *plan,
                                       redd_slice body);
void redd__http_coded_release(redd_http_request *req, redd__http_coded *coded);

/** The plan of a streamed response; unless it is identity, or there is no body to send, the request
 *  has an encoder from now on. */
redd__http_plan redd__http_code_begin(redd_http_request *req, unsigned status,
                                      const redd_http_field *fields, size_t n, int64_t length);
/** Sends coded bytes: 0 or an error. */
typedef int (*redd__http_emit_fn)(redd_http_request *req, redd_slice coded);
/** Codes a piece of the body; its end gives the encoder back. UV_ENOMEM or what `emit` says: the
 *  response cannot go on. */
int redd__http_code_piece(redd_http_request *req, redd_slice piece, redd__http_flush flush,
                          redd__http_emit_fn emit);
/** Gives the encoder back, wherever the response is. */
void redd__http_code_release(redd_http_request *req);

/** At the end of the request: nothing is coded or decoded for it any more. */
void redd__http_coding_end(redd_http_request *req);

#endif
