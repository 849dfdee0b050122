/* SPDX-License-Identifier: MIT */
/** A strict reader of what a server has sent: one response after the other, or a failed test. */
#ifndef REDD_TESTS_UNIT_HTTP_REPLY_H
#define REDD_TESTS_UNIT_HTTP_REPLY_H

#include "tests/unit/http_fixture.h"

#include <stdio.h>

typedef struct reply {
    const bytes *got;
    size_t pos;      /* behind the present response */
    bool ended;      /* the connection has: a body may go up to it */
    unsigned status; /* of the present response */
    redd_slice head; /* status line and fields, up to the empty line and without it */
    bytes body;      /* decoded */
    bool chunked, until_end;
} reply;

static inline void reply_begin(reply *r, const client *c)
{
    memset(r, 0, sizeof *r);
    r->got = &c->got;
    r->ended = c->eof;
}

static inline void reply_end(reply *r)
{
    bytes_free(&r->body);
}

static inline redd_slice reply_rest(const reply *r)
{
    if (r->got->len == 0)
        return redd_slice_of(NULL, 0);
    return redd_slice_of(r->got->data + r->pos, r->got->len - r->pos);
}

static inline size_t slice_find(redd_slice s, const char *text)
{
    size_t n = strlen(text);
    for (size_t i = 0; i + n <= s.len; i++)
        if (memcmp(s.data + i, text, n) == 0)
            return i;
    return SIZE_MAX;
}

/** Cuts the line off the front; it must end with CRLF and have no control byte. */
static inline redd_slice slice_line(redd_slice *rest)
{
    size_t n = slice_find(*rest, "\r\n");
    HTTP_MUST(n != SIZE_MAX);
    redd_slice line = redd_slice_of(rest->data, n);
    for (size_t i = 0; i < n; i++)
        HTTP_MUST((unsigned char)line.data[i] >= 0x20 || line.data[i] == '\t');
    *rest = redd_slice_of(rest->data + n + 2, rest->len - n - 2);
    return line;
}

/** The n-th field of this name; data NULL when there is none. */
static inline redd_slice reply_field_nth(const reply *r, const char *name, size_t nth)
{
    redd_slice rest = r->head;
    (void)slice_line(&rest);
    while (rest.len > 0) {
        redd_slice line = slice_line(&rest);
        size_t colon = slice_find(line, ": ");
        HTTP_MUST(colon != SIZE_MAX && colon > 0);
        if (redd_slice_equal_nocase(redd_slice_of(line.data, colon), redd_slice_str(name)) &&
            nth-- == 0)
            return redd_slice_of(line.data + colon + 2, line.len - colon - 2);
    }
    return redd_slice_of(NULL, 0);
}

static inline redd_slice reply_field(const reply *r, const char *name)
{
    HTTP_MUST(reply_field_nth(r, name, 1).data == NULL);
    return reply_field_nth(r, name, 0);
}

static inline bool reply_field_is(const reply *r, const char *name, const char *value)
{
    return redd_slice_equal(reply_field(r, name), redd_slice_str(value));
}

static inline bool reply_closes(const reply *r)
{
    return redd_slice_has_token(reply_field(r, "connection"), redd_slice_str("close"));
}

static inline bool reply_body_is(const reply *r, const char *text)
{
    return bytes_are(&r->body, text, strlen(text));
}

static inline uint64_t slice_number(redd_slice s, unsigned base)
{
    uint64_t n = 0;
    HTTP_MUST(s.len > 0 && s.len < 16);
    for (size_t i = 0; i < s.len; i++) {
        char ch = s.data[i];
        unsigned digit = ch >= 'a' ? (unsigned)(ch - 'a') + 10 : (unsigned)(ch - '0');
        HTTP_MUST(digit < base);
        n = n * base + digit;
    }
    return n;
}

/* Returns false when the last chunk is not there yet. */
static inline bool reply_chunks(reply *r)
{
    redd_slice rest = reply_rest(r);
    uint64_t n;
    do {
        if (slice_find(rest, "\r\n") == SIZE_MAX)
            return false;
        n = slice_number(slice_line(&rest), 16);
        if (rest.len < n + 2)
            return false;
        bytes_add(&r->body, rest.data, n);
        HTTP_MUST(memcmp(rest.data + n, "\r\n", 2) == 0);
        rest = redd_slice_of(rest.data + n + 2, rest.len - n - 2);
    } while (n > 0);
    r->pos = r->got->len - rest.len;
    return true;
}

static inline bool reply_counted(reply *r, uint64_t n)
{
    redd_slice rest = reply_rest(r);
    if (rest.len < n)
        return false;
    bytes_add(&r->body, rest.data, n);
    r->pos += n;
    return true;
}

static inline bool reply_body(reply *r, bool to_head)
{
    redd_slice length = reply_field(r, "content-length");
    redd_slice coding = reply_field(r, "transfer-encoding");
    HTTP_MUST(!length.data || !coding.data);
    r->chunked = coding.data != NULL;
    r->until_end = false;
    if (to_head || r->status < 200 || r->status == 204 || r->status == 304)
        return true;
    if (length.data)
        return reply_counted(r, slice_number(length, 10));
    if (r->chunked) {
        HTTP_MUST(reply_field_is(r, "transfer-encoding", "chunked"));
        return reply_chunks(r);
    }
    HTTP_MUST(reply_closes(r));
    r->until_end = true;
    return r->ended && reply_counted(r, reply_rest(r).len);
}

static inline void reply_status_line(reply *r)
{
    redd_slice rest = r->head, line = slice_line(&rest);
    HTTP_MUST(line.len >= 13 && memcmp(line.data, "HTTP/1.1 ", 9) == 0 && line.data[12] == ' ');
    r->status = (unsigned)slice_number(redd_slice_of(line.data + 9, 3), 10);
}

/** Moves to the next response, if all of it is there. `to_head`: it answers a HEAD. */
static inline bool reply_next_to(reply *r, bool to_head)
{
    redd_slice rest = reply_rest(r);
    size_t n = rest.len ? slice_find(rest, "\r\n\r\n") : SIZE_MAX;
    bytes_clear(&r->body);
    if (n == SIZE_MAX)
        return false;
    size_t before = r->pos;
    r->head = redd_slice_of(rest.data, n + 2);
    r->pos += n + 4;
    reply_status_line(r);
    if (reply_body(r, to_head))
        return true;
    r->pos = before;
    return false;
}

static inline bool reply_next(reply *r)
{
    return reply_next_to(r, false);
}

/** Nothing but whole responses has come. */
static inline bool reply_at_end(const reply *r)
{
    return r->pos == r->got->len;
}

/** All statuses, "200,400"; nothing but whole responses may have come. `to_head`: to HEAD. */
static inline void replies_statuses(const client *c, bool to_head, bytes *out)
{
    reply r;
    char text[16];
    reply_begin(&r, c);
    bytes_text(out, "");
    while (reply_next_to(&r, to_head)) {
        (void)snprintf(text, sizeof text, out->len ? ",%u" : "%u", r.status);
        bytes_text(out, text);
        if (r.status >= 400)
            HTTP_MUST(reply_closes(&r) || r.status == 500);
    }
    HTTP_MUST(reply_at_end(&r));
    reply_end(&r);
}

static inline bool replies_are(const client *c, const char *statuses)
{
    bytes got = {0};
    replies_statuses(c, false, &got);
    bool are = bytes_are(&got, statuses, strlen(statuses));
    bytes_free(&got);
    return are;
}

#endif
