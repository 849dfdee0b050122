/* SPDX-License-Identifier: MIT */
#include "ext/http/coding/response.h"

#include "ext/http/coding/decoding.h"

#include <uv.h>

/* Coded bytes that are sent at a time. */
#define STEP (16U << 10)
/* What Content-Encoding adds to the head: a body that saves less is not smaller. */
#define FIELD_SIZE 24

static const redd_http_options *options_of(const redd_http_request *req)
{
    return &req->conn->server->options;
}

void redd_http_compress(redd_http_request *req, redd_http_compression mode)
{
    req->compress = (uint8_t)mode;
}

redd__http_plan redd__http_plan_response(const redd_http_request *req, unsigned status,
                                         const redd_http_field *fields, size_t n, int64_t length)
{
    const redd__http_plan_input in = {.mode = (redd_http_compression)req->compress,
                                      .min = options_of(req)->compress_min,
                                      .status = status,
                                      .length = length,
                                      .fields = fields,
                                      .n = n};
    return redd__http_plan_of(req, &in);
}

static redd__http_encoder *get_encoder(redd_http_request *req, redd__http_plan *plan)
{
    redd__http_encoder *e =
        redd__http_encoder_get(&req->state->encoders, req->state->alloc, plan->coding,
                               (unsigned)options_of(req)->compress_level);
    if (!e)
        redd__http_plan_identity(plan);
    return e;
}

/* Memory for a body that is to become smaller than `size`: the worker's, or its own when that is
 * too small. */
static char *get_memory(redd__http_state *st, size_t size)
{
    if (size > REDD__HTTP_CODED_KEPT)
        return redd_alloc(st->alloc, size);
    if (!st->coded)
        st->coded = redd_alloc(st->alloc, REDD__HTTP_CODED_KEPT);
    return st->coded;
}

void redd__http_coded_release(redd_http_request *req, redd__http_coded *coded)
{
    if (coded->memory != req->state->coded)
        redd_free(req->state->alloc, coded->memory, coded->size);
}

static redd_slice encode_whole(redd__http_encoder *e, redd_slice body, char *memory, size_t size)
{
    redd__http_room room = {memory, size};
    int rc = redd__http_encode(e, &body, &room, REDD__HTTP_FLUSH_END);
    return redd_slice_of(memory, rc == REDD__HTTP_STEP_END ? size - room.len : 0);
}

redd__http_coded redd__http_code_whole(redd_http_request *req, redd__http_plan *plan,
                                       redd_slice body)
{
    redd__http_coded coded = {.size = body.len > FIELD_SIZE ? body.len - FIELD_SIZE : 0};
    if (plan->coding == REDD__HTTP_IDENTITY)
        return coded;
    redd__http_encoder *e = coded.size ? get_encoder(req, plan) : NULL;
    if (e)
        coded.memory = get_memory(req->state, coded.size);
    if (coded.memory)
        coded.data = encode_whole(e, body, coded.memory, coded.size);
    if (e)
        redd__http_encoder_put(&req->state->encoders, e);
    if (coded.data.len == 0)
        redd__http_plan_identity(plan);
    return coded;
}

redd__http_plan redd__http_code_begin(redd_http_request *req, unsigned status,
                                      const redd_http_field *fields, size_t n, int64_t length)
{
    redd__http_plan plan = redd__http_plan_response(req, status, fields, n, length);
    if (plan.coding != REDD__HTTP_IDENTITY && !req->bodyless_out)
        req->encoder = get_encoder(req, &plan);
    return plan;
}

int redd__http_code_piece(redd_http_request *req, redd_slice piece, redd__http_flush flush,
                          redd__http_emit_fn emit)
{
    char coded[STEP];
    int step;
    do {
        redd__http_room room = {coded, sizeof coded};
        step = redd__http_encode(req->encoder, &piece, &room, flush);
        int rc = step < 0 ? step : 0;
        if (rc == 0 && room.len < sizeof coded)
            rc = emit(req, redd_slice_of(coded, sizeof coded - room.len));
        if (rc)
            return rc;
    } while (step == REDD__HTTP_STEP_ROOM);
    if (flush == REDD__HTTP_FLUSH_END)
        redd__http_code_release(req);
    return 0;
}

void redd__http_code_release(redd_http_request *req)
{
    if (req->encoder)
        redd__http_encoder_put(&req->state->encoders, req->encoder);
    req->encoder = NULL;
}

void redd__http_coding_end(redd_http_request *req)
{
    redd__http_code_release(req);
    if (req->decoding)
        redd__http_decoding_free(req->decoding);
    req->decoding = NULL;
}
