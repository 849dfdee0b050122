/* SPDX-License-Identifier: MIT */
/** What goes wrong at a bad moment: resets that nobody reads, outputs that fail, timers and stops
 * that meet, and memory that ends. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_tcp.h"

#include <redd/timer.h>

#define GET     "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
#define UPGRADE "GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"

enum { BIG = 10 << 20 };
static char big[BIG]; /* a body, of NUL bytes */

/** A handler that keeps what it does not answer for the test. */
typedef struct hold {
    redd_http_request *req; /* a reference, which the test drops */
    size_t first;           /* > 0: the first request is answered with so many bytes */
    unsigned requests, ends;
    int end_status;
    redd_address peer; /* as the end function saw it */
} hold;

static void on_end(redd_http_request *req, int status, void *user)
{
    hold *h = user;
    h->ends++;
    h->end_status = status;
    redd_http_peer(req, &h->peer);
}

static void on_request(redd_http_request *req, void *user)
{
    hold *h = user;
    if (h->requests++ == 0 && h->first > 0) {
        redd_slice body = redd_slice_of(big, h->first);
        assert_int_equal(redd_http_respond_typed(req, 200, "text/plain", body), 0);
        return;
    }
    redd_http_on_end(req, on_end, h);
    h->req = redd_http_request_ref(req);
}

static void drop(hold *h)
{
    redd_http_request_unref(h->req);
    h->req = NULL;
}

/* --- resets behind what nobody reads --- */

static const struct {
    bool finish;    /* the peer ends its sending side before it resets */
    size_t pending; /* bytes behind the request */
} reset_rows[] = {{true, 0}, {false, 200000}, {true, 100000}};

enum { RESET_ROWS = sizeof reset_rows / sizeof *reset_rows };

static void test_reset_over_a_pair(void **state)
{
    (void)state;
    for (size_t i = 0; i < RESET_ROWS; i++) {
        bed b;
        client c;
        hold h = {0};
        bed_begin(&b, on_request, &h);
        client_open_sized(&b, &c, 256 << 10);
        assert_int_equal(client_put(&c, GET, strlen(GET)), strlen(GET));
        assert_int_equal(client_put(&c, big, reset_rows[i].pending), reset_rows[i].pending);
        bed_settle(&b);
        if (reset_rows[i].finish)
            client_finish(&c);
        assert_non_null(h.req);
        assert_int_equal(h.ends, 0);
        client_go(&c, true);
        assert_int_equal(h.ends, 1);
        assert_int_equal(h.end_status, UV_ECONNRESET);
        assert_int_equal(redd_http_server_connections(b.server), 0);
        drop(&h);
        client_close(&c);
        bed_end(&b);
    }
}

static void send_pending(bed *b, int fd, size_t n)
{
    while (n > 0) {
        ssize_t put = send(fd, big, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        assert_true(put > 0); /* socket buffers have room for all of it */
        n -= (size_t)put;
        bed_turns(b, 2);
    }
    bed_turns(b, 20);
}

static void reset(int fd)
{
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
    assert_int_equal(close(fd), 0);
}

static void put_get(int fd)
{
    assert_int_equal(send(fd, GET, strlen(GET), MSG_NOSIGNAL), strlen(GET));
}

static void test_reset_over_tcp(void **state)
{
    (void)state;
    for (size_t i = 0; i < RESET_ROWS; i++) {
        bed b;
        redd_listener *listener;
        hold h = {0};
        int fd = tcp_socket(tcp_begin(&b, &listener, on_request, &h), 0);
        put_get(fd);
        send_pending(&b, fd, reset_rows[i].pending);
        if (reset_rows[i].finish)
            assert_int_equal(shutdown(fd, SHUT_WR), 0);
        UNTIL(&b, h.req);
        bed_turns(&b, 20);
        assert_int_equal(h.ends, 0);
        reset(fd);
        UNTIL(&b, h.ends == 1);
        assert_int_equal(h.end_status, UV_ECONNRESET);
        drop(&h);
        tcp_end(&b, listener);
    }
}

/* --- output that waits, and output that fails --- */

typedef struct later {
    redd_timer timer;
    hold h;
    redd_http_upgraded up;
    int rc;
} later;

static void answer_big(redd_timer *t, void *user)
{
    later *l = user;
    (void)t;
    l->rc = redd_http_respond(l->h.req, 200, NULL, 0, redd_slice_of(big, BIG));
}

static void test_a_large_response_behind_one_that_waits(void **state)
{
    (void)state;
    bed b;
    client c;
    reply r;
    later l = {.h.first = 5000, .rc = 1};
    bed_begin(&b, on_request, &l.h);
    client_open_sized(&b, &c, 4096);
    redd_timer_init(&l.timer, redd_worker_timers(b.w), answer_big, &l);
    redd_timer_start(&l.timer, 10);
    client_put(&c, GET GET, 2 * strlen(GET));
    bed_settle(&b);
    assert_non_null(l.h.req);
    redd_clock_advance(b.clock, 10);
    bed_settle(&b);
    assert_int_equal(l.rc, 0);
    client_settle(&c);
    reply_begin(&r, &c);
    assert_true(reply_next(&r));
    assert_true(bytes_are(&r.body, big, 5000));
    assert_true(reply_next(&r));
    assert_true(bytes_are(&r.body, big, BIG));
    assert_true(reply_at_end(&r));
    reply_end(&r);
    assert_int_equal(l.h.ends, 1);
    assert_int_equal(l.h.end_status, 0);
    drop(&l.h);
    client_close(&c);
    bed_end(&b);
}

static void upgrade(redd_timer *t, void *user)
{
    later *l = user;
    (void)t;
    l->rc = redd_http_upgrade(l->h.req, "x", NULL, 0, &l->up);
}

static void expect_200_and_101(client *c, later *l)
{
    reply r;
    while (redd_output_flush(&l->up.output) == UV_EAGAIN)
        assert_true(client_take(c, SIZE_MAX) > 0);
    (void)client_take(c, SIZE_MAX);
    reply_begin(&r, c);
    assert_true(reply_next(&r));
    assert_int_equal(r.status, 200);
    assert_true(reply_next(&r));
    assert_int_equal(r.status, 101);
    assert_true(reply_at_end(&r));
    reply_end(&r);
}

/** The deadline of the response that waits, and the upgrade, in this order and in the other. */
static void test_upgrade_at_the_write_deadline(void **state)
{
    (void)state;
    for (int deadline_first = 0; deadline_first < 2; deadline_first++) {
        bed b;
        client c;
        later l = {.h.first = 5000, .rc = 1};
        bed_begin(&b, on_request, &l.h);
        client_open_sized(&b, &c, 4096);
        redd_timer_init(&l.timer, redd_worker_timers(b.w), upgrade, &l);
        redd_timer_start(&l.timer, b.options.write_timeout_ms);
        client_put(&c, GET UPGRADE, strlen(GET UPGRADE));
        bed_settle(&b);
        if (deadline_first)
            redd_timer_start(&l.timer, b.options.write_timeout_ms);
        redd_clock_advance(b.clock, b.options.write_timeout_ms);
        bed_settle(&b);
        assert_int_equal(l.rc, 0);
        assert_int_equal(l.h.end_status, 0);
        expect_200_and_101(&c, &l);
        assert_int_equal(redd_http_server_connections(b.server), 0);
        redd_output_fini(&l.up.output);
        redd_stream_close(l.up.stream, false);
        drop(&l.h);
        client_close(&c);
        bed_end(&b);
    }
}

/** A handler whose peer resets the connection under its first response. */
typedef struct failing {
    client c;
    hold h;
    size_t size;
    int64_t length; /* of a streamed response */
    unsigned refused;
    int rc;
} failing;

static void lose_peer(failing *f)
{
    if (f->c.stream)
        redd_stream_close(f->c.stream, true);
    f->c.stream = NULL;
}

static void respond_to_nobody(redd_http_request *req, void *user)
{
    failing *f = user;
    lose_peer(f);
    f->h.requests++;
    f->rc = redd_http_respond(req, 200, NULL, 0, redd_slice_of(big, f->size));
    f->refused += f->rc != 0;
}

/** Bodies that are gathered with their heads, and larger ones. */
static void test_respond_on_a_failed_output(void **state)
{
    (void)state;
    static const size_t sizes[] = {16000, 20000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bed b;
        failing f = {.size = sizes[i]};
        bytes input = {0};
        bed_begin(&b, respond_to_nobody, &f);
        client_open(&b, &f.c);
        for (int n = 0; n < 20; n++)
            bytes_text(&input, GET);
        client_put(&f.c, input.data, input.len);
        bed_settle(&b);
        assert_in_range(f.h.requests, 1, 19);
        assert_int_equal(f.refused, 1);
        assert_int_equal(f.rc, REDD_ECLOSED);
        assert_int_equal(b.warnings, 0);
        assert_int_equal(redd_http_server_connections(b.server), 0);
        bytes_free(&input);
        bed_end(&b);
    }
}

static void stream_to_nobody(redd_http_request *req, void *user)
{
    failing *f = user;
    redd_http_on_end(req, on_end, &f->h);
    assert_int_equal(redd_http_start(req, 200, NULL, 0, f->length), 0);
    lose_peer(f);
    for (int n = 0; n < 100 && f->rc == 0; n++)
        f->rc = redd_http_write(req, redd_slice_of(big, f->size));
    assert_int_equal(f->h.ends, 1);
}

static void test_write_on_a_failed_output(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        bed b;
        failing f = {.size = kind & 1 ? 20000 : 5000, .length = kind & 2 ? BIG : -1};
        bed_begin(&b, stream_to_nobody, &f);
        client_open(&b, &f.c);
        client_put(&f.c, GET, strlen(GET));
        bed_settle(&b);
        assert_int_equal(f.rc, REDD_ECLOSED);
        assert_int_equal(f.h.end_status, UV_ECONNRESET);
        assert_int_equal(b.warnings, 0);
        assert_int_equal(redd_http_server_connections(b.server), 0);
        bed_end(&b);
    }
}

/** What a handler does with a request whose connection can no longer answer. */
typedef enum act { DO_NOTHING, DO_RESPOND, DO_START, DO_UPGRADE, ACTS } act;

typedef struct orphan {
    redd_http_request *held[2];
    unsigned requests;
    act act;
    int rc;
} orphan;

static void act_on_third(redd_http_request *req, void *user)
{
    orphan *o = user;
    redd_http_upgraded up;
    if (o->requests < 2)
        o->held[o->requests] = redd_http_request_ref(req);
    else if (o->act == DO_RESPOND)
        o->rc = redd_http_respond_text(req, 200, "ok");
    else if (o->act == DO_START)
        o->rc = redd_http_start(req, 200, NULL, 0, -1);
    else if (o->act == DO_UPGRADE)
        o->rc = redd_http_upgrade(req, "x", NULL, 0, &up);
    o->requests++;
}

/** The first connection's response fails when the second one needs the cork; a request of the first
 * is still in hand then. */
static void test_a_request_behind_a_failed_output(void **state)
{
    (void)state;
    for (int i = DO_NOTHING; i < ACTS; i++) {
        bed b;
        client c[2];
        orphan o = {.act = (act)i, .rc = REDD_ECLOSED};
        bed_begin(&b, act_on_third, &o);
        for (size_t n = 0; n < 2; n++) {
            client_open(&b, &c[n]);
            client_text(&c[n], n == 0 ? GET UPGRADE : GET);
        }
        assert_int_equal(o.requests, 2);
        client_go(&c[0], false);
        for (size_t n = 0; n < 2; n++) {
            assert_int_equal(redd_http_respond_text(o.held[n], 200, "ok"), 0);
            redd_http_request_unref(o.held[n]);
        }
        bed_settle(&b);
        assert_int_equal(o.requests, 3);
        assert_int_equal(o.rc, REDD_ECLOSED);
        assert_int_equal(b.warnings, 0);
        assert_int_equal(redd_http_server_connections(b.server), 1);
        for (size_t n = 0; n < 2; n++)
            client_close(&c[n]);
        bed_end(&b);
    }
}

/* --- ends --- */

enum { RING = 3 };

/** Servers of which each closes the next one when it ends. */
typedef struct ring_server {
    redd_http_server *server; /* NULL: ended */
    struct ring_server *next;
} ring_server;

static void close_next(void *user)
{
    ring_server *s = user;
    s->server = NULL;
    if (s->next->server)
        redd_http_server_close(s->next->server, REDD_STOP_FORCED);
}

static void test_servers_that_close_one_another(void **state)
{
    (void)state;
    for (int mode = REDD_STOP_GRACEFUL; mode <= REDD_STOP_FORCED; mode++) {
        bed b;
        hold h = {0};
        ring_server ring[RING];
        bed_begin(&b, on_request, &h);
        for (size_t i = 0; i < RING; i++) {
            ring[i].next = &ring[(i + 1) % RING];
            assert_int_equal(redd_http_serve(b.w, NULL, NULL, on_request, &h, &ring[i].server), 0);
            redd_http_server_on_end(ring[i].server, close_next, &ring[i]);
        }
        bed_detach(&b, (redd_stop_mode)mode);
        UNTIL(&b, b.gone);
        for (size_t i = 0; i < RING; i++)
            assert_null(ring[i].server);
        assert_null(b.server);
        bed_end(&b);
    }
}

typedef struct starved {
    bed b;
    hold h;
} starved;

static void keep_without_memory(redd_http_request *req, void *user)
{
    starved *s = user;
    on_request(req, &s->h);
    redd_counting_allocator_fail_at(s->b.counting, 1, true);
}

/** Its head lies in the worker's read buffer, or (where it came in two pieces) in memory that goes
 * with the connection: neither may be seen any more. */
static void test_a_head_that_cannot_be_kept(void **state)
{
    (void)state;
    for (int pieces = 1; pieces <= 2; pieces++) {
        starved s = {.h = {0}};
        client c;
        bytes head = {0};
        bed_begin(&s.b, keep_without_memory, &s);
        client_open(&s.b, &c);
        bytes_text(&head, "GET /secret?q HTTP/1.1\r\nHost: h\r\nX: ");
        bytes_fill(&head, 'x', 900);
        bytes_text(&head, "\r\n\r\n");
        client_send_cut(&c, head.data, head.len, pieces == 1 ? head.len : head.len - 2);
        redd_counting_allocator_fail_at(s.b.counting, 0, false);
        assert_non_null(s.h.req);
        assert_int_equal(redd_http_method(s.h.req).len, 0);
        assert_int_equal(redd_http_target(s.h.req).len, 0);
        assert_true(redd_slice_equal(redd_http_path(s.h.req), redd_slice_str("/")));
        assert_int_equal(redd_http_query(s.h.req).len, 0);
        assert_int_equal(redd_http_host(s.h.req).len, 0);
        assert_int_equal(redd_http_field_count(s.h.req), 0);
        assert_null(redd_http_field_get(s.h.req, "x", 0).data);
        assert_int_equal(s.h.ends, 1);
        assert_true(s.h.end_status == UV_ENOMEM || s.h.end_status == UV_ECANCELED);
        assert_true(client_ended(&c));
        drop(&s.h);
        bytes_free(&head);
        client_close(&c);
        bed_end(&s.b);
    }
}

static void answer_watched(redd_http_request *req, void *user)
{
    redd_http_on_end(req, on_end, user);
    assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
}

/** For those who hold no reference, too. */
static void test_peer_in_the_end_function(void **state)
{
    (void)state;
    bed b;
    redd_listener *listener;
    hold h = {0};
    struct sockaddr_in name;
    socklen_t len = sizeof name;
    int fd = tcp_socket(tcp_begin(&b, &listener, answer_watched, &h), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &len), 0);
    put_get(fd);
    UNTIL(&b, h.ends == 1);
    assert_string_equal(h.peer.host, "127.0.0.1");
    assert_int_equal(h.peer.port, ntohs(name.sin_port));
    assert_int_equal(close(fd), 0);
    tcp_end(&b, listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reset_over_a_pair),
        cmocka_unit_test(test_reset_over_tcp),
        cmocka_unit_test(test_a_large_response_behind_one_that_waits),
        cmocka_unit_test(test_upgrade_at_the_write_deadline),
        cmocka_unit_test(test_respond_on_a_failed_output),
        cmocka_unit_test(test_write_on_a_failed_output),
        cmocka_unit_test(test_a_request_behind_a_failed_output),
        cmocka_unit_test(test_servers_that_close_one_another),
        cmocka_unit_test(test_a_head_that_cannot_be_kept),
        cmocka_unit_test(test_peer_in_the_end_function),
    };
    (void)alarm(100); /* a wait for what does not come ends the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
