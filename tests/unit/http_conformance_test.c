/* SPDX-License-Identifier: MIT */
/** What the server makes of odd and hostile requests, whatever the segments in which they come. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_rows_body.h"
#include "tests/unit/http_rows_head.h"
#include "tests/unit/http_tcp.h"

#include <stdio.h>

enum {
    CUT_EVERYWHERE = 1024, /* inputs up to this size are cut at each offset, longer ones at some */
    BYTEWISE = 16 * 1024   /* inputs up to this size also come byte by byte */
};

/** The requests that the handler of this test has seen, and the bodies that it has read. */
typedef struct seen {
    unsigned requests;
    bytes body;
} seen;

static void on_body(redd_http_request *req, int status, redd_slice data, bool last, void *user)
{
    seen *s = user;
    if (status)
        return;
    assert_true(last);
    bytes_add(&s->body, data.data, data.len);
    assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
}

static void on_request(redd_http_request *req, void *user)
{
    ((seen *)user)->requests++;
    assert_int_equal(redd_http_read_all(req, 0, on_body, user), 0);
}

/* --- judging --- */

typedef struct outcome {
    bytes statuses; /* "200,400" */
    bytes trace;    /* how the input was cut, for messages */
    unsigned requests;
    bytes body;
    bool ended;
} outcome;

static void outcome_free(outcome *o)
{
    bytes_free(&o->statuses);
    bytes_free(&o->trace);
    bytes_free(&o->body);
}

static void read_replies(const row *r, const client *c, outcome *o)
{
    bool to_head = r->input.len > 4 && memcmp(r->input.data, "HEAD", 4) == 0;
    replies_statuses(c, to_head, &o->statuses);
}

/* "200,200,..." for rows with more of them than one writes down. */
static void wanted_statuses(const row *r, bytes *out)
{
    if (r->statuses) {
        bytes_text(out, r->statuses);
        return;
    }
    for (unsigned i = 0; i < r->seen; i++)
        bytes_text(out, i ? ",200" : "200");
}

static bool as_wanted(const row *r, const outcome *o)
{
    bytes wanted = {0};
    wanted_statuses(r, &wanted);
    bool ok = bytes_are(&o->statuses, wanted.data, wanted.len) && o->requests == r->seen &&
              o->ended == (r->fate == CLOSED) &&
              (!r->body || bytes_are(&o->body, r->body, strlen(r->body)));
    bytes_free(&wanted);
    return ok;
}

static void judge(const row *r, const outcome *o)
{
    if (as_wanted(r, o))
        return;
    print_error("%s %s: statuses %.60s, requests %u, %s, body of %zu bytes %.60s\n", r->id,
                o->trace.data, o->statuses.len ? o->statuses.data : "none", o->requests,
                o->ended ? "closed" : "open", o->body.len, o->body.len ? o->body.data : "");
    fail_msg("%s: wanted %s, requests %u, %s", r->id, r->statuses ? r->statuses : "all 200",
             r->seen, r->fate == CLOSED ? "closed" : "open");
}

static void observe(const row *r, client *c, seen *s, outcome *o)
{
    read_replies(r, c, o);
    o->requests = s->requests;
    o->ended = c->eof;
    bytes_add(&o->body, s->body.data, s->body.len);
    assert_false(c->reset);
}

/* --- in memory --- */

static void input_of(const row *r, bytes *out)
{
    bytes_add(out, r->input.data, r->input.len);
    for (size_t i = 0; i < r->times; i++)
        bytes_text(out, r->unit);
    bytes_add(out, r->after.data, r->after.len);
}

/* The next request on the connection is seen as what it is. */
static void probe(client *c, seen *s)
{
    static const char request[] = "GET /probe HTTP/1.1\r\nHost: p\r\n\r\n";
    unsigned before = s->requests;
    bytes_clear(&c->got);
    client_send(c, request, sizeof request - 1);
    assert_int_equal(s->requests, before + 1);
    assert_true(c->got.len > 17 && memcmp(c->got.data, "HTTP/1.1 200 OK\r\n", 17) == 0);
}

typedef struct cut {
    size_t first, others; /* sizes of the segments */
} cut;

static void run_cut(bed *b, seen *s, const row *r, const bytes *input, cut how)
{
    client c;
    outcome o = {0};
    char text[64];
    (void)snprintf(text, sizeof text, "in segments of %zu and %zu bytes", how.first, how.others);
    bytes_text(&o.trace, text);
    s->requests = 0;
    bytes_clear(&s->body);
    client_open(b, &c);
    size_t off = client_put(&c, input->data, how.first);
    bed_turns(b, 2);
    for (; off < input->len && !c.eof; off += how.others)
        client_send(&c, input->data + off,
                    input->len - off < how.others ? input->len - off : how.others);
    client_settle(&c);
    observe(r, &c, s, &o);
    judge(r, &o);
    if (r->fate == OPEN && !o.ended)
        probe(&c, s);
    client_close(&c);
    assert_int_equal(redd_http_server_connections(b->server), 0);
    outcome_free(&o);
}

static void run_row(bed *b, seen *s, const row *r)
{
    bytes input = {0};
    input_of(r, &input);
    size_t n = input.len, step = n <= CUT_EVERYWHERE ? 1 : n / 23 + 1;
    run_cut(b, s, r, &input, (cut){n, n});
    for (size_t at = 1; at < n; at += step)
        run_cut(b, s, r, &input, (cut){at, n});
    if (n <= BYTEWISE)
        run_cut(b, s, r, &input, (cut){1, 1});
    else
        run_cut(b, s, r, &input, (cut){997, 4096});
    bytes_free(&input);
}

static void run_rows(const row *rows, size_t n)
{
    bed b;
    seen s = {0};
    bed_begin(&b, on_request, &s);
    for (size_t i = 0; i < n; i++)
        run_row(&b, &s, &rows[i]);
    bytes_free(&s.body);
    bed_end(&b);
}

#define RUN_ROWS(table) run_rows((table), sizeof(table) / sizeof *(table))

static void test_request_lines(void **state)
{
    (void)state;
    RUN_ROWS(request_line_rows);
}

static void test_host(void **state)
{
    (void)state;
    RUN_ROWS(host_rows);
}

static void test_fields(void **state)
{
    (void)state;
    RUN_ROWS(field_rows);
}

static void test_lengths(void **state)
{
    (void)state;
    RUN_ROWS(length_rows);
}

static void test_codings(void **state)
{
    (void)state;
    RUN_ROWS(coding_rows);
}

static void test_chunks(void **state)
{
    (void)state;
    RUN_ROWS(chunk_rows);
}

static void test_connections(void **state)
{
    (void)state;
    RUN_ROWS(connection_rows);
}

/* --- over TCP --- */

/* Until as many responses have come as the row wants, and the end where it wants one. */
static bool has_come(client *c, const row *r, size_t wanted)
{
    outcome now = {0};
    (void)client_take(c, SIZE_MAX);
    read_replies(r, c, &now);
    size_t got = now.statuses.len;
    outcome_free(&now);
    return c->eof || c->reset || (r->fate != CLOSED && got >= wanted);
}

static void run_over_tcp(bed *b, seen *s, const row *r, uint16_t port)
{
    client c;
    outcome o = {0};
    bytes input = {0}, wanted = {0};
    input_of(r, &input);
    wanted_statuses(r, &wanted);
    bytes_text(&o.trace, "over TCP");
    s->requests = 0;
    bytes_clear(&s->body);
    tcp_connect(b, &c, port);
    assert_int_equal(client_put(&c, input.data, input.len), input.len);
    UNTIL(b, has_come(&c, r, wanted.len));
    observe(r, &c, s, &o);
    judge(r, &o);
    tcp_disconnect(&c);
    UNTIL(b, redd_http_server_connections(b->server) == 0);
    bytes_free(&input);
    bytes_free(&wanted);
    outcome_free(&o);
}

static void run_table_over_tcp(bed *b, seen *s, const row *rows, size_t n, uint16_t port)
{
    /* Rows that wait for more show nothing that could be waited for. */
    for (size_t i = 0; i < n; i++)
        if (rows[i].fate != WAITS && rows[i].times <= 1000)
            run_over_tcp(b, s, &rows[i], port);
}

static void test_over_tcp(void **state)
{
    (void)state;
    bed b;
    seen s = {0};
    redd_listener *listener;
    uint16_t port = tcp_begin(&b, &listener, on_request, &s);
#define RUN_TABLE(table) run_table_over_tcp(&b, &s, (table), sizeof(table) / sizeof *(table), port)
    RUN_TABLE(request_line_rows);
    RUN_TABLE(field_rows);
    RUN_TABLE(length_rows);
    RUN_TABLE(coding_rows);
    RUN_TABLE(chunk_rows);
    RUN_TABLE(connection_rows);
    tcp_end(&b, listener);
    bytes_free(&s.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_lines), cmocka_unit_test(test_host),
        cmocka_unit_test(test_fields),        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_codings),       cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_connections),   cmocka_unit_test(test_over_tcp),
    };
    (void)alarm(100); /* a wait for what does not come ends the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
