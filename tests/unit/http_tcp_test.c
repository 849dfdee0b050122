/* SPDX-License-Identifier: MIT */
/** What sockets do that the in-memory pair cannot show: resets, half-closes, full buffers, and
 * bytes that the system holds and the loop has not seen. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_tcp.h"

#define GET  "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
#define POST "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n"

/** Does what the test says with each request. */
typedef struct hold {
    redd_http_request *req; /* the last that was kept, by a reference until its end */
    bool answer, stream;
    size_t size, left; /* of a streamed response */
    unsigned requests, ends, drains;
    int end_status;
} hold;

static void on_end(redd_http_request *req, int status, void *user)
{
    hold *h = user;
    h->ends++;
    h->end_status = status;
    if (!h->answer && !h->stream)
        redd_http_request_unref(req);
}

static void pump(redd_http_request *req, void *user)
{
    static const char piece[10000] = {0};
    hold *h = user;
    h->drains++;
    int rc = 0;
    while (h->left > 0 && rc == 0) {
        size_t n = h->left < sizeof piece ? h->left : sizeof piece;
        rc = redd_http_write(req, redd_slice_of(piece, n));
        assert_in_range(rc, 0, REDD_HTTP_FULL);
        h->left -= n;
    }
    if (h->left == 0 && rc == 0)
        assert_int_equal(redd_http_finish(req), 0);
}

static void on_request(redd_http_request *req, void *user)
{
    hold *h = user;
    h->requests++;
    redd_http_on_end(req, on_end, h);
    if (h->answer) {
        assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
    } else if (h->stream) {
        h->left = h->size;
        redd_http_on_drain(req, pump, h);
        assert_int_equal(redd_http_start(req, 200, NULL, 0, (int64_t)h->size), 0);
        pump(req, h);
    } else {
        h->req = redd_http_request_ref(req);
    }
}

typedef struct setting {
    bed b;
    redd_listener *listener;
    uint16_t port;
    hold h;
} setting;

static void setting_begin(setting *s, hold h)
{
    memset(s, 0, sizeof *s);
    s->h = h;
    s->port = tcp_begin(&s->b, &s->listener, on_request, &s->h);
}

static void setting_end(setting *s)
{
    UNTIL(&s->b, !s->b.server || redd_http_server_connections(s->b.server) == 0);
    assert_int_equal(s->h.ends, s->h.requests);
    tcp_end(&s->b, s->listener);
}

static void put_all(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void reset(int fd)
{
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
    assert_int_equal(close(fd), 0);
}

/* Reads what is there; -1: nothing yet, 0: the end. */
static ssize_t take(int fd, bytes *got)
{
    char buf[4096];
    ssize_t n = recv(fd, buf, sizeof buf, MSG_DONTWAIT);
    if (n > 0)
        bytes_add(got, buf, (size_t)n);
    return n;
}

/* --- tests --- */

static void check_reset_while_working(const char *request, const char *more)
{
    setting s;
    setting_begin(&s, (hold){0});
    int fd = tcp_socket(s.port, 0);
    put_all(fd, request);
    UNTIL(&s.b, s.h.req);
    put_all(fd, more);
    reset(fd);
    UNTIL(&s.b, s.h.ends == 1);
    assert_int_equal(s.h.end_status, UV_ECONNRESET);
    setting_end(&s);
}

/** Also where bytes that nobody has asked for stand before the reset. */
static void test_reset_while_working(void **state)
{
    (void)state;
    check_reset_while_working(GET, "");
    check_reset_while_working(GET, GET GET);
    check_reset_while_working(POST, "");
    check_reset_while_working(POST, "hello" GET);
}

static void test_half_close_while_working(void **state)
{
    (void)state;
    setting s;
    bytes got = {0};
    setting_begin(&s, (hold){0});
    int fd = tcp_socket(s.port, 0);
    put_all(fd, GET);
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    UNTIL(&s.b, s.h.req);
    bed_turns(&s.b, 20);
    assert_int_equal(s.h.ends, 0);
    assert_int_equal(redd_http_respond_text(s.h.req, 200, "still"), 0);
    UNTIL(&s.b, take(fd, &got) == 0);
    assert_true(got.len > 5 && memcmp(got.data + got.len - 5, "still", 5) == 0);
    assert_int_equal(s.h.end_status, 0);
    assert_int_equal(close(fd), 0);
    bytes_free(&got);
    setting_end(&s);
}

/** A request that the system has, and the loop has not looked at, is answered before the server
 * goes; so is not one that comes later. */
static void test_close_with_a_request_in_the_socket(void **state)
{
    (void)state;
    setting s;
    bytes got = {0};
    setting_begin(&s, (hold){.answer = true});
    int fd = tcp_socket(s.port, 0);
    put_all(fd, GET);
    UNTIL(&s.b, s.h.ends == 1 && take(fd, &got) > 0);
    bytes_clear(&got);
    put_all(fd, GET);
    redd_http_server_close(s.b.server, REDD_STOP_GRACEFUL);
    UNTIL(&s.b, take(fd, &got) == 0);
    assert_int_equal(s.h.requests, 2);
    assert_non_null(got.data);
    assert_non_null(strstr(got.data, "Connection: close\r\n"));
    assert_int_equal(close(fd), 0);
    UNTIL(&s.b, !s.b.server);
    bytes_free(&got);
    setting_end(&s);
}

/** The last response reaches a peer that goes on sending: the server lingers. */
static void test_linger_while_the_peer_sends(void **state)
{
    (void)state;
    setting s;
    bytes got = {0};
    static const char noise[8192] = {'n'};
    setting_begin(&s, (hold){.answer = true});
    int fd = tcp_socket(s.port, 0);
    put_all(fd, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n");
    for (int i = 0; i < 40; i++) {
        assert_int_equal(send(fd, noise, sizeof noise, MSG_NOSIGNAL), sizeof noise);
        bed_turns(&s.b, 3);
    }
    UNTIL(&s.b, take(fd, &got) == 0);
    assert_true(got.len > 12 && memcmp(got.data, "HTTP/1.1 200", 12) == 0);
    assert_int_equal(close(fd), 0);
    bytes_free(&got);
    setting_end(&s);
}

static void test_stream_to_a_slow_reader(void **state)
{
    (void)state;
    setting s;
    bytes got = {0};
    setting_begin(&s, (hold){.stream = true, .size = 8 << 20});
    uint64_t before = bed_memory(&s.b).bytes;
    int fd = tcp_socket(s.port, 4096);
    put_all(fd, GET);
    UNTIL(&s.b, s.h.drains > 0);
    bed_turns(&s.b, 50);
    assert_true(s.h.left > 0);
    ssize_t n = 1;
    while (n != 0) {
        n = take(fd, &got);
        bed_turns(&s.b, 1);
        assert_true(bed_memory(&s.b).bytes - before < 3 << 20);
        if (got.len >= s.h.size && s.h.ends)
            break;
    }
    while (take(fd, &got) > 0)
        ;
    assert_int_equal(s.h.end_status, 0);
    assert_true(s.h.drains > 1);
    assert_in_range(got.len, s.h.size + 50, s.h.size + 500);
    assert_int_equal(close(fd), 0);
    bytes_free(&got);
    setting_end(&s);
}

static void test_reset_of_a_slow_reader(void **state)
{
    (void)state;
    setting s;
    setting_begin(&s, (hold){.stream = true, .size = 64 << 20});
    int fd = tcp_socket(s.port, 4096);
    put_all(fd, GET);
    UNTIL(&s.b, s.h.drains > 0);
    bed_turns(&s.b, 50);
    assert_int_equal(s.h.ends, 0);
    reset(fd);
    UNTIL(&s.b, s.h.ends == 1);
    assert_true(s.h.end_status == UV_ECONNRESET || s.h.end_status == UV_EPIPE);
    setting_end(&s);
}

/** The loop was busy until the time was over: what the system has is looked at before anything is
 * judged. */
static void test_never_judged_unread(void **state)
{
    (void)state;
    static const struct {
        const char *first, *rest;
        uint64_t ms;
    } rows[] = {
        {"GET / HTTP/1.1\r\n", "Host: h\r\n\r\n", 30000},
        {GET, GET, 75000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setting s;
        bytes got = {0};
        setting_begin(&s, (hold){.answer = true});
        int fd = tcp_socket(s.port, 0);
        put_all(fd, rows[i].first);
        UNTIL(&s.b, redd_http_server_connections(s.b.server) == 1);
        bed_turns(&s.b, 4);
        unsigned before = s.h.requests;
        put_all(fd, rows[i].rest);
        redd_clock_advance(s.b.clock, rows[i].ms);
        bed_turns(&s.b, 4);
        assert_int_equal(s.h.requests, before + 1);
        assert_true(take(fd, &got) > 12);
        assert_memory_equal(got.data, "HTTP/1.1 200", 12);
        assert_int_equal(redd_http_server_connections(s.b.server), 1);
        assert_int_equal(close(fd), 0);
        bytes_free(&got);
        setting_end(&s);
    }
}

/** Nor is a peer that has read in the meantime. */
static void test_never_judged_unwritten(void **state)
{
    (void)state;
    setting s;
    bytes got = {0};
    setting_begin(&s, (hold){.stream = true, .size = 64 << 20});
    int fd = tcp_socket(s.port, 4096);
    put_all(fd, GET);
    UNTIL(&s.b, s.h.drains > 0);
    bed_turns(&s.b, 50);
    while (take(fd, &got) > 0 || got.len < 100000)
        ;
    redd_clock_advance(s.b.clock, 30000);
    bed_turns(&s.b, 4);
    assert_int_equal(s.h.ends, 0);
    reset(fd);
    bytes_free(&got);
    setting_end(&s);
}

/** Resets at each place of a conversation leave nothing. */
static void test_reset_at_every_byte(void **state)
{
    (void)state;
    static const char input[] = POST "hello" GET;
    for (int answer = 0; answer < 2; answer++) {
        setting s;
        setting_begin(&s, (hold){.answer = answer});
        for (size_t cut = 1; cut < sizeof input; cut++) {
            int fd = tcp_socket(s.port, 0);
            assert_int_equal(send(fd, input, cut, MSG_NOSIGNAL), cut);
            bed_turns(&s.b, (int)(cut % 4));
            reset(fd);
            UNTIL(&s.b, redd_http_server_connections(s.b.server) == 0);
        }
        setting_end(&s);
    }
}

static void test_many_clients(void **state)
{
    (void)state;
    enum { CLIENTS = 100 };
    setting s;
    client c[CLIENTS];
    setting_begin(&s, (hold){.answer = true});
    for (int i = 0; i < CLIENTS; i++)
        tcp_connect(&s.b, &c[i], s.port);
    for (unsigned round = 1; round <= 3; round++) {
        for (int i = 0; i < CLIENTS; i++)
            assert_int_equal(client_put(&c[i], GET, strlen(GET)), strlen(GET));
        UNTIL(&s.b, s.h.ends == round * CLIENTS);
    }
    assert_int_equal(redd_http_server_connections(s.b.server), CLIENTS);
    for (int i = 0; i < CLIENTS; i++)
        tcp_disconnect(&c[i]);
    setting_end(&s);
}

/** What an idle connection costs: itself, its stream and its task, and no buffer. */
static void test_idle_memory(void **state)
{
    (void)state;
    enum { CLIENTS = 100 };
    setting s;
    int fds[CLIENTS];
    bytes got = {0};
    setting_begin(&s, (hold){.answer = true});
    uint64_t before = bed_memory(&s.b).bytes;
    for (unsigned i = 0; i < CLIENTS; i++) {
        fds[i] = tcp_socket(s.port, 0);
        put_all(fds[i], GET);
        UNTIL(&s.b, take(fds[i], &got) > 0);
    }
    bed_settle(&s.b);
    uint64_t each = (bed_memory(&s.b).bytes - before) / CLIENTS;
    print_message("%u bytes for an idle connection\n", (unsigned)each);
    assert_in_range(each, 1, 1024);
    for (unsigned i = 0; i < CLIENTS; i++)
        assert_int_equal(close(fds[i]), 0);
    bytes_free(&got);
    setting_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reset_while_working),
        cmocka_unit_test(test_half_close_while_working),
        cmocka_unit_test(test_close_with_a_request_in_the_socket),
        cmocka_unit_test(test_linger_while_the_peer_sends),
        cmocka_unit_test(test_stream_to_a_slow_reader),
        cmocka_unit_test(test_reset_of_a_slow_reader),
        cmocka_unit_test(test_never_judged_unread),
        cmocka_unit_test(test_never_judged_unwritten),
        cmocka_unit_test(test_reset_at_every_byte),
        cmocka_unit_test(test_many_clients),
        cmocka_unit_test(test_idle_memory),
    };
    (void)alarm(100); /* a wait for what does not come ends the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
