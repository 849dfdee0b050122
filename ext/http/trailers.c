/* SPDX-License-Identifier: MIT */
#include "ext/http/trailers.h"

static redd__http_parsed refuse(redd__http_connection *c, unsigned status)
{
    c->refusal = (uint16_t)status;
    return REDD__HTTP_GOT_ERROR;
}

redd__http_parsed redd__http_trailers_read(redd__http_connection *c)
{
    redd_http_request *req = c->request;
    redd_buffer *section = &req->trailers;
    size_t max = (size_t)c->server->options.max_trailers, had = section->len;
    if (had == 0) {
        redd_buffer_init(section, req->state->alloc, max);
        redd__http_parse_begin(c, &req->state->trailer_parser);
    }
    size_t n = c->in_len - c->in_pos;
    if (n > max - had)
        n = max - had;
    if (redd_buffer_append(section, c->in + c->in_pos, n))
        return refuse(c, 503);
    redd_slice rest = redd_slice_of(section->data + had, n);
    redd__http_parsed got = redd__http_parse_lines(c, section->data, &rest);
    c->in_pos += n - rest.len;
    section->len -= rest.len;
    if (got == REDD__HTTP_NEED_INPUT)
        return section->len < max ? got : refuse(c, 431);
    if (got == REDD__HTTP_GOT_ERROR)
        return refuse(c, c->refusal ? c->refusal : 400);
    bool good = redd__http_lines_check(redd_buffer_slice(section), 0, req->fields + req->n_fields,
                                       req->n_lines - req->n_fields);
    return good ? got : refuse(c, 400);
}

/* --- getters --- */

size_t redd_http_trailer_count(const redd_http_request *req)
{
    return req->last_given ? req->n_lines - req->n_fields : 0;
}

redd_http_field redd_http_trailer_at(const redd_http_request *req, size_t i)
{
    const redd__http_span *f = &req->fields[req->n_fields + i];
    const char *section = req->trailers.data;
    return (redd_http_field){redd_slice_of(section + f->name_off, f->name_len),
                             redd_slice_of(section + f->value_off, f->value_len)};
}

redd_slice redd_http_trailer_get(const redd_http_request *req, const char *name, size_t nth)
{
    redd_slice wanted = redd_slice_str(name);
    size_t n = redd_http_trailer_count(req);
    for (size_t i = 0; i < n; i++) {
        redd_http_field f = redd_http_trailer_at(req, i);
        if (redd_slice_equal_nocase(f.name, wanted) && nth-- == 0)
            return f.value;
    }
    return redd_slice_of(NULL, 0);
}
