/* SPDX-License-Identifier: MIT */
/* What lies between two delimiters is content; a delimiter is a line end, two dashes and the
 * boundary. Its only CR is its first byte, so a match that fails holds no beginning of another:
 * what a piece ends with need not be kept, only how much of the delimiter it was. */
#include "ext/http/form/multipart.h"

#include "ext/http/form/form.h"
#include "ext/http/form/parameters.h"
#include "ext/http/form/part.h"

#include <uv.h>

/* The delimiter's line end belongs to what came before, where nothing of the content did. */
#define LINE_END 2

enum { PREAMBLE, BOUNDARY, HEAD, CONTENT, EPILOGUE };

/* --- the boundary --- */

/* RFC 2046 5.1.1. */
static bool is_boundary(redd_slice s)
{
    static const char others[] = "'()+_,-./:=? ";
    if (s.len == 0 || s.len > REDD__HTTP_MAX_BOUNDARY || s.data[s.len - 1] == ' ')
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i], lower = (char)(c | 0x20);
        if (!(c >= '0' && c <= '9') && !(lower >= 'a' && lower <= 'z') &&
            !(c != '\0' && strchr(others, c)))
            return false;
    }
    return true;
}

static redd_slice find_boundary(redd_slice parameters)
{
    static const redd_slice name = REDD_SLICE("boundary");
    redd_slice found = {NULL, 0};
    redd__http_parameter p;
    redd__http_parameter_result result;
    while ((result = redd__http_next_parameter(&parameters, &p)) == REDD__HTTP_PARAMETER) {
        if (!redd_slice_equal_nocase(p.name, name))
            continue;
        if (found.data)
            return redd_slice_of(NULL, 0);
        found = p.value;
    }
    return result == REDD__HTTP_NO_PARAMETER ? found : redd_slice_of(NULL, 0);
}

/* As if a line had ended before the body, so that its first line may be a delimiter. */
static void begin_line(redd__http_multipart *m, uint8_t state)
{
    m->state = state;
    m->matched = m->borrowed = LINE_END;
}

int redd__http_multipart_init(redd__http_multipart *m, redd_slice parameters)
{
    redd_slice boundary = find_boundary(parameters);
    if (!is_boundary(boundary))
        return UV_EINVAL;
    memcpy(m->delimiter, "\r\n--", 4);
    memcpy(m->delimiter + 4, boundary.data, boundary.len);
    m->delimiter_len = (uint8_t)(4 + boundary.len);
    begin_line(m, PREAMBLE);
    return 0;
}

/* --- content --- */

static void skip(redd_slice *data, size_t n)
{
    *data = redd_slice_of(data->data + n, data->len - n);
}

static int give(redd_http_form *f, redd_slice content, bool last)
{
    bool is_part = f->parser.multipart.state == CONTENT;
    return is_part && (content.len > 0 || last) ? redd__http_form_data(f, content, last) : 0;
}

/* The delimiter is complete, behind the last bytes of what it ends. */
static int delimit(redd_http_form *f, redd_slice content)
{
    redd__http_multipart *m = &f->parser.multipart;
    int rc = give(f, content, true);
    m->state = BOUNDARY;
    m->line = 0;
    m->matched = m->borrowed = 0;
    return rc;
}

/* The delimiter began in the piece before. */
static int go_on_matching(redd_http_form *f, redd_slice *data)
{
    redd__http_multipart *m = &f->parser.multipart;
    size_t missing = (size_t)m->delimiter_len - m->matched;
    size_t n = missing < data->len ? missing : data->len;
    if (memcmp(m->delimiter + m->matched, data->data, n) != 0) {
        redd_slice held = redd_slice_of(m->delimiter + m->borrowed, m->matched - m->borrowed);
        m->matched = m->borrowed = 0;
        return give(f, held, false);
    }
    m->matched = (uint8_t)(m->matched + n);
    skip(data, n);
    return n == missing ? delimit(f, redd_slice_of(NULL, 0)) : 0;
}

/* Where the delimiter is, or where it begins and the piece ends: behind the piece's last CR, since
 * it has no other. */
static size_t find_delimiter(const redd__http_multipart *m, redd_slice data, size_t *n)
{
    const char *end = data.data + data.len;
    const char *at = memmem(data.data, data.len, m->delimiter, m->delimiter_len);
    if (!at) {
        size_t tail = data.len < m->delimiter_len ? data.len : m->delimiter_len - 1U;
        at = memrchr(end - tail, '\r', tail);
        if (at && memcmp(at, m->delimiter, (size_t)(end - at)) != 0)
            at = NULL;
    }
    if (!at)
        at = end;
    *n = (size_t)(end - at) < m->delimiter_len ? (size_t)(end - at) : m->delimiter_len;
    return (size_t)(at - data.data);
}

static int step_content(redd_http_form *f, redd_slice *data)
{
    redd__http_multipart *m = &f->parser.multipart;
    if (m->matched > 0)
        return go_on_matching(f, data);
    size_t n, at = find_delimiter(m, *data, &n);
    redd_slice content = redd_slice_of(data->data, at);
    skip(data, at + n);
    if (n == m->delimiter_len)
        return delimit(f, content);
    m->matched = (uint8_t)n;
    return give(f, content, false);
}

/* --- what follows a delimiter, and heads --- */

enum { NOTHING, DASH, PADDING, CR }; /* of a boundary's line behind the boundary */

static int begin_part(redd_http_form *f)
{
    f->parser.multipart.state = HEAD;
    f->text.len = 0;
    return redd__http_form_count(f);
}

/* "--" behind the last one; blanks up to the line's end (RFC 2046 5.1.1). A boundary that goes on
 * is no content either, which must not have it. */
static int step_boundary(redd_http_form *f, redd_slice *data)
{
    redd__http_multipart *m = &f->parser.multipart;
    char c = data->data[0];
    skip(data, 1);
    if (m->line == CR)
        return c == '\n' ? begin_part(f) : REDD_EMALFORMED;
    if (m->line == DASH || (m->line == NOTHING && c == '-')) {
        if (c != '-')
            return REDD_EMALFORMED;
        if (m->line == DASH)
            m->state = EPILOGUE;
        m->line = DASH;
        return 0;
    }
    m->line = c == '\r' ? CR : PADDING;
    return c == '\r' || c == ' ' || c == '\t' ? 0 : REDD_EMALFORMED;
}

static int end_head(redd_http_form *f, size_t len)
{
    redd_http_part part;
    if (!redd__http_part_parse(f->text.data, len, &part))
        return REDD_EMALFORMED;
    begin_line(&f->parser.multipart, CONTENT);
    return redd__http_form_part(f, &part);
}

/* Up to the next line end; an empty line ends the head. */
static int step_head(redd_http_form *f, redd_slice *data)
{
    const char *end = memchr(data->data, '\n', data->len);
    size_t n = end ? (size_t)(end - data->data) + 1 : data->len;
    int rc = redd_buffer_append(&f->text, data->data, n);
    if (rc)
        return rc;
    skip(data, n);
    if (!end)
        return 0;
    size_t len = f->text.len;
    const char *text = f->text.data;
    if (len < 2 || text[len - 2] != '\r')
        return REDD_EMALFORMED;
    bool empty = len == 2 || text[len - 3] == '\n';
    return empty ? end_head(f, len - 2) : 0;
}

/* --- all of it --- */

static int step(redd_http_form *f, redd_slice *data)
{
    switch (f->parser.multipart.state) {
    case BOUNDARY:
        return step_boundary(f, data);
    case HEAD:
        return step_head(f, data);
    case EPILOGUE:
        skip(data, data->len);
        return 0;
    default:
        return step_content(f, data);
    }
}

static int feed(redd_http_form *f, redd_slice *data, bool last)
{
    int rc = 0;
    while (rc == 0 && data->len > 0 && !redd__http_form_halted(f))
        rc = step(f, data);
    if (rc || !last || redd__http_form_halted(f))
        return rc;
    f->complete = true;
    return f->parser.multipart.state == EPILOGUE ? 0 : REDD_EMALFORMED;
}

const redd__http_form_kind redd__http_form_multipart = {feed};
