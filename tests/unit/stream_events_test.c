/* SPDX-License-Identifier: MIT */
/** Streams: who is woken when, the same over TCP and in memory. */
#include "tests/unit/stream_fixture.h"

#include <sys/eventfd.h>
#include <sys/resource.h>

static void reset_is_an_error(ends *e, unsigned interest)
{
    size_t n;
    redd_stream_interest(e->s[1], interest);
    close_end(e, 0, true);
    UNTIL(e->f, e->c[1].wakes > 0 && e->s[1]->ready == (REDD_STREAM_READ | REDD_STREAM_WRITE |
                                                        REDD_STREAM_HANGUP | REDD_STREAM_RESET));
    assert_int_equal(read_end(e, 1, &n), UV_ECONNRESET);
    assert_int_equal(read_end(e, 1, &n), 0);
    assert_int_equal(n, 0);
    assert_int_equal(write_text(e->s[1], "x"), UV_EPIPE);
    assert_quiet(e);
}

static void reset_while_reading(ends *e)
{
    reset_is_an_error(e, REDD_STREAM_READ);
}

static void reset_while_listening_for_hangup(ends *e)
{
    reset_is_an_error(e, REDD_STREAM_HANGUP);
}

/** What was there before the reset, if the system still gives it, and the reset follow each other
 *  without a wait in between. */
static void reset_behind_bytes(ends *e)
{
    char buf[64];
    size_t n;
    int rc;
    redd_stream_interest(e->s[1], REDD_STREAM_HANGUP);
    assert_int_equal(write_text(e->s[0], "bytes"), 0);
    close_end(e, 0, true);
    until_ready(e, 1, REDD_STREAM_HANGUP);
    do
        rc = redd_stream_read(e->s[1], buf, sizeof(buf), &n);
    while (rc == 0 && n > 0);
    assert_int_equal(rc, UV_ECONNRESET);
}

static void reset_while_idle(ends *e)
{
    close_end(e, 0, true);
    UNTIL(e->f, e->c[1].wakes > 0); /* although nobody asked */
    assert_true(e->s[1]->ready & REDD_STREAM_RESET);
    size_t n;
    assert_int_equal(read_end(e, 1, &n), UV_ECONNRESET);
}

static void reset_then_new_interest(ends *e)
{
    redd_stream_interest(e->s[1], REDD_STREAM_HANGUP);
    close_end(e, 0, true);
    UNTIL(e->f, e->c[1].wakes > 0);
    unsigned wakes = e->c[1].wakes;
    redd_stream_interest(e->s[1], REDD_STREAM_READ);
    assert_true(e->c[1].wakes > wakes || (turn(e->f), e->c[1].wakes > wakes));
    assert_int_equal(write_text(e->s[1], "x"), UV_ECONNRESET); /* told once, by either call */
}

static void hangup_is_told_once(ends *e)
{
    redd_stream_interest(e->s[1], REDD_STREAM_HANGUP);
    assert_int_equal(write_text(e->s[0], "unread"), 0);
    turns(e->f, 5);
    assert_int_equal(e->c[1].wakes, 0);
    assert_int_equal(redd_stream_shutdown(e->s[0]), 0);
    UNTIL(e->f, e->c[1].wakes > 0);
    assert_true(e->s[1]->ready & REDD_STREAM_HANGUP);
    assert_quiet(e);
    assert_int_equal(e->c[1].wakes, 1);
    redd_stream_interest(e->s[1], 0);
    redd_stream_interest(e->s[1], REDD_STREAM_HANGUP); /* to who asks anew, once more */
    UNTIL(e->f, e->c[1].wakes > 1);
    redd_stream_interest(e->s[1], REDD_STREAM_HANGUP | REDD_STREAM_WRITE);
    assert_quiet(e);
    assert_int_equal(e->c[1].wakes, 3);
    redd_stream_interest(e->s[1], REDD_STREAM_HANGUP);
    assert_quiet(e);
    assert_int_equal(e->c[1].wakes, 3);
    redd_stream_interest(e->s[1], REDD_STREAM_READ); /* what came before it is still there */
    expect_text(e, 1, "unread");
    assert_eof(e, 1);
}

static void pause_and_resume(ends *e)
{
    redd_stream_interest(e->s[1], REDD_STREAM_READ);
    assert_int_equal(write_text(e->s[0], "a"), 0);
    expect_text(e, 1, "a");
    unsigned wakes = e->c[1].wakes;
    redd_stream_interest(e->s[1], 0);
    assert_int_equal(write_text(e->s[0], "b"), 0);
    turns(e->f, 5);
    assert_int_equal(e->c[1].wakes, wakes);
    assert_quiet(e);
    redd_stream_interest(e->s[1], REDD_STREAM_READ);
    UNTIL(e->f, e->c[1].wakes > wakes);
    expect_text(e, 1, "b");
}

/** From READ to HANGUP and back while nothing comes, and with the end coming in between. */
static void reading_turns_into_listening(ends *e)
{
    redd_stream_interest(e->s[1], REDD_STREAM_READ);
    turn(e->f);
    redd_stream_interest(e->s[1], REDD_STREAM_HANGUP);
    assert_int_equal(write_text(e->s[0], "later"), 0);
    turns(e->f, 5);
    assert_int_equal(e->c[1].wakes, 0);
    assert_quiet(e);
    assert_int_equal(redd_stream_shutdown(e->s[0]), 0);
    UNTIL(e->f, e->c[1].wakes > 0);
    assert_true(e->s[1]->ready & REDD_STREAM_HANGUP);
    assert_false(e->s[1]->ready & REDD_STREAM_READ);
    assert_quiet(e);
}

/** Bytes that nobody reads are told once, not in every turn, and told again to who asks anew. */
static void told_once(ends *e)
{
    redd_stream_interest(e->s[1], REDD_STREAM_READ);
    assert_int_equal(write_text(e->s[0], "a"), 0);
    UNTIL(e->f, e->s[1]->ready & REDD_STREAM_READ);
    assert_quiet(e);
    assert_int_equal(e->c[1].wakes, 1);
    redd_stream_interest(e->s[1], 0);
    redd_stream_interest(e->s[1], REDD_STREAM_READ | REDD_STREAM_WRITE);
    UNTIL(e->f, e->c[1].wakes > 1);
    assert_quiet(e);
    assert_int_equal(e->c[1].wakes, 2);
    assert_int_equal(write_text(e->s[0], "b"), 0); /* more of it is news */
    UNTIL(e->f, e->c[1].wakes > 2);
    expect_text(e, 1, "ab");
}

static void writable_is_told_once(ends *e)
{
    redd_stream_interest(e->s[1], REDD_STREAM_WRITE);
    UNTIL(e->f, e->c[1].wakes > 0);
    assert_int_equal(write_text(e->s[0], "a"), 0); /* no event of this interest */
    assert_quiet(e);
    assert_int_equal(e->c[1].wakes, 1);
    redd_stream_interest(e->s[1], REDD_STREAM_WRITE | REDD_STREAM_READ);
    expect_text(e, 1, "a");
}

/** What came without an interest in it, and was read all the same, is not told later. */
static void nothing_stale(ends *e)
{
    char buf[64];
    size_t n;
    redd_stream_interest(e->s[1], REDD_STREAM_READ);
    assert_int_equal(write_text(e->s[0], "12345678"), 0);
    until_ready(e, 1, REDD_STREAM_READ);
    assert_int_equal(redd_stream_read(e->s[1], buf, 4, &n), 0);
    redd_stream_interest(e->s[1], 0);
    assert_int_equal(write_text(e->s[0], "9"), 0);
    turns(e->f, 5);
    assert_int_equal(redd_stream_read(e->s[1], buf, sizeof(buf), &n), 0);
    assert_int_equal(n, 5);
    unsigned wakes = e->c[1].wakes;
    redd_stream_interest(e->s[1], REDD_STREAM_READ);
    assert_quiet(e);
    assert_int_equal(e->c[1].wakes, wakes);
    assert_false(e->s[1]->ready & REDD_STREAM_READ);
}

static void close_on_wake(counter *c)
{
    ends *e = c->user;
    int i = (int)(c - e->c);
    redd_stream_close(e->s[i], false);
    e->s[i] = NULL;
}

static void closes_in_its_own_wake(ends *e)
{
    e->c[1].on_wake = close_on_wake;
    e->c[1].user = e;
    redd_stream_interest(e->s[1], REDD_STREAM_READ);
    assert_int_equal(write_text(e->s[0], "knock"), 0);
    UNTIL(e->f, e->c[1].wakes > 0);
    assert_null(e->s[1]);
    assert_int_equal(e->c[1].refs, 0);
    turns(e->f, 3);
    assert_int_equal(e->c[1].wakes, 1);
}

static void close_other_on_wake(counter *c)
{
    ends *e = c->user;
    int other = 1 - (int)(c - e->c);
    redd_stream_close(e->s[other], true);
    e->s[other] = NULL;
}

/** Both ends have events in the same turn, and the first one's wake closes the second. */
static void closes_the_other_in_a_wake(ends *e)
{
    if (e->kind == PAIR)
        return; /* a pair wakes within the call that causes it: there is no batch */
    assert_int_equal(write_text(e->s[0], "x"), 0);
    assert_int_equal(write_text(e->s[1], "x"), 0);
    for (int i = 0; i < 2; i++) {
        e->c[i].on_wake = close_other_on_wake;
        e->c[i].user = e;
        redd_stream_interest(e->s[i], REDD_STREAM_READ);
    }
    UNTIL(e->f, e->c[0].wakes + e->c[1].wakes > 0);
    assert_int_equal(e->c[0].wakes + e->c[1].wakes, 1);
    for (int i = 0; i < 2; i++)
        e->c[i].on_wake = NULL;
}

static void no_waker(ends *e)
{
    redd_stream_wake(e->s[1], NULL);
    assert_int_equal(e->c[1].refs, 0);
    redd_stream_interest(e->s[1], REDD_STREAM_READ | REDD_STREAM_HANGUP);
    assert_int_equal(write_text(e->s[0], "x"), 0);
    until_ready(e, 1, REDD_STREAM_READ);
    close_end(e, 0, true);
    until_ready(e, 1, REDD_STREAM_HANGUP);
}

SCENARIO(reset_while_reading)
SCENARIO(reset_while_listening_for_hangup)
SCENARIO(reset_behind_bytes)
SCENARIO(reset_while_idle)
SCENARIO(reset_then_new_interest)
SCENARIO(hangup_is_told_once)
SCENARIO(pause_and_resume)
SCENARIO(reading_turns_into_listening)
SCENARIO(told_once)
SCENARIO(writable_is_told_once)
SCENARIO(nothing_stale)
SCENARIO(closes_in_its_own_wake)
SCENARIO(closes_the_other_in_a_wake)
SCENARIO(no_waker)

enum { CROWD = 1500 }; /* more than the poller tells in one turn */

typedef struct crowd {
    fixture f;
    redd_stream *s[CROWD];
    counter c[CROWD];
    unsigned wakes;
} crowd;

static void crowd_woken(counter *c)
{
    crowd *all = c->user;
    all->wakes++;
}

static void crowd_close_others(counter *c)
{
    crowd *all = c->user;
    all->wakes++;
    for (int i = 0; i < CROWD; i++) {
        if (&all->c[i] == c)
            continue;
        redd_stream_close(all->s[i], false);
        all->s[i] = NULL;
    }
}

/** Descriptors that are readable from the start. */
static crowd *crowd_begin(void (*on_wake)(counter *c))
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur < CROWD + 100)
        skip();
    crowd *all = calloc(1, sizeof(*all));
    assert_non_null(all);
    fixture_begin(&all->f, 1, true);
    for (int i = 0; i < CROWD; i++) {
        int fd = eventfd(1, EFD_CLOEXEC);
        assert_true(fd >= 0);
        all->c[i] = (counter){.base = {&counter_vt}, .on_wake = on_wake, .user = all};
        assert_int_equal(redd_stream_from_fd(all->f.w, fd, &all->s[i]), 0);
        redd_stream_wake(all->s[i], &all->c[i].base);
        redd_stream_interest(all->s[i], REDD_STREAM_READ);
    }
    return all;
}

static void crowd_end(crowd *all)
{
    for (int i = 0; i < CROWD; i++)
        redd_stream_close(all->s[i], false);
    fixture_end(&all->f);
    free(all);
}

static void test_crowd_is_told_once(void **state)
{
    (void)state;
    crowd *all = crowd_begin(crowd_woken);
    UNTIL(&all->f, all->wakes == CROWD);
    turns(&all->f, 10);
    assert_true(quiet(&all->f));
    assert_int_equal(all->wakes, CROWD);
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(all->c[i].wakes, 1);
    crowd_end(all);
}

static void test_crowd_is_closed_in_a_wake(void **state)
{
    (void)state;
    crowd *all = crowd_begin(crowd_close_others);
    UNTIL(&all->f, all->wakes > 0);
    turns(&all->f, 10);
    assert_int_equal(all->wakes, 1);
    crowd_end(all);
}

/** A descriptor number that is used again in the same turn gets no event of its predecessor. */
static void test_descriptor_reuse(void **state)
{
    (void)state;
    fixture f;
    ends a, b;
    fixture_begin(&f, 1, true);
    open_ends(&a, &f, TCP);
    redd_stream_interest(a.s[1], REDD_STREAM_READ);
    turn(&f);
    assert_int_equal(write_text(a.s[0], "old"), 0);
    int old = ((redd__tcp *)(void *)a.s[1])->fd;
    close_ends(&a);
    open_ends(&b, &f, TCP);
    assert_true(((redd__tcp *)(void *)b.s[0])->fd == old ||
                ((redd__tcp *)(void *)b.s[1])->fd == old);
    for (int i = 0; i < 2; i++)
        redd_stream_interest(b.s[i], REDD_STREAM_READ | REDD_STREAM_HANGUP);
    turns(&f, 5);
    assert_int_equal(b.c[0].wakes + b.c[1].wakes, 0);
    close_ends(&b);
    fixture_end(&f);
}

/** A duplicate of the descriptor, as a child process may have one, outlives the stream: the system
 *  goes on to watch what it names, and must not tell a stream that is gone. */
static void test_duplicate_outlives_the_stream(void **state)
{
    (void)state;
    fixture f;
    ends e;
    fixture_begin(&f, 1, true);
    open_ends(&e, &f, TCP);
    redd_stream_interest(e.s[1], REDD_STREAM_READ);
    turn(&f);
    int duplicate = dup(((redd__tcp *)(void *)e.s[1])->fd);
    assert_true(duplicate >= 0);
    close_end(&e, 1, false);
    assert_int_equal(write_text(e.s[0], "x"), 0);
    assert_true(quiet(&f));
    turns(&f, 3);
    assert_int_equal(e.c[1].wakes, 0);
    assert_int_equal(close(duplicate), 0);
    close_end(&e, 0, false);
    fixture_end(&f);
}

/** An error that passes: a datagram socket's peer that was not there for a while. */
static void test_error_that_passes(void **state)
{
    (void)state;
    fixture f;
    redd_stream *s;
    counter c = COUNTER_INIT;
    struct sockaddr_in name = loopback(0), own;
    socklen_t len = sizeof(name);
    char buf[8];
    size_t n;
    fixture_begin(&f, 1, true);
    int peer = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(peer, (struct sockaddr *)&name, sizeof(name)), 0);
    assert_int_equal(getsockname(peer, (struct sockaddr *)&name, &len), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&own, &len), 0);
    assert_int_equal(close(peer), 0);
    assert_int_equal(redd_stream_from_fd(f.w, fd, &s), 0);
    redd_stream_wake(s, &c.base);
    redd_stream_interest(s, REDD_STREAM_READ);
    assert_int_equal(write_text(s, "there?"), 0);
    UNTIL(&f, c.wakes > 0);
    assert_int_equal(redd_stream_read(s, buf, sizeof(buf), &n), UV_ECONNREFUSED);
    assert_int_equal(redd_stream_read(s, buf, sizeof(buf), &n), UV_EAGAIN);
    peer = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(peer, (struct sockaddr *)&name, sizeof(name)), 0);
    unsigned wakes = c.wakes;
    assert_int_equal(sendto(peer, "yes", 3, 0, (struct sockaddr *)&own, len), 3);
    UNTIL(&f, c.wakes > wakes);
    assert_int_equal(redd_stream_read(s, buf, sizeof(buf), &n), 0);
    assert_int_equal(n, 3);
    assert_int_equal(close(peer), 0);
    redd_stream_close(s, false);
    assert_int_equal(c.refs, 0);
    fixture_end(&f);
}

/** Tasks keep a loop alive; the sockets that they wait for do not. */
static void test_does_not_keep_the_loop(void **state)
{
    (void)state;
    fixture f;
    ends e;
    fixture_begin(&f, 1, true);
    open_ends(&e, &f, TCP);
    redd_stream_interest(e.s[0], REDD_STREAM_READ);
    turn(&f);
    uv_unref((uv_handle_t *)&f.watchdog);
    assert_false(uv_loop_alive(&f.loop));
    uv_ref((uv_handle_t *)&f.watchdog);
    close_ends(&e);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reset_while_reading),
        cmocka_unit_test(test_reset_while_listening_for_hangup),
        cmocka_unit_test(test_reset_behind_bytes),
        cmocka_unit_test(test_reset_while_idle),
        cmocka_unit_test(test_reset_then_new_interest),
        cmocka_unit_test(test_hangup_is_told_once),
        cmocka_unit_test(test_pause_and_resume),
        cmocka_unit_test(test_reading_turns_into_listening),
        cmocka_unit_test(test_told_once),
        cmocka_unit_test(test_writable_is_told_once),
        cmocka_unit_test(test_nothing_stale),
        cmocka_unit_test(test_closes_in_its_own_wake),
        cmocka_unit_test(test_closes_the_other_in_a_wake),
        cmocka_unit_test(test_no_waker),
        cmocka_unit_test(test_crowd_is_told_once),
        cmocka_unit_test(test_crowd_is_closed_in_a_wake),
        cmocka_unit_test(test_descriptor_reuse),
        cmocka_unit_test(test_duplicate_outlives_the_stream),
        cmocka_unit_test(test_error_that_passes),
        cmocka_unit_test(test_does_not_keep_the_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
