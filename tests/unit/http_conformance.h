/* SPDX-License-Identifier: MIT */
/** Runs the conformance tables against whatever serves as http_rows_app.h says: what the server
 * makes of odd and hostile requests, whatever the segments in which they come. The includer has
 * included http_must.h, and defines CONFORMANCE_HANDLER, a redd_http_handler_fn whose user is a
 * rows_app, and CONFORMANCE_BEGIN(bed *, rows_app *), called before the first row. */
#ifndef REDD_TESTS_UNIT_HTTP_CONFORMANCE_H
#define REDD_TESTS_UNIT_HTTP_CONFORMANCE_H

#include "tests/unit/http_rows_all.h"
#include "tests/unit/http_rows_app.h"
#include "tests/unit/http_tcp.h"

#include <stdio.h>

enum {
    CUT_EVERYWHERE = 1024, /* inputs up to this size are cut at each offset, longer ones at some */
    SMALL = 4096,          /* capacity of a stream that is enough for those */
    BYTEWISE = 16 * 1024,  /* inputs up to this size also come byte by byte */
    BYTEWISE_TCP = 1024,
    WHOLE_TCP = 64 * 1024 /* what a socket takes at once */
};

/* --- judging --- */

typedef struct outcome {
    char trace[80]; /* how the input came, for messages */
    bytes statuses; /* "200,400" */
    unsigned requests;
    bytes body;
    bool ended;
} outcome;

static inline void outcome_free(outcome *o)
{
    bytes_free(&o->statuses);
    bytes_free(&o->body);
}

static inline void read_replies(const row *r, const client *c, outcome *o)
{
    bool to_head = r->input.len > 4 && memcmp(r->input.data, "HEAD", 4) == 0;
    replies_statuses(c, to_head, &o->statuses);
}

/* "200,200,..." for rows with more of them than one writes down. */
static inline void wanted_statuses(const row *r, bytes *out)
{
    if (r->statuses) {
        bytes_text(out, r->statuses);
        return;
    }
    for (unsigned i = 0; i < r->seen; i++)
        bytes_text(out, i ? ",200" : "200");
}

static inline bool as_wanted(const row *r, const outcome *o, bool closed)
{
    bytes wanted = {0};
    wanted_statuses(r, &wanted);
    bool ok = bytes_are(&o->statuses, wanted.data, wanted.len) && o->requests == r->seen &&
              o->ended == closed && (!r->body || bytes_are(&o->body, r->body, strlen(r->body)));
    bytes_free(&wanted);
    return ok;
}

/* `closed`: what is to have become of the connection. */
static inline void judge(const row *r, const outcome *o, bool closed)
{
    if (as_wanted(r, o, closed))
        return;
    print_error("%s %s: statuses %.60s, requests %u, %s, body of %zu bytes %.60s\n", r->id,
                o->trace, o->statuses.len ? o->statuses.data : "none", o->requests,
                o->ended ? "closed" : "open", o->body.len, o->body.len ? o->body.data : "");
    fail_msg("%s: wanted %s, requests %u, %s, body %s", r->id,
             r->statuses ? r->statuses : "all 200", r->seen, closed ? "closed" : "open",
             r->body ? r->body : "of any kind");
}

static inline void observe(const row *r, const client *c, const rows_app *app, outcome *o)
{
    read_replies(r, c, o);
    o->requests = app->requests;
    o->ended = c->eof;
    bytes_add(&o->body, app->body.data, app->body.len);
    assert_false(c->reset);
}

static inline void input_of(const row *r, bytes *out)
{
    bytes_add(out, r->input.data, r->input.len);
    for (size_t i = 0; i < r->times; i++)
        bytes_text(out, r->unit);
    bytes_add(out, r->after.data, r->after.len);
}

/* --- in memory --- */

/* The next request on the connection is seen as what it is. */
static inline void probe(client *c, const rows_app *app)
{
    static const char request[] = "GET /probe HTTP/1.1\r\nHost: p\r\n\r\n";
    unsigned before = app->requests;
    bytes_clear(&c->got);
    client_send(c, request, sizeof request - 1);
    assert_int_equal(app->requests, before + 1);
    assert_true(c->got.len > 17 && memcmp(c->got.data, "HTTP/1.1 200 OK\r\n", 17) == 0);
}

typedef struct cut {
    size_t first, others; /* sizes of the segments */
    bool finish;          /* the client ends its side behind them */
} cut;

static inline void send_in_segments(client *c, const bytes *input, cut how)
{
    size_t off = client_put(c, input->data, how.first);
    bed_turns(c->bed, 2);
    for (; off < input->len && !c->eof; off += how.others)
        client_send(c, input->data + off,
                    input->len - off < how.others ? input->len - off : how.others);
    if (how.finish)
        client_finish(c);
    client_settle(c);
}

static inline void run_cut(bed *b, rows_app *app, const row *r, const bytes *input, cut how)
{
    client c;
    outcome o = {.requests = 0};
    (void)snprintf(o.trace, sizeof o.trace, "in segments of %zu and %zu bytes%s", how.first,
                   how.others, how.finish ? ", and the client's end" : "");
    rows_app_clear(app);
    client_open_sized(b, &c, input->len <= CUT_EVERYWHERE ? SMALL : CLIENT_CAPACITY);
    send_in_segments(&c, input, how);
    observe(r, &c, app, &o);
    judge(r, &o, how.finish || r->fate == CLOSED);
    if (r->fate == OPEN && !o.ended)
        probe(&c, app);
    client_close(&c);
    assert_int_equal(redd_http_server_connections(b->server), 0);
    outcome_free(&o);
}

static inline void run_row(bed *b, rows_app *app, const row *r)
{
    bytes input = {0};
    input_of(r, &input);
    size_t n = input.len, step = n <= CUT_EVERYWHERE ? 1 : n / 23 + 1;
    run_cut(b, app, r, &input, (cut){n, n, false});
    run_cut(b, app, r, &input, (cut){n, n, true});
    for (size_t at = 1; at < n; at += step)
        run_cut(b, app, r, &input, (cut){at, n, false});
    if (n <= BYTEWISE)
        run_cut(b, app, r, &input, (cut){1, 1, false});
    else
        run_cut(b, app, r, &input, (cut){997, 4096, false});
    bytes_free(&input);
}

static inline void test_in_memory(void **state)
{
    const row_table *table = *state;
    bed b;
    rows_app app = {0};
    bed_begin(&b, CONFORMANCE_HANDLER, &app);
    CONFORMANCE_BEGIN(&b, &app);
    b.options.connect = table->connect;
    bed_serve_anew(&b, CONFORMANCE_HANDLER, &app);
    for (size_t i = 0; i < table->n; i++)
        run_row(&b, &app, &table->rows[i]);
    rows_app_free(&app);
    bed_end(&b);
}

/* --- over TCP --- */

/* Until as many responses have come as the row wants, and the end where there is to be one. */
static inline bool has_come(client *c, const row *r, bool closed)
{
    outcome now = {.requests = 0};
    bytes wanted = {0};
    wanted_statuses(r, &wanted);
    (void)client_take(c, SIZE_MAX);
    read_replies(r, c, &now);
    bool enough = now.statuses.len >= wanted.len;
    outcome_free(&now);
    bytes_free(&wanted);
    return c->eof || c->reset || (!closed && enough);
}

static inline void put_over_tcp(client *c, const bytes *input, size_t size)
{
    for (size_t off = 0; off < input->len && !client_ended(c); off += size) {
        size_t n = input->len - off < size ? input->len - off : size;
        assert_int_equal(client_put(c, input->data + off, n), n);
        bed_turns(c->bed, 1);
        (void)client_take(c, SIZE_MAX);
    }
}

/* In segments of `size` bytes; what waits for more is told that there is none. */
static inline void run_over_tcp(bed *b, rows_app *app, const row *r, uint16_t port, size_t size)
{
    client c;
    outcome o = {.requests = 0};
    bytes input = {0};
    bool closed = r->fate != OPEN;
    input_of(r, &input);
    (void)snprintf(o.trace, sizeof o.trace, "over TCP in segments of %zu bytes", size);
    if (input.len <= size || input.len <= BYTEWISE_TCP) {
        rows_app_clear(app);
        tcp_connect(b, &c, port);
        put_over_tcp(&c, &input, size);
        if (r->fate == WAITS)
            assert_int_equal(redd_stream_shutdown(c.stream), 0);
        UNTIL(b, has_come(&c, r, closed));
        observe(r, &c, app, &o);
        judge(r, &o, closed);
        tcp_disconnect(&c);
        UNTIL(b, redd_http_server_connections(b->server) == 0);
    }
    bytes_free(&input);
    outcome_free(&o);
}

static inline void test_over_tcp(void **state)
{
    const row_table *table = *state;
    bed b;
    rows_app app = {0};
    redd_listener *listener;
    uint16_t port = tcp_listen(&b, &listener);
    b.options.connect = table->connect;
    CONFORMANCE_BEGIN(&b, &app);
    assert_int_equal(bed_try_serve(&b, listener, CONFORMANCE_HANDLER, &app), 0);
    for (size_t i = 0; i < table->n; i++) {
        run_over_tcp(&b, &app, &table->rows[i], port, WHOLE_TCP);
        run_over_tcp(&b, &app, &table->rows[i], port, 1);
    }
    tcp_end(&b, listener);
    rows_app_free(&app);
}

static inline int conformance_main(void)
{
    struct CMUnitTest tests[2 * N_ROW_TABLES];
    for (size_t i = 0; i < N_ROW_TABLES; i++) {
        void *table = (void *)(uintptr_t)&row_tables[i];
        tests[2 * i] = (struct CMUnitTest){row_tables[i].name, test_in_memory, NULL, NULL, table};
        tests[2 * i + 1] = (struct CMUnitTest){"over TCP", test_over_tcp, NULL, NULL, table};
    }
    (void)alarm(100); /* a wait for what does not come ends the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
