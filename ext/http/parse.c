/* SPDX-License-Identifier: MIT */
/* llhttp reads lines: heads, and the trailer lines of chunked bodies. Its spans become offsets,
 * limits are counted as bytes come. Which fields there are is all that it is asked; what they mean
 * for the message and the connection is judged by head.c, the same with every version of llhttp. */
#include "ext/http/connection.h"
#include "ext/http/fields.h"

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

static uint32_t offset_of(const redd__http_connection *c, const char *at)
{
    return (uint32_t)(at - c->lines);
}

static int on_url(llhttp_t *parser, const char *at, size_t len)
{
    redd__http_connection *c = connection_of(parser);
    redd_http_request *req = c->request;
    if (req->target_len == 0)
        req->target_off = offset_of(c, at);
    req->target_len += (uint32_t)len;
    return req->target_len > c->server->options.max_target ? refuse(c, 414) : 0;
}

/* A span that does not continue the one before it begins the next field. */
static int on_field_name(llhttp_t *parser, const char *at, size_t len)
{
    redd__http_connection *c = connection_of(parser);
    redd_http_request *req = c->request;
    uint32_t off = offset_of(c, at);
    /* By now llhttp has recognised the names of which it would read the values itself. Without a
     * state it takes a value for a run of bytes. */
    parser->header_state = 0;
    if (req->n_lines > 0) {
        redd__http_span *f = &req->fields[req->n_lines - 1];
        if (f->name_off + f->name_len == off) {
            f->name_len += (uint32_t)len;
            return 0;
        }
    }
    if (req->n_lines == c->server->options.max_fields)
        return refuse(c, 431);
    req->fields[req->n_lines++] =
        (redd__http_span){.name_off = off, .name_len = (uint32_t)len, .value_off = 0};
    return 0;
}

static int on_field_value(llhttp_t *parser, const char *at, size_t len)
{
    redd__http_connection *c = connection_of(parser);
    redd__http_span *f = &c->request->fields[c->request->n_lines - 1];
    uint32_t off = offset_of(c, at);
    if (f->value_len == 0)
        f->value_off = off;
    else if (f->value_off + f->value_len != off)
        return refuse(c, 400); /* obs-fold */
    f->value_len += (uint32_t)len;
    return 0;
}

/* Nothing of the message behind its lines is llhttp's. */
static int on_lines_complete(llhttp_t *parser)
{
    (void)parser;
    return HPE_PAUSED;
}

void redd__http_parse_init(redd__http_state *st)
{
    static const char line[] = "GET / HTTP/1.1\r\n";
    llhttp_settings_t silent;
    llhttp_settings_t *s = &st->settings;
    llhttp_settings_init(s);
    s->on_url = on_url;
    s->on_header_field = on_field_name;
    s->on_header_value = on_field_value;
    s->on_headers_complete = on_lines_complete;
    llhttp_init(&st->head_parser, HTTP_REQUEST, s);
    /* Trailer lines are read by a parser that stands where a head's lines begin. */
    llhttp_settings_init(&silent);
    llhttp_init(&st->trailer_parser, HTTP_REQUEST, &silent);
    (void)llhttp_execute(&st->trailer_parser, line, sizeof line - 1);
    st->trailer_parser.settings = s;
}

void redd__http_parse_begin(redd__http_connection *c, const llhttp_t *from)
{
    c->parser = *from;
    c->parser.data = c;
}

/* 501 for a method that could be one (RFC 9110 9.1), 400 for what is none. */
static unsigned status_of_bad_method(redd_slice line)
{
    size_t n = 0;
    while (n < line.len && redd__http_is_token_char(line.data[n]))
        n++;
    return n > 0 && (n == line.len || line.data[n] == ' ') ? 501 : 400;
}

/* The line's bytes behind " HTTP/", none when that is not what follows the target. */
static redd_slice version_of(const redd_http_request *req, redd_slice line)
{
    static const redd_slice prefix = REDD_SLICE(" HTTP/");
    size_t at = req->target_off + req->target_len;
    if (line.len < at + prefix.len ||
        !redd_slice_equal(redd_slice_of(line.data + at, prefix.len), prefix))
        return redd_slice_of(NULL, 0);
    at += prefix.len;
    return redd_slice_of(line.data + at, line.len - at);
}

/* 505 for a version of HTTP that is not ours (RFC 9110 15.6.6), 400 for what is no version. The
 * method of HTTP/2's preface is none in HTTP/1.1. */
static unsigned status_of_bad_version(redd_slice version, unsigned method)
{
    const char *v = version.data;
    if (version.len < 3 || v[0] < '0' || v[0] > '9' || v[1] != '.' || v[2] < '0' || v[2] > '9')
        return 400;
    if (v[0] == '1' && v[2] <= '1')
        return redd__http_method_is_ours(method) ? 400 : 501;
    return v[0] == '0' ? 400 : 505;
}

/* `stop`: the byte that llhttp did not like is part of the judgement, where there is one. */
static unsigned status_of_error(const redd__http_connection *c, size_t stop)
{
    size_t end = stop < c->in_len ? stop + 1 : c->in_len;
    redd_slice line = redd_slice_of(c->in + c->head_off, end - c->head_off);
    switch (llhttp_get_errno(&c->parser)) {
    case HPE_INVALID_METHOD:
        return status_of_bad_method(line);
    case HPE_INVALID_VERSION:
        return status_of_bad_version(version_of(c->request, line), c->parser.method);
    case HPE_INVALID_CONSTANT: /* a method of RTSP's, or another protocol's name */
        return version_of(c->request, line).data ? 501 : 400;
    case HPE_PAUSED_H2_UPGRADE:
        return 505;
    default:
        return 400;
    }
}

redd__http_parsed redd__http_parse_lines(redd__http_connection *c, const char *lines,
                                         redd_slice *in)
{
    c->lines = lines;
    llhttp_errno_t err = llhttp_execute(&c->parser, in->data, in->len);
    const char *end = in->data + in->len;
    const char *stop = err == HPE_OK ? end : llhttp_get_error_pos(&c->parser);
    *in = redd_slice_of(stop, (size_t)(end - stop));
    if (err == HPE_OK)
        return REDD__HTTP_NEED_INPUT;
    return err == HPE_PAUSED ? REDD__HTTP_GOT_LINES : REDD__HTTP_GOT_ERROR;
}

redd__http_parsed redd__http_parse_head(redd__http_connection *c)
{
    redd_slice rest = redd_slice_of(c->in + c->in_pos, c->in_len - c->in_pos);
    redd__http_parsed got = redd__http_parse_lines(c, c->in + c->head_off, &rest);
    c->in_pos = c->in_len - rest.len;
    if (got == REDD__HTTP_GOT_ERROR && c->refusal == 0)
        c->refusal = (uint16_t)status_of_error(c, c->in_pos);
    return got;
}
