/* SPDX-License-Identifier: MIT */
/** Two ends of a connection, over TCP or in memory, and what to expect of them. */
#ifndef REDD_TESTS_STREAM_FIXTURE_H
#define REDD_TESTS_STREAM_FIXTURE_H

#include "tests/unit/net_fixture.h"

#include "ext/net/tcp.h"

enum { PAIR_CAPACITY = 8192 };

typedef enum kind { TCP, PAIR, KINDS } kind;

/** A connection whose two ends are streams of one worker. */
typedef struct ends {
    fixture *f;
    kind kind;
    redd_stream *s[2];
    counter c[2];
} ends;

static inline void open_ends(ends *e, fixture *f, kind k)
{
    *e = (ends){.f = f, .kind = k, .c = {COUNTER_INIT, COUNTER_INIT}};
    if (k == PAIR) {
        assert_int_equal(redd_stream_pair(f->w, PAIR_CAPACITY, e->s), 0);
    } else {
        int fds[2];
        tcp_sockets(fds);
        for (int i = 0; i < 2; i++)
            assert_int_equal(redd_stream_from_fd(f->w, fds[i], &e->s[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        redd_stream_wake(e->s[i], &e->c[i].base);
}

static inline void close_end(ends *e, int i, bool reset)
{
    redd_stream_close(e->s[i], reset);
    e->s[i] = NULL;
    assert_int_equal(e->c[i].refs, 0);
}

static inline void close_ends(ends *e)
{
    close_end(e, 0, false);
    close_end(e, 1, false);
    turn(e->f);
}

static inline int write_text(redd_stream *s, const char *text)
{
    redd_slice v = redd_slice_str(text);
    size_t n;
    int rc = redd_stream_write(s, &v, 1, &n);
    if (rc == 0)
        assert_int_equal(n, v.len);
    return rc;
}

static inline void until_ready(ends *e, int i, unsigned event)
{
    UNTIL(e->f, e->s[i]->ready & event);
}

/** Turns that would show an event that is told again and again. */
static inline void assert_quiet(ends *e)
{
    turns(e->f, 5);
    unsigned wakes = e->c[0].wakes + e->c[1].wakes;
    assert_true(quiet(e->f));
    turns(e->f, 20);
    assert_int_equal(e->c[0].wakes + e->c[1].wakes, wakes);
}

static inline void expect_text(ends *e, int i, const char *text)
{
    char buf[256];
    size_t n, want = strlen(text), got = 0;
    assert_true(want < sizeof(buf));
    while (got < want) {
        until_ready(e, i, REDD_STREAM_READ);
        int rc = redd_stream_read(e->s[i], buf + got, sizeof(buf) - got, &n);
        assert_true(rc == 0 || rc == UV_EAGAIN);
        if (rc == 0)
            assert_true(n > 0);
        got += n;
    }
    assert_int_equal(got, want);
    assert_memory_equal(buf, text, want);
}

/** What the next read gives that is not UV_EAGAIN. */
static inline int read_end(ends *e, int i, size_t *n)
{
    char buf[64];
    int rc = UV_EAGAIN;
    while (rc == UV_EAGAIN) {
        until_ready(e, i, REDD_STREAM_READ);
        rc = redd_stream_read(e->s[i], buf, sizeof(buf), n);
    }
    return rc;
}

static inline void assert_eof(ends *e, int i)
{
    size_t n;
    assert_int_equal(read_end(e, i, &n), 0);
    assert_int_equal(n, 0);
    assert_true(e->s[i]->ready & REDD_STREAM_READ);
}

/* --- scenarios: each runs once per kind --- */

typedef void (*scenario)(ends *e);

static inline void run(scenario fn)
{
    for (kind k = TCP; k < KINDS; k++) {
        fixture f;
        ends e;
        fixture_begin(&f, 1, true);
        open_ends(&e, &f, k);
        fn(&e);
        close_ends(&e);
        fixture_end(&f);
    }
}

#define SCENARIO(name)                    \
    static void test_##name(void **state) \
    {                                     \
        (void)state;                      \
        run(name);                        \
    }

#endif
