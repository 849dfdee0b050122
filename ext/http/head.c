/* SPDX-License-Identifier: MIT */
/* What a complete head means. llhttp lets through a good deal that RFC 9112 forbids (folded lines,
 * an empty field name, several spaces, any target for any method), each version something else, so
 * every byte of the head is accounted for here once more. */
#include "ext/http/authority.h"
#include "ext/http/connection.h"

#include <llhttp.h>

typedef struct head {
    redd_http_request *req;
    redd_slice text;
    unsigned n_hosts, n_lengths, n_codings, n_expects;
    redd_slice host, length, coding, expect;
    bool close, keep_alive;
} head;

static bool skip(redd_slice text, uint32_t *pos, const char *wanted, uint32_t len)
{
    if (text.len - *pos < len || memcmp(text.data + *pos, wanted, len) != 0)
        return false;
    *pos += len;
    return true;
}

static bool is_blank(char ch)
{
    return ch == ' ' || ch == '\t';
}

static void skip_blanks(redd_slice text, uint32_t *pos)
{
    while (*pos < text.len && is_blank(text.data[*pos]))
        ++*pos;
}

/* "METHOD SP target SP HTTP/1.x CRLF", with nothing in between (RFC 9112 3). */
static unsigned check_request_line(head *h, uint32_t *pos)
{
    redd_http_request *req = h->req;
    const char *target = h->text.data + req->target_off;
    if (req->target_off < 2 || target[-1] != ' ' || target[-2] == ' ') /* llhttp takes several */
        return 400;
    req->method_len = req->target_off - 1;
    *pos = req->target_off + req->target_len;
    if (!skip(h->text, pos, " HTTP/", 6) || h->text.len - *pos < 5)
        return 400;
    const char *v = h->text.data + *pos;
    if (v[1] != '.' || v[3] != '\r' || v[4] != '\n' || v[0] == '0')
        return 400;
    if (v[0] != '1' || v[2] > '1')
        return 505;
    req->minor = (uint8_t)(v[2] - '0');
    *pos += 5;
    return 0;
}

bool redd__http_lines_check(redd_slice text, uint32_t pos, redd__http_span *lines, uint32_t n)
{
    for (redd__http_span *f = lines; f < lines + n; f++) {
        if (f->name_len == 0 || f->name_off != pos)
            return false;
        pos += f->name_len;
        if (!skip(text, &pos, ":", 1))
            return false;
        skip_blanks(text, &pos);
        if (f->value_len == 0)
            f->value_off = pos;
        else if (f->value_off != pos)
            return false;
        pos += f->value_len;
        if (!skip(text, &pos, "\r\n", 2))
            return false;
        while (f->value_len > 0 && is_blank(text.data[f->value_off + f->value_len - 1]))
            f->value_len--;
    }
    return skip(text, &pos, "\r\n", 2) && pos == text.len;
}

static bool named(redd_slice name, const char *lower)
{
    for (size_t i = 0; i < name.len; i++)
        if ((name.data[i] | 0x20) != lower[i])
            return false;
    return true;
}

static void note_connection(head *h, redd_slice value)
{
    static const redd_slice close = REDD_SLICE("close"), keep_alive = REDD_SLICE("keep-alive"),
                            upgrade = REDD_SLICE("upgrade");
    redd_slice element;
    while (redd_slice_next_element(&value, &element)) {
        h->close |= redd_slice_equal_nocase(element, close);
        h->keep_alive |= redd_slice_equal_nocase(element, keep_alive);
        h->req->wants_upgrade |= redd_slice_equal_nocase(element, upgrade);
    }
}

static void note(redd_slice value, redd_slice *slot, unsigned *count)
{
    *slot = value;
    ++*count;
}

/* Told apart by length first: most fields of a request are of no concern here. */
static void note_field(head *h, redd_slice name, redd_slice value)
{
    switch (name.len) {
    case 4:
        if (named(name, "host"))
            note(value, &h->host, &h->n_hosts);
        break;
    case 6:
        if (named(name, "expect"))
            note(value, &h->expect, &h->n_expects);
        break;
    case 10:
        if (named(name, "connection"))
            note_connection(h, value);
        break;
    case 14:
        if (named(name, "content-length"))
            note(value, &h->length, &h->n_lengths);
        break;
    case 17:
        if (named(name, "transfer-encoding"))
            note(value, &h->coding, &h->n_codings);
        break;
    default:
        break;
    }
}

static void set_host(redd_http_request *req, redd_slice host)
{
    req->host_off = (uint32_t)(host.data - req->head);
    req->host_len = (uint32_t)host.len;
}

/* http[s]://authority[/...] (RFC 9112 3.2.2): its authority stands above Host. */
static unsigned check_absolute_target(head *h, redd_slice target)
{
    size_t scheme = 0;
    static const redd_slice http = REDD_SLICE("http://"), https = REDD_SLICE("https://");
    if (target.len > http.len &&
        redd_slice_equal_nocase(redd_slice_of(target.data, http.len), http))
        scheme = http.len;
    else if (target.len > https.len &&
             redd_slice_equal_nocase(redd_slice_of(target.data, https.len), https))
        scheme = https.len;
    else
        return 400;
    size_t end = scheme;
    while (end < target.len && target.data[end] != '/' && target.data[end] != '?')
        end++;
    redd_slice authority = redd_slice_of(target.data + scheme, end - scheme);
    if (!redd__http_is_authority(authority))
        return 400;
    set_host(h->req, authority);
    return 0;
}

/* host ":" port (RFC 9110 9.3.6), and no body. */
static unsigned check_connect(const redd__http_connection *c, head *h)
{
    redd_slice target = redd_http_target(h->req);
    size_t port = target.len;
    while (port > 0 && target.data[port - 1] >= '0' && target.data[port - 1] <= '9')
        port--;
    if (port == 0 || port == target.len || target.data[port - 1] != ':' ||
        !redd__http_is_authority(target))
        return 400;
    if (h->n_codings > 0 || h->n_lengths > 0)
        return 400;
    set_host(h->req, target);
    return c->server->options.connect ? 0 : 501;
}

static unsigned check_target(const redd__http_connection *c, head *h)
{
    redd_slice target = redd_http_target(h->req);
    uint8_t method = c->parser.method;
    if (method == HTTP_CONNECT)
        return check_connect(c, h);
    if (!redd__http_method_is_ours(method))
        return 501;
    if (memchr(target.data, '#', target.len))
        return 400;
    if (target.data[0] == '/')
        return 0;
    if (target.len == 1 && target.data[0] == '*')
        return method == HTTP_OPTIONS ? 0 : 400;
    return check_absolute_target(h, target);
}

/* RFC 9112 3.2: exactly one, and valid; HTTP/1.0 may go without. */
static unsigned check_host(head *h)
{
    if (h->n_hosts > 1 || (h->n_hosts == 0 && h->req->minor == 1))
        return 400;
    if (h->n_hosts == 0)
        return 0;
    if (!redd__http_is_authority(h->host))
        return 400;
    if (h->req->host_len == 0)
        set_host(h->req, h->host);
    return 0;
}

/* Whether it is too much is judged when the body is read: until then a handler may allow more. */
static unsigned check_length(head *h)
{
    uint64_t n = 0;
    if (h->n_lengths > 1 || h->length.len == 0)
        return 400;
    for (size_t i = 0; i < h->length.len; i++) {
        unsigned digit = (unsigned)(h->length.data[i] - '0');
        if (digit > 9 || n > UINT64_MAX / 10 || n * 10 > UINT64_MAX - digit)
            return 400;
        n = n * 10 + digit;
    }
    if (n > INT64_MAX)
        return 413;
    h->req->body_length = (int64_t)n;
    return 0;
}

/* RFC 9112 6.1 to 6.3: one length, or the one coding "chunked" in HTTP/1.1; never both. */
static unsigned check_framing(head *h)
{
    static const redd_slice chunked = REDD_SLICE("chunked");
    if (h->n_codings > 0) {
        if (h->n_codings > 1 || h->n_lengths > 0 || h->req->minor == 0 ||
            !redd_slice_equal_nocase(h->coding, chunked))
            return 400;
        h->req->chunked = true;
        h->req->body_length = -1;
    }
    return h->n_lengths > 0 ? check_length(h) : 0;
}

/* RFC 9110 10.1.1; HTTP/1.0 has no expectations. */
static unsigned check_expect(head *h)
{
    static const redd_slice proceed = REDD_SLICE("100-continue");
    if (h->n_expects == 0 || h->req->minor == 0)
        return 0;
    if (h->n_expects > 1 || !redd_slice_equal_nocase(h->expect, proceed))
        return 417;
    h->req->expects_continue = h->req->body_length != 0;
    return 0;
}

unsigned redd__http_head_check(redd__http_connection *c, redd_http_request *req)
{
    head h = {.req = req, .text = redd_slice_of(req->head, req->head_len)};
    uint32_t pos = 0;
    unsigned status = check_request_line(&h, &pos);
    if (status == 0 && !redd__http_lines_check(h.text, pos, req->fields, req->n_lines))
        status = 400;
    if (status)
        return status;
    req->n_fields = req->n_lines;
    for (uint32_t i = 0; i < req->n_fields; i++)
        note_field(&h, redd__http_name(req, i), redd__http_value(req, i));
    if ((status = check_target(c, &h)) || (status = check_host(&h)) ||
        (status = check_framing(&h)) || (status = check_expect(&h)))
        return status;
    c->requests++;
    req->is_head = c->parser.method == HTTP_HEAD;
    req->keep_alive = !h.close && (req->minor == 1 || h.keep_alive) &&
                      c->parser.method != HTTP_CONNECT &&
                      c->requests != c->server->options.max_requests;
    req->body_max = c->server->options.max_body;
    return 0;
}
