/* SPDX-License-Identifier: MIT */
/** Accepting: bursts, pauses, want of descriptors and memory. */
#include "tests/unit/acceptor_fixture.h"

#include "ext/net/tcp.h"

#include <redd/metrics.h>

#include <netinet/tcp.h>
#include <sys/resource.h>

/** The options that the listener gave it, and who is told to be at the other end. */
static void check_stream(redd_stream *stream, kind k, int client)
{
    redd_address peer;
    int fd = ((redd__tcp *)(void *)stream)->fd;
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    redd_stream_peer(stream, &peer);
    assert_int_equal(peer.local, k == UNIX);
    if (k == UNIX) {
        assert_string_equal(peer.host, "");
        return;
    }
    assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_NODELAY), 1);
    assert_int_equal(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    assert_int_equal(peer.port, socket_port(client));
}

static size_t read_some(server *s, redd_stream *stream, char *buf, size_t size)
{
    size_t n;
    redd_stream_interest(stream, REDD_STREAM_READ);
    UNTIL(&s->f, stream->ready & REDD_STREAM_READ);
    assert_int_equal(redd_stream_read(stream, buf, size, &n), 0);
    return n;
}

static void accepts(kind k)
{
    server s;
    redd_stream *stream, *none;
    redd_slice answer = REDD_SLICE("ho");
    char buf[8];
    size_t n;
    server_begin(&s, k);
    int client = dial(s.l);
    turns(&s.f, 5);
    assert_int_equal(redd_acceptor_accepted(s.a), 0); /* not before the first poll */
    stream = accept_one(&s);
    assert_int_equal(redd_acceptor_accepted(s.a), 1);
    check_stream(stream, k, client);

    assert_int_equal(poll_accept(&s, &none), REDD_PENDING);
    assert_true(quiet(&s.f));
    assert_int_equal(s.c.wakes, 0);
    assert_int_equal(write(client, "hi", 2), 2);
    assert_int_equal(read_some(&s, stream, buf, sizeof(buf)), 2);
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    assert_int_equal(read_some(&s, stream, buf, sizeof(buf)), 0);
    assert_int_equal(redd_stream_write(stream, &answer, 1, &n), 0); /* a half-closed one hears us */
    assert_int_equal(read(client, buf, sizeof(buf)), 2);
    redd_stream_close(stream, false);
    assert_int_equal(read(client, buf, sizeof(buf)), 0);
    assert_int_equal(close(client), 0);
    server_end(&s);
}

static void test_accepts(void **state)
{
    (void)state;
    for (kind k = 0; k < N_KINDS; k++)
        accepts(k);
}

/** More than the system takes at once, to a peer that reads late: the rest goes when there is room.
 */
static void writes_all(kind k)
{
    enum { TOTAL = 4 * 1024 * 1024 };
    static char data[TOTAL], got[64 * 1024];
    server s;
    size_t put = 0, taken = 0, n;
    server_begin(&s, k);
    int client = dial(s.l);
    redd_stream *stream = accept_one(&s);
    redd_stream_interest(stream, REDD_STREAM_WRITE);
    for (size_t i = 0; i < TOTAL; i++)
        data[i] = (char)(i % 251);
    while (taken < TOTAL) {
        redd_slice rest = redd_slice_of(data + put, TOTAL - put);
        while (rest.len > 0 && redd_stream_write(stream, &rest, 1, &n) == 0) {
            put += n;
            rest = redd_slice_of(data + put, TOTAL - put);
        }
        ssize_t r = read(client, got, sizeof(got));
        assert_true(r > 0);
        assert_memory_equal(got, data + taken, (size_t)r);
        taken += (size_t)r;
        turn(&s.f);
    }
    redd_stream_close(stream, false);
    assert_int_equal(close(client), 0);
    server_end(&s);
}

static void test_writes_all(void **state)
{
    (void)state;
    writes_all(SHARED);
    writes_all(UNIX);
}

/** A peer that is gone while we write: an error, not a signal. */
static void test_peer_of_a_unix_socket_is_gone(void **state)
{
    (void)state;
    server s;
    size_t n;
    redd_slice answer = REDD_SLICE("ho");
    server_begin(&s, UNIX);
    int client = dial(s.l);
    redd_stream *stream = accept_one(&s);
    assert_int_equal(close(client), 0);
    redd_stream_interest(stream, REDD_STREAM_READ);
    UNTIL(&s.f, stream->ready & REDD_STREAM_READ);
    assert_int_equal(redd_stream_write(stream, &answer, 1, &n), UV_EPIPE);
    redd_stream_close(stream, true);
    server_end(&s);
}

/** A burst takes one call more than it has connections: counted by the wakes. */
static void test_burst(void **state)
{
    (void)state;
    enum { CLIENTS = 50 };
    server s;
    int clients[CLIENTS];
    redd_stream *streams[CLIENTS], *none;
    server_begin(&s, REUSEPORT);
    assert_int_equal(poll_accept(&s, &none), REDD_PENDING);
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = dial(s.l);
    UNTIL(&s.f, s.c.wakes > 0);
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(poll_accept(&s, &streams[i]), REDD_READY);
    assert_int_equal(poll_accept(&s, &none), REDD_PENDING);
    assert_true(quiet(&s.f));
    assert_int_equal(s.c.wakes, 1);
    assert_int_equal(redd_acceptor_accepted(s.a), CLIENTS);
    for (int i = 0; i < CLIENTS; i++) {
        redd_stream_close(streams[i], false);
        assert_int_equal(close(clients[i]), 0);
    }
    server_end(&s);
}

/** A server that accepts no more for now is not driven round the loop by what waits. */
static void test_paused_server_is_quiet(void **state)
{
    (void)state;
    server s;
    redd_stream *stream;
    server_begin(&s, REUSEPORT);
    assert_int_equal(poll_accept(&s, &stream), REDD_PENDING);
    int client = dial(s.l);
    UNTIL(&s.f, s.c.wakes > 0);
    turns(&s.f, 3);
    assert_true(quiet(&s.f));
    assert_int_equal(s.c.wakes, 1);
    redd_stream_close(accept_one(&s), false);
    int second = dial(s.l);
    redd_stream_close(accept_one(&s), false);
    assert_int_equal(close(client), 0);
    assert_int_equal(close(second), 0);
    server_end(&s);
}

/** The backlog outlives the acceptor: the next one gets what came in between. */
static void test_socket_stays_open(void **state)
{
    (void)state;
    server s;
    redd_stream *none;
    server_begin(&s, REUSEPORT);
    assert_int_equal(poll_accept(&s, &none), REDD_PENDING);
    uv_unref((uv_handle_t *)&s.f.watchdog);
    assert_false(uv_loop_alive(&s.f.loop)); /* tasks keep a loop alive, not what they wait for */
    uv_ref((uv_handle_t *)&s.f.watchdog);
    redd_acceptor_close(s.a);
    int client = dial(s.l);
    turns(&s.f, 3);
    assert_int_equal(s.c.wakes, 0);
    assert_int_equal(redd_acceptor_open(s.l, s.f.w, &s.a), 0);
    redd_stream *stream = accept_one(&s);
    redd_stream_close(stream, false);
    assert_int_equal(close(client), 0);
    server_end(&s);
}

static void close_acceptor(counter *c)
{
    server *s = c->user;
    redd_acceptor_close(s->a);
    s->a = NULL;
}

static void test_close_in_its_own_wake(void **state)
{
    (void)state;
    server s;
    redd_stream *none;
    server_begin(&s, REUSEPORT);
    s.c.on_wake = close_acceptor;
    s.c.user = &s;
    assert_int_equal(poll_accept(&s, &none), REDD_PENDING);
    int client = dial(s.l);
    UNTIL(&s.f, s.c.wakes > 0);
    assert_int_equal(close(client), 0);
    server_end(&s);
}

static void test_no_growth(void **state)
{
    (void)state;
    server s;
    redd_allocator_stats before = {0}, after;
    server_begin(&s, REUSEPORT);
    for (int i = 0; i < 1000; i++) {
        int client = dial(s.l);
        redd_stream *stream = accept_one(&s);
        redd_stream_interest(stream, REDD_STREAM_READ);
        turn(&s.f);
        redd_stream_close(stream, i % 2);
        assert_int_equal(close(client), 0);
        turn(&s.f);
        if (i == 10)
            before = fixture_memory(&s.f);
    }
    after = fixture_memory(&s.f);
    assert_int_equal(after.allocations, before.allocations);
    assert_int_equal(after.bytes, before.bytes);
    assert_int_equal(redd_acceptor_accepted(s.a), 1000);
    server_end(&s);
}

/* --- failures to accept --- */

/** Moves the virtual clock on in steps of 10 ms until a connection was accepted. */
static redd_stream *accept_within(server *s, uint64_t ms)
{
    redd_stream *stream = NULL;
    for (uint64_t t = 0; t < ms; t += 10) {
        redd_clock_advance(s->f.clock, 10);
        turn(&s->f);
        if (poll_accept(s, &stream) == REDD_READY)
            return stream;
    }
    return NULL;
}

/** No descriptor is free: rests, logs at most once a second, and loses nobody. */
static void out_of_descriptors(server *s)
{
    enum { CLIENTS = 5 };
    int clients[CLIENTS];
    struct rlimit limit, none_free;
    redd_stream *none, *stream;
    assert_int_equal(poll_accept(s, &none), REDD_PENDING);
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = dial(s->l);
    int probe = dup(clients[0]); /* the lowest free number */
    assert_true(probe >= 0);
    assert_int_equal(close(probe), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none_free = limit;
    none_free.rlim_cur = (rlim_t)probe;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none_free), 0);

    UNTIL(&s->f, s->c.wakes > 0);
    assert_int_equal(poll_accept(s, &none), REDD_PENDING);
    assert_true(quiet(&s->f));
    assert_int_equal(s->c.wakes, 1);
    assert_int_equal(s->f.lines, 1);
    assert_non_null(strstr(s->f.logged, "too many open files"));
    assert_null(accept_within(s, 3000));
    assert_true(s->f.lines >= 3 && s->f.lines <= 4);
    assert_non_null(strstr(s->f.logged, "(10 tries)"));
    unsigned wakes = s->c.wakes;
    assert_true(wakes >= 25 && wakes <= 32); /* ten times a second, not in every turn */
    uint64_t failures = redd_metric_sum(s->f.rt, "redd_net_accept_failures", 0);
    assert_true(failures == wakes || failures == wakes + 1);

    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int i = 0; i < CLIENTS; i++) {
        stream = i == 0 ? accept_within(s, 200) : accept_one(s);
        assert_non_null(stream);
        redd_stream_close(stream, false);
        assert_int_equal(close(clients[i]), 0);
    }
    assert_int_equal(redd_acceptor_accepted(s->a), CLIENTS);
    assert_int_equal(redd_metric_sum(s->f.rt, "redd_net_accepted", 0), CLIENTS);
    assert_int_equal(redd_metric_sum(s->f.rt, "redd_net_accept_failures", 0), failures);
}

static void test_out_of_descriptors(void **state)
{
    (void)state;
    for (kind k = 0; k < N_KINDS; k++) {
        server s;
        server_begin(&s, k);
        out_of_descriptors(&s);
        assert_non_null(
            strstr(s.f.logged, k == UNIX ? " on unix:@redd-test-" : " on 127.0.0.1 port "));
        server_end(&s);
    }
}

/** Out of memory for the stream: the connection stays in the backlog. */
static void test_out_of_memory(void **state)
{
    (void)state;
    server s;
    redd_stream *none, *stream;
    redd_acceptor *a = NULL;
    server_begin(&s, REUSEPORT);
    int client = dial(s.l);
    redd_counting_allocator_fail_at(s.f.counting, 1, true);
    assert_int_equal(redd_acceptor_open(s.l, s.f.w, &a), UV_ENOMEM);
    assert_int_equal(poll_accept(&s, &none), REDD_PENDING);
    assert_int_equal(s.f.lines, 1);
    assert_non_null(strstr(s.f.logged, redd_error_text(UV_ENOMEM)));
    redd_counting_allocator_fail_at(s.f.counting, 0, false);
    turns(&s.f, 3);
    assert_int_equal(poll_accept(&s, &none), REDD_PENDING); /* still resting */
    stream = accept_within(&s, 200);
    assert_non_null(stream);
    redd_stream_close(stream, false);
    assert_int_equal(close(client), 0);
    server_end(&s);
}

/** Closed while it rests: the timer must not fire. */
static void test_close_while_resting(void **state)
{
    (void)state;
    server s;
    redd_stream *none;
    server_begin(&s, REUSEPORT);
    redd_counting_allocator_fail_at(s.f.counting, 1, true);
    assert_int_equal(poll_accept(&s, &none), REDD_PENDING);
    redd_counting_allocator_fail_at(s.f.counting, 0, false);
    redd_acceptor_close(s.a);
    s.a = NULL;
    turn(&s.f); /* its memory is gone */
    redd_clock_advance(s.f.clock, 1000);
    turns(&s.f, 3);
    assert_int_equal(s.c.wakes, 0);
    server_end(&s);
}

/** A client that is gone before it was accepted costs nothing but its own connection. */
static void test_client_resets_in_the_backlog(void **state)
{
    (void)state;
    server s;
    redd_stream *stream;
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    server_begin(&s, REUSEPORT);
    int gone = dial(s.l);
    assert_int_equal(setsockopt(gone, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
    assert_int_equal(close(gone), 0);
    int client = dial(s.l);
    assert_int_equal(write(client, "x", 1), 1);
    for (bool served = false; !served;) { /* Linux hands the dead one out, others do not */
        char byte;
        size_t n;
        stream = accept_one(&s);
        redd_stream_interest(stream, REDD_STREAM_READ);
        UNTIL(&s.f, stream->ready & REDD_STREAM_READ);
        served = redd_stream_read(stream, &byte, 1, &n) == 0 && n == 1;
        redd_stream_close(stream, false);
    }
    assert_int_equal(close(client), 0);
    assert_int_equal(s.f.lines, 0);
    server_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepts),
        cmocka_unit_test(test_writes_all),
        cmocka_unit_test(test_peer_of_a_unix_socket_is_gone),
        cmocka_unit_test(test_burst),
        cmocka_unit_test(test_paused_server_is_quiet),
        cmocka_unit_test(test_socket_stays_open),
        cmocka_unit_test(test_close_in_its_own_wake),
        cmocka_unit_test(test_no_growth),
        cmocka_unit_test(test_out_of_descriptors),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_close_while_resting),
        cmocka_unit_test(test_client_resets_in_the_backlog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
