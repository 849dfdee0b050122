/* SPDX-License-Identifier: MIT */
/** Binding: one port for all workers, and who else may have it. */
#include "tests/unit/listener_fixture.h"

static void test_one_port_for_all_workers(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, 4, false);
    redd_listener *l = listen_on(&f, REDD_BALANCE_REUSEPORT);
    assert_int_equal(redd_listener_balance(l), REDD_BALANCE_REUSEPORT);
    assert_int_equal(l->n, 4);
    for (unsigned i = 0; i < l->n; i++) {
        assert_int_equal(socket_port(l->fds[i]), port_of(l));
        assert_true(fcntl(l->fds[i], F_GETFD) & FD_CLOEXEC);
        assert_true(fcntl(l->fds[i], F_GETFL) & O_NONBLOCK);
    }
    redd_listener_free(l);
    l = listen_on(&f, REDD_BALANCE_SHARED);
    assert_int_equal(redd_listener_balance(l), REDD_BALANCE_SHARED);
    assert_int_equal(l->n, 1);
    redd_listener_free(l);
    l = listen_on(&f, REDD_BALANCE_AUTO);
    assert_int_equal(redd_listener_balance(l), REDD_BALANCE_REUSEPORT);
    redd_listener_free(l);
    redd_listener_free(NULL);
    fixture_end(&f);
}

/** Bound before the attach, which makes one worker of what the options say: connections would wait
 *  at sockets that nobody asks. */
static void test_bound_for_more_workers_than_attach_makes(void **state)
{
    (void)state;
    fixture f;
    redd_acceptor *a = NULL;
    fixture_begin(&f, 4, false);
    redd_listener *l = listen_on(&f, REDD_BALANCE_REUSEPORT);
    redd_listener *shared = listen_on(&f, REDD_BALANCE_SHARED);
    assert_int_equal(redd_runtime_attach(f.rt, &f.loop, &f.w), 0);
    assert_int_equal(redd_acceptor_open(l, f.w, &a), REDD_ESTATE);
    assert_null(a);
    redd_listener_free(l);
    assert_int_equal(redd_acceptor_open(shared, f.w, &a), 0); /* one socket for all */
    redd_acceptor_close(a);
    redd_listener_free(shared);
    l = listen_on(&f, REDD_BALANCE_REUSEPORT);
    assert_int_equal(redd_acceptor_open(l, f.w, &a), 0);
    redd_acceptor_close(a);
    redd_listener_free(l);
    fixture_end(&f);
}

/** The system spreads over all sockets, the first one, which was bound alone, among them. */
static void test_reuseport_spreads(void **state)
{
    (void)state;
    enum { CLIENTS = 200, WORKERS = 4 };
    fixture f;
    int clients[CLIENTS], total = 0;
    fixture_begin(&f, WORKERS, false);
    redd_listener *l = listen_on(&f, REDD_BALANCE_REUSEPORT);
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = connect_to(port_of(l));
    for (unsigned i = 0; i < WORKERS; i++) {
        int n = 0, fd;
        while ((fd = accept(l->fds[i], NULL, NULL)) >= 0) {
            assert_int_equal(close(fd), 0);
            n++;
        }
        assert_int_equal(errno, EAGAIN);
        assert_true(n > CLIENTS / WORKERS / 4);
        total += n;
    }
    assert_int_equal(total, CLIENTS);
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(close(clients[i]), 0);
    redd_listener_free(l);
    fixture_end(&f);
}

static void test_port_in_use(void **state)
{
    (void)state;
    const redd_balance balances[] = {REDD_BALANCE_REUSEPORT, REDD_BALANCE_SHARED};
    fixture f;
    fixture_begin(&f, 4, false);
    for (int i = 0; i < 2; i++) {
        redd_listener *first = listen_on(&f, balances[i]), *second;
        uint64_t blocks = fixture_memory(&f).blocks;
        for (int k = 0; k < 2; k++) {
            second = NULL;
            assert_int_equal(bind_at(&f, balances[k], "127.0.0.1", port_of(first), &second),
                             UV_EADDRINUSE);
            assert_null(second);
            assert_int_equal(bind_at(&f, balances[k], "0.0.0.0", port_of(first), &second),
                             UV_EADDRINUSE);
        }
        assert_int_equal(fixture_memory(&f).blocks, blocks);
        redd_listener_free(first);
    }
    fixture_end(&f);
}

/** A foreign socket that allows sharing by SO_REUSEPORT is not shared with. */
static void test_foreign_reuseport(void **state)
{
    (void)state;
    fixture f;
    int on = 1;
    struct sockaddr_in name = loopback(0);
    fixture_begin(&f, 2, false);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)), 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    assert_int_equal(listen(fd, 1), 0);
    redd_listener *l = NULL;
    assert_int_equal(bind_at(&f, REDD_BALANCE_REUSEPORT, "127.0.0.1", socket_port(fd), &l),
                     UV_EADDRINUSE);
    assert_int_equal(close(fd), 0);
    fixture_end(&f);
}

/** Connections that the former server closed, now in TIME_WAIT, do not hinder the next one. */
static void test_restart(void **state)
{
    (void)state;
    const redd_balance balances[] = {REDD_BALANCE_REUSEPORT, REDD_BALANCE_SHARED};
    fixture f;
    fixture_begin(&f, 2, false);
    for (int i = 0; i < 2; i++) {
        redd_listener *l = listen_on(&f, balances[i]);
        uint16_t port = port_of(l);
        int client = connect_to(port), fd = -1;
        for (unsigned k = 0; fd < 0; k = (k + 1) % l->n)
            fd = accept(l->fds[k], NULL, NULL);
        char byte;
        assert_int_equal(close(fd), 0); /* first: this side is the one that must wait */
        assert_int_equal(read(client, &byte, 1), 0);
        assert_int_equal(close(client), 0);
        redd_listener_free(l);
        assert_int_equal(bind_at(&f, balances[i], "127.0.0.1", port, &l), 0);
        assert_int_equal(port_of(l), port);
        redd_listener_free(l);
    }
    fixture_end(&f);
}

static int connect_ipv6(uint16_t port, const char *host)
{
    struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    assert_int_equal(inet_pton(AF_INET6, host, &name.sin6_addr), 1);
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    if (connect(fd, (struct sockaddr *)&name, sizeof(name)) == 0)
        return fd;
    assert_int_equal(close(fd), 0);
    return -1;
}

static void test_ipv6(void **state)
{
    (void)state;
    fixture f;
    redd_listener *l;
    redd_address a;
    fixture_begin(&f, 2, false);
    int rc = bind_at(&f, REDD_BALANCE_AUTO, "::1", 0, &l);
    if (rc == UV_EADDRNOTAVAIL || rc == UV_EAFNOSUPPORT) {
        fixture_end(&f);
        skip(); /* a system without IPv6 */
    }
    assert_int_equal(rc, 0);
    redd_listener_address(l, &a);
    assert_string_equal(a.host, "::1");
    assert_true(a.ipv6);
    int fd = connect_ipv6(a.port, "::1");
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    redd_listener_free(l);
    fixture_end(&f);
}

static int try_ipv4(uint16_t port)
{
    struct sockaddr_in name = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc = connect(fd, (struct sockaddr *)&name, sizeof(name)) == 0 ? 0 : -errno;
    assert_int_equal(close(fd), 0);
    return rc;
}

static void test_ipv6_only_or_both(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, 2, false);
    for (int only = 0; only < 2; only++) {
        redd_listen_options o = REDD_LISTEN_OPTIONS_INIT;
        redd_listener *l;
        o.host = "::";
        o.ipv6_only = only;
        int rc = redd_listener_bind(f.rt, &o, &l);
        if (rc == UV_EADDRNOTAVAIL || rc == UV_EAFNOSUPPORT) {
            fixture_end(&f);
            skip();
        }
        assert_int_equal(rc, 0);
        for (unsigned i = 0; i < l->n; i++)
            assert_int_equal(option_of(l->fds[i], IPPROTO_IPV6, IPV6_V6ONLY), only);
        assert_int_equal(try_ipv4(port_of(l)), only ? UV_ECONNREFUSED : 0);
        redd_listener_free(l);
    }
    fixture_end(&f);
}

static void test_addresses_that_fail(void **state)
{
    (void)state;
    fixture f;
    redd_listener *l = NULL;
    redd_address a;
    fixture_begin(&f, 2, false);
    assert_int_equal(bind_at(&f, REDD_BALANCE_AUTO, "192.0.2.1", 0, &l), UV_EADDRNOTAVAIL);
    int rc = bind_at(&f, REDD_BALANCE_AUTO, "no such host", 0, &l);
    assert_true(rc == UV_EAI_NONAME || rc == UV_EAI_AGAIN);
    assert_int_equal(bind_at(&f, REDD_BALANCE_AUTO, "localhost", 0, &l), 0);
    redd_listener_address(l, &a);
    assert_true(strcmp(a.host, "127.0.0.1") == 0 || strcmp(a.host, "::1") == 0);
    redd_listener_free(l);
    assert_int_equal(bind_at(&f, REDD_BALANCE_AUTO, NULL, 0, &l), 0);
    redd_listener_address(l, &a);
    assert_string_equal(a.host, "0.0.0.0");
    redd_listener_free(l);
    l = NULL;
    redd_counting_allocator_fail_at(f.counting, 1, true);
    assert_int_equal(bind_at(&f, REDD_BALANCE_AUTO, "127.0.0.1", 0, &l), UV_ENOMEM);
    redd_counting_allocator_fail_at(f.counting, 0, false);
    assert_null(l);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_port_for_all_workers),
        cmocka_unit_test(test_bound_for_more_workers_than_attach_makes),
        cmocka_unit_test(test_reuseport_spreads),
        cmocka_unit_test(test_port_in_use),
        cmocka_unit_test(test_foreign_reuseport),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_ipv6),
        cmocka_unit_test(test_ipv6_only_or_both),
        cmocka_unit_test(test_addresses_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
