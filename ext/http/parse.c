/* SPDX-License-Identifier: MIT */
/* llhttp's callbacks: spans become offsets into the head, limits are counted as bytes come. llhttp
 * is stopped at the end of each head and message, so that one request is in work at a time. */
#include "ext/http/connection.h"

#define STOP (-1) /* ends the parse; `refusal` tells why */

static redd__http_connection *connection_of(const llhttp_t *parser)
{
    return parser->data;
}

static int refuse(redd__http_connection *c, unsigned status)
{
    c->refusal = (uint16_t)status;
    return STOP;
}

static uint32_t offset_in_head(const redd__http_connection *c, const char *at)
{
    return (uint32_t)(at - (c->in + c->head_off));
}

static int on_url(llhttp_t *parser, const char *at, size_t len)
{
    redd__http_connection *c = connection_of(parser);
    redd_http_request *req = c->request;
    if (req->target_len == 0)
        req->target_off = offset_in_head(c, at);
    req->target_len += (uint32_t)len;
    return req->target_len > c->server->options.max_target ? refuse(c, 414) : 0;
}

/* A span that does not continue the one before it begins the next field. */
static int on_field_name(llhttp_t *parser, const char *at, size_t len)
{
    redd__http_connection *c = connection_of(parser);
    redd_http_request *req = c->request;
    if (c->head_done)
        return 0; /* a trailer; its size counts as overhead of the body */
    uint32_t off = offset_in_head(c, at);
    if (req->n_fields > 0 && !c->in_value) {
        redd__http_span *f = &req->fields[req->n_fields - 1];
        if (f->name_off + f->name_len == off) {
            f->name_len += (uint32_t)len;
            return 0;
        }
    }
    if (req->n_fields == c->server->options.max_fields)
        return refuse(c, 431);
    req->fields[req->n_fields++] =
        (redd__http_span){.name_off = off, .name_len = (uint32_t)len, .value_off = 0};
    c->in_value = false;
    return 0;
}

static int on_field_value(llhttp_t *parser, const char *at, size_t len)
{
    redd__http_connection *c = connection_of(parser);
    redd_http_request *req = c->request;
    if (c->head_done)
        return 0;
    redd__http_span *f = &req->fields[req->n_fields - 1];
    uint32_t off = offset_in_head(c, at);
    c->in_value = true;
    if (f->value_len == 0)
        f->value_off = off;
    else if (f->value_off + f->value_len != off)
        return refuse(c, 400); /* obs-fold */
    f->value_len += (uint32_t)len;
    return 0;
}

static int on_headers_complete(llhttp_t *parser)
{
    redd__http_connection *c = connection_of(parser);
    c->head_done = true;
    /* Whether the connection changes its protocol is the handler's decision; until then this is a
     * message like any other. */
    parser->upgrade = 0;
    bool body = (parser->flags & F_CHUNKED) || parser->content_length > 0;
    return body ? HPE_PAUSED : 0; /* without a body the end of the message comes at once */
}

static int on_body(llhttp_t *parser, const char *at, size_t len)
{
    redd__http_connection *c = connection_of(parser);
    redd_http_request *req = c->request;
    req->body_received += len;
    if (req->body_received > req->body_max)
        return refuse(c, 413);
    if (req->read_mode == REDD__HTTP_READ_DISCARD)
        return 0;
    if (req->read_mode == REDD__HTTP_READ_ALL) {
        int rc = redd_buffer_append(&req->body, at, len);
        return rc ? refuse(c, rc == REDD_ELIMIT ? 413 : 503) : 0;
    }
    c->piece = redd_slice_of(at, len);
    return HPE_PAUSED;
}

/* Whether another message may follow was decided by the head; llhttp would let trailers change it.
 */
static int on_message_complete(llhttp_t *parser)
{
    parser->flags &= (uint16_t)~F_CONNECTION_CLOSE;
    parser->flags |= F_CONNECTION_KEEP_ALIVE;
    connection_of(parser)->message_done = true;
    return HPE_PAUSED;
}

/* The digits of its size and two line ends are what a chunk needs. */
static int on_chunk_header(llhttp_t *parser)
{
    uint64_t framing = 5;
    for (uint64_t size = parser->content_length >> 4; size > 0; size >>= 4)
        framing++;
    connection_of(parser)->request->body_framing += framing;
    return 0;
}

void redd__http_parse_settings(llhttp_settings_t *s)
{
    llhttp_settings_init(s);
    s->on_url = on_url;
    s->on_header_field = on_field_name;
    s->on_header_value = on_field_value;
    s->on_headers_complete = on_headers_complete;
    s->on_chunk_header = on_chunk_header;
    s->on_body = on_body;
    s->on_message_complete = on_message_complete;
}

static bool is_token_char(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
           (ch != '\0' && strchr("!#$%&'*+-.^_`|~", ch) != NULL);
}

/* 501 for a method that could be one (RFC 9110 9.1), 400 for what is none. */
static unsigned status_of_bad_method(const char *line, size_t len)
{
    size_t n = 0;
    while (n < len && is_token_char(line[n]))
        n++;
    return n > 0 && (n == len || line[n] == ' ') ? 501 : 400;
}

/* 505 for a version of HTTP that is not ours (RFC 9110 15.6.6), 400 for what is no version. */
static unsigned status_of_bad_version(const redd_http_request *req, const char *line, size_t len)
{
    size_t at = req->target_off + req->target_len;
    static const char prefix[] = " HTTP/";
    if (len < at + sizeof prefix + 2 || memcmp(line + at, prefix, sizeof prefix - 1) != 0)
        return 400;
    const char *v = line + at + sizeof prefix - 1;
    bool digits = v[0] >= '0' && v[0] <= '9' && v[1] == '.' && v[2] >= '0' && v[2] <= '9';
    bool ours = (v[0] == '1' && (v[2] == '0' || v[2] == '1')) || v[0] == '0';
    return digits && !ours ? 505 : 400;
}

static unsigned status_of_error(const redd__http_connection *c, llhttp_errno_t err, size_t stop)
{
    if (c->head_done)
        return 400;
    const char *line = c->in + c->head_off;
    /* The byte that llhttp did not like is part of the judgement. */
    size_t len = stop + 1 - c->head_off;
    if (err == HPE_INVALID_METHOD)
        return status_of_bad_method(line, len);
    if (err == HPE_INVALID_VERSION)
        return status_of_bad_version(c->request, line, len);
    if (err == HPE_PAUSED_H2_UPGRADE)
        return 505;
    return 400;
}

/* Chunk extensions and trailers have no end of their own: everything of a body that is neither data
 * nor the framing of a chunk counts. */
static bool overhead_within_limit(redd_http_request *req, size_t consumed, uint64_t data)
{
    if (!req->chunked)
        return true;
    req->body_overhead += consumed - data;
    return req->body_overhead <= REDD__HTTP_MAX_OVERHEAD + req->body_framing;
}

static redd__http_parsed outcome(redd__http_connection *c)
{
    if (c->piece.len > 0)
        return REDD__HTTP_GOT_PIECE;
    if (c->phase == REDD__HTTP_HEAD && c->head_done)
        return REDD__HTTP_GOT_HEAD;
    if (c->message_done)
        return REDD__HTTP_GOT_END;
    return REDD__HTTP_NEED_INPUT;
}

/* llhttp also takes a bare LF for the empty line behind the last chunk or the trailers. */
static bool body_end_is_bare(const redd__http_connection *c, const char *from, size_t consumed)
{
    if (!c->request->chunked || !c->message_done)
        return false;
    return (consumed > 1 ? from[consumed - 2] : c->last_byte) != '\r';
}

redd__http_parsed redd__http_parse(redd__http_connection *c)
{
    const char *from = c->in + c->in_pos;
    size_t len = c->in_len - c->in_pos;
    uint64_t data_before = c->request->body_received;
    c->piece = redd_slice_of(NULL, 0);
    llhttp_errno_t err = llhttp_execute(&c->parser, from, len);
    size_t consumed = len;
    if (err != HPE_OK) {
        const char *stop = llhttp_get_error_pos(&c->parser);
        consumed = stop ? (size_t)(stop - from) : len;
    }
    if (err != HPE_OK && err != HPE_PAUSED) {
        if (c->refusal == 0)
            c->refusal = (uint16_t)status_of_error(c, err, c->in_pos + consumed);
        return REDD__HTTP_GOT_ERROR;
    }
    if (err == HPE_PAUSED)
        llhttp_resume(&c->parser);
    c->in_pos += consumed;
    if (body_end_is_bare(c, from, consumed)) {
        c->refusal = 400;
        return REDD__HTTP_GOT_ERROR;
    }
    if (consumed > 0)
        c->last_byte = from[consumed - 1];
    if (c->phase == REDD__HTTP_REQUEST &&
        !overhead_within_limit(c->request, consumed, c->request->body_received - data_before)) {
        c->refusal = 413;
        return REDD__HTTP_GOT_ERROR;
    }
    return outcome(c);
}
