/* SPDX-License-Identifier: MIT */
/* Responses, written straight into the connection's output. */
#include "ext/http/coding/response.h"
#include "ext/http/fields.h"
#include "ext/http/put.h"
#include "ext/http/response.h"

#include <uv.h>

/* Bodies up to this size are gathered with their head; larger ones are written from where they are.
 */
#define GATHER_MAX (16U << 10)
/* A streamed piece's size line and line ends. */
#define CHUNK_FRAME 20

typedef enum framing { FRAME_LENGTH, FRAME_CHUNKED, FRAME_CLOSE, FRAME_NONE } framing;

char *redd__http_put_status_line(char *p, unsigned status)
{
    if (status == 200)
        return REDD__PUT(p, "HTTP/1.1 200 OK\r\n");
    redd_slice reason = redd__http_reason(status);
    p = REDD__PUT(p, "HTTP/1.1 ");
    p = redd__put_number(p, status);
    *p++ = ' ';
    if (reason.len > 0)
        p = redd__put(p, reason.data, reason.len);
    return REDD__PUT(p, "\r\n");
}

static char *put_connection(char *p, const redd_http_request *req, bool upgrade)
{
    if (req->close_after)
        return upgrade ? REDD__PUT(p, "Connection: upgrade, close\r\n")
                       : REDD__PUT(p, "Connection: close\r\n");
    if (upgrade)
        return REDD__PUT(p, "Connection: upgrade\r\n");
    return req->minor == 0 ? REDD__PUT(p, "Connection: keep-alive\r\n") : p;
}

/* What a response's head is made of. */
typedef struct head {
    unsigned status;
    const redd_http_field *fields;
    size_t n;
    const redd__http_field_facts *facts;
    redd__http_plan plan;
    framing frame;
    uint64_t length; /* with FRAME_LENGTH */
} head;

/* At most. */
static size_t head_size(const head *h)
{
    return REDD__HTTP_HEAD_MAX + h->facts->size +
           (h->plan.negotiated ? REDD__HTTP_PLAN_SIZE(h->n) : 0);
}

static char *put_head(char *p, redd_http_request *req, const head *h)
{
    p = redd__http_put_status_line(p, h->status);
    if (!h->facts->date)
        p = redd__put(p, redd__http_date_line(req->state), REDD__HTTP_DATE_LINE);
    p = put_connection(p, req, h->facts->upgrade);
    if (redd__http_tells_id(req->conn) && !h->facts->id)
        p = redd__http_id_put_line(p, req);
    p = h->plan.negotiated ? redd__http_plan_write(p, &h->plan, h->fields, h->n)
                           : redd__http_fields_write(p, h->fields, h->n);
    if (h->frame == FRAME_LENGTH) {
        p = REDD__PUT(p, "Content-Length: ");
        p = redd__put_number(p, h->length);
        p = REDD__PUT(p, "\r\n");
    } else if (h->frame == FRAME_CHUNKED) {
        p = REDD__PUT(p, "Transfer-Encoding: chunked\r\n");
    }
    return REDD__PUT(p, "\r\n");
}

static int may_answer(const redd_http_request *req, unsigned status)
{
    if (status < 200 || status > 599)
        return UV_EINVAL;
    if (!req->conn)
        return REDD_ECLOSED;
    return req->answer == REDD__HTTP_UNANSWERED ? 0 : REDD_ESTATE;
}

/* A body that was not asked for is read and dropped when that is cheap, else the connection ends
 * with this response: what follows on it could not be told from the body (RFC 9112 9.3). */
static bool body_stands_in_the_way(const redd_http_request *req)
{
    if (req->body_ended || req->read_fn)
        return false;
    return !redd__http_body_is_small(req);
}

static void decide(redd_http_request *req, unsigned status, const redd__http_field_facts *facts)
{
    req->status = (uint16_t)status;
    req->close_after = facts->close || !req->keep_alive || req->conn->closing;
    req->bodyless_out = req->is_head || status == 204 || status == 205 || status == 304;
}

/* Content-Length stands for the body that a GET would have had (RFC 9110 8.6), but never on a 204.
 */
static framing framing_of_whole(unsigned status, size_t body_len)
{
    return status == 204 || (status == 304 && body_len == 0) ? FRAME_NONE : FRAME_LENGTH;
}

/* A 205 has no body either, but its head alone does not tell: the length must (RFC 9110 15.3.6). */
static uint64_t length_to_tell(unsigned status, uint64_t length)
{
    return status == 205 ? 0 : length;
}

static void answered(redd_http_request *req)
{
    req->answer = REDD__HTTP_ANSWERED;
    redd__http_connection_wake(req->conn);
}

/* Why there was no room: memory, or a stream that has failed, which ends the connection. */
int redd__http_output_failed(redd_http_request *req)
{
    if (!redd_output_error(&req->conn->output))
        return UV_ENOMEM;
    redd__http_connection_lose(req->conn, redd_output_error(&req->conn->output));
    return REDD_ECLOSED;
}

/* What has been judged already, a whole response for one, is taken behind whatever still waits. */
static int write_judged(redd_output *o, redd_slice body)
{
    size_t max = o->max;
    redd_output_set_max(o, SIZE_MAX);
    int rc = redd_output_write(o, body);
    redd_output_set_max(o, max);
    return rc;
}

/* Head and body of a response that is ready to be sent. */
static int write_whole(redd_http_request *req, head *h, redd_slice body)
{
    redd_output *o = &req->conn->output;
    bool send_body = !req->bodyless_out && body.len > 0;
    bool gather = send_body && body.len <= GATHER_MAX;
    char *start = redd_output_reserve(o, head_size(h) + (gather ? body.len : 0));
    if (!start)
        return redd__http_output_failed(req);
    h->frame = framing_of_whole(h->status, body.len);
    h->length = length_to_tell(h->status, body.len);
    char *p = put_head(start, req, h);
    if (gather)
        p = redd__put(p, body.data, body.len);
    redd_output_commit(o, (size_t)(p - start));
    if (send_body && !gather && write_judged(o, body)) {
        redd__http_connection_break(req->conn); /* a head without its body */
        return redd__http_output_failed(req);
    }
    req->sent = send_body ? body.len : 0;
    answered(req);
    return 0;
}

static int respond_compressed(redd_http_request *req, head *h, redd_slice body)
{
    h->plan = redd__http_plan_response(req, h->status, h->fields, h->n, (int64_t)body.len);
    redd__http_coded coded = redd__http_code_whole(req, &h->plan, body);
    int rc = write_whole(req, h, coded.data.len ? coded.data : body);
    redd__http_coded_release(req, &coded);
    return rc;
}

static int respond(redd_http_request *req, unsigned status, const redd_http_field *fields, size_t n,
                   const redd__http_field_facts *facts, redd_slice body)
{
    int rc = may_answer(req, status);
    if (rc)
        return rc;
    decide(req, status, facts);
    req->close_after |= body_stands_in_the_way(req); /* a streamed one may still be reading */
    redd_output_cork(&req->conn->output);
    head h = {.status = status, .fields = fields, .n = n, .facts = facts};
    if (redd__http_may_compress(req))
        return respond_compressed(req, &h, body);
    return write_whole(req, &h, body);
}

int redd_http_respond(redd_http_request *req, unsigned status, const redd_http_field *fields,
                      size_t n, redd_slice body)
{
    redd__http_field_facts facts;
    int rc = redd__http_fields_check(fields, n, &facts);
    return rc ? rc : respond(req, status, fields, n, &facts, body);
}

int redd_http_respond_typed(redd_http_request *req, unsigned status, const char *type,
                            redd_slice body)
{
    redd_http_field field = {REDD_SLICE("Content-Type"), redd_slice_str(type)};
    redd__http_field_facts facts = {.size = field.name.len + field.value.len + 4};
    if (!redd__http_is_value(field.value))
        return UV_EINVAL;
    return respond(req, status, &field, 1, &facts, body);
}

int redd_http_respond_text(redd_http_request *req, unsigned status, const char *text)
{
    return redd_http_respond_typed(req, status, "text/plain; charset=utf-8", redd_slice_str(text));
}

/* --- streamed --- */

static framing framing_of_stream(redd_http_request *req, unsigned status, int64_t length)
{
    if (status == 204 || (status == 304 && length < 0))
        return FRAME_NONE;
    if (length >= 0 || status == 205)
        return FRAME_LENGTH;
    if (req->minor == 0) {
        req->close_after = true; /* HTTP/1.0 knows no chunks: the end of the body is the end */
        return FRAME_CLOSE;
    }
    req->chunked_out = !req->bodyless_out;
    return FRAME_CHUNKED;
}

int redd_http_start(redd_http_request *req, unsigned status, const redd_http_field *fields,
                    size_t n, int64_t length)
{
    redd__http_field_facts facts;
    int rc = may_answer(req, status);
    if (rc || (rc = redd__http_fields_check(fields, n, &facts)))
        return rc;
    redd_output *o = &req->conn->output;
    redd_output_cork(o);
    decide(req, status, &facts);
    head h = {.status = status, .fields = fields, .n = n, .facts = &facts};
    if (redd__http_may_compress(req))
        h.plan = redd__http_code_begin(req, status, fields, n, length);
    char *start = redd_output_reserve(o, head_size(&h));
    if (!start) {
        redd__http_code_release(req);
        return redd__http_output_failed(req);
    }
    int64_t sent_length = h.plan.coding != REDD__HTTP_IDENTITY ? -1 : length;
    h.frame = framing_of_stream(req, status, sent_length);
    h.length = length_to_tell(status, (uint64_t)length);
    char *p = put_head(start, req, &h);
    redd_output_commit(o, (size_t)(p - start));
    req->declared = length < 0 ? -1 : length;
    req->answer = REDD__HTTP_STREAMING;
    redd__http_connection_wake(req->conn);
    return 0;
}

char *redd__http_put_chunk_size(char *p, uint64_t n)
{
    p = redd__put_hex(p, n);
    return REDD__PUT(p, "\r\n");
}

static int write_small_chunk(redd_output *o, redd_slice piece)
{
    char *start = redd_output_reserve(o, piece.len + CHUNK_FRAME);
    if (!start)
        return UV_ENOMEM;
    char *p = redd__http_put_chunk_size(start, piece.len);
    p = redd__put(p, piece.data, piece.len);
    p = REDD__PUT(p, "\r\n");
    redd_output_commit(o, (size_t)(p - start));
    return 0;
}

static int write_large_chunk(redd__http_connection *c, redd_slice piece)
{
    static const redd_slice end = REDD_SLICE("\r\n");
    redd_output *o = &c->output;
    char *start = redd_output_reserve(o, CHUNK_FRAME);
    if (!start)
        return UV_ENOMEM;
    redd_output_commit(o, (size_t)(redd__http_put_chunk_size(start, piece.len) - start));
    int rc = write_judged(o, piece);
    if (rc == 0)
        rc = write_judged(o, end);
    if (rc)
        redd__http_connection_break(c);
    return 0;
}

static int write_framed(redd_http_request *req, redd_slice piece)
{
    if (!req->chunked_out)
        return redd_output_write(&req->conn->output, piece);
    if (piece.len <= GATHER_MAX)
        return write_small_chunk(&req->conn->output, piece);
    return write_large_chunk(req->conn, piece);
}

static int write_bytes(redd_http_request *req, redd_slice piece)
{
    int rc = write_framed(req, piece);
    if (rc == 0)
        req->sent += piece.len;
    return rc;
}

/* What was coded cannot be taken back: `max` has judged the piece before. */
int redd__http_write_coded(redd_http_request *req, redd_slice piece, redd__http_flush flush)
{
    redd_output *o = &req->conn->output;
    size_t max = o->max;
    redd_output_set_max(o, SIZE_MAX);
    int rc = redd__http_code_piece(req, piece, flush, write_bytes);
    redd_output_set_max(o, max);
    if (rc)
        redd__http_connection_break(req->conn);
    return rc;
}

static int write_piece(redd_http_request *req, redd_slice piece)
{
    return req->encoder ? redd__http_write_coded(req, piece, REDD__HTTP_FLUSH_PIECE)
                        : write_bytes(req, piece);
}

/* A piece that was refused must fit at the drain event, or the two would go round for ever. */
void redd__http_owe_drain(redd_http_request *req, size_t refused)
{
    uint64_t max = req->conn->server->options.max_queued;
    uint64_t room = refused < max ? max - refused : 0;
    req->full = true;
    req->low_mark = room < max / 4 ? room : max / 4;
}

/* A piece is taken whatever its size while nothing waits: what is only gathered leaves first. */
static bool has_room(redd__http_connection *c, size_t n)
{
    redd_output *o = &c->output;
    uint64_t max = c->server->options.max_queued;
    size_t queued = redd_output_queued(o);
    if (queued == 0 || queued + n <= max)
        return true;
    /* An error is told by the write. */
    return !redd_output_blocked(o) && redd_output_flush(o) != UV_EAGAIN;
}

int redd_http_write(redd_http_request *req, redd_slice piece)
{
    if (!req->conn)
        return REDD_ECLOSED;
    if (req->answer != REDD__HTTP_STREAMING || req->file_left > 0)
        return REDD_ESTATE;
    if (req->declared >= 0 && piece.len > (uint64_t)req->declared)
        return UV_EINVAL;
    redd__http_connection *c = req->conn;
    uint64_t max = c->server->options.max_queued;
    if (!has_room(c, piece.len + CHUNK_FRAME)) {
        redd__http_owe_drain(req, piece.len + CHUNK_FRAME);
        return REDD_ELIMIT;
    }
    if (piece.len > 0 && !req->bodyless_out) {
        int rc = write_piece(req, piece);
        if (redd_output_error(&c->output))
            return redd__http_output_failed(req);
        if (rc)
            return rc;
    }
    if (req->declared >= 0)
        req->declared -= (int64_t)piece.len;
    redd__http_connection_wake(c);
    if (redd_output_queued(&c->output) <= max / 2)
        return 0;
    redd__http_owe_drain(req, 0);
    return REDD_HTTP_FULL;
}

/* The last chunk with the trailers behind it (RFC 9112 7.1). */
static int write_last_chunk(redd_output *o, const redd_http_field *trailers, size_t n, size_t size)
{
    size_t max = o->max;
    redd_output_set_max(o, SIZE_MAX); /* an end always has room behind what was taken */
    char *start = redd_output_reserve(o, sizeof "0\r\n\r\n" + size);
    redd_output_set_max(o, max);
    if (!start)
        return UV_ENOMEM;
    char *p = REDD__PUT(start, "0\r\n");
    p = redd__http_fields_write(p, trailers, n);
    p = REDD__PUT(p, "\r\n");
    redd_output_commit(o, (size_t)(p - start));
    return 0;
}

int redd_http_finish_with(redd_http_request *req, const redd_http_field *trailers, size_t n)
{
    size_t size;
    int rc = redd__http_trailers_check(trailers, n, &size);
    if (rc)
        return rc;
    if (!req->conn)
        return REDD_ECLOSED;
    if (req->answer != REDD__HTTP_STREAMING || req->file_left > 0)
        return REDD_ESTATE;
    redd__http_connection *c = req->conn;
    if (req->declared > 0 && !req->bodyless_out) {
        redd__http_connection_break(c);
        return UV_EINVAL;
    }
    bool whole = !req->encoder ||
                 redd__http_write_coded(req, redd_slice_of("", 0), REDD__HTTP_FLUSH_END) == 0;
    if (whole && req->chunked_out && write_last_chunk(&c->output, trailers, n, size))
        redd__http_connection_break(c);
    answered(req);
    return 0;
}

int redd_http_finish(redd_http_request *req)
{
    return redd_http_finish_with(req, NULL, 0);
}

int redd_http_abort(redd_http_request *req)
{
    if (!req->conn)
        return REDD_ECLOSED;
    redd__http_connection_lose(req->conn, UV_ECANCELED);
    return 0;
}

/* --- the server's own --- */

void redd__http_refuse(redd__http_connection *c, unsigned status)
{
    redd_output *o = &c->output;
    redd__http_meters_refused(c->server->state->meters, status, c->request != NULL);
    if (c->request)
        c->request->status = (uint16_t)status;
    char *start = redd_output_reserve(o, REDD__HTTP_HEAD_MAX);
    if (!start)
        return; /* the connection closes all the same */
    char *p = redd__http_put_status_line(start, status);
    p = redd__put(p, redd__http_date_line(c->server->state), REDD__HTTP_DATE_LINE);
    if (c->request && redd__http_tells_id(c))
        p = redd__http_id_put_line(p, c->request);
    p = REDD__PUT(p, "Connection: close\r\nContent-Length: 0\r\n\r\n");
    redd_output_commit(o, (size_t)(p - start));
}
