/* SPDX-License-Identifier: MIT */
/** A worker on the test's own loop, counted memory, a virtual clock and wakers that count. */
#ifndef REDD_TESTS_NET_FIXTURE_H
#define REDD_TESTS_NET_FIXTURE_H

#include <redd/listener.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

typedef struct fixture {
    uv_loop_t loop;
    uv_timer_t watchdog; /* keeps the loop turning, and ends a test that hangs */
    redd_counting_allocator *counting;
    redd_clock *clock;
    redd_runtime *rt;
    redd_worker *w;
    bool detached;
    int descriptors;  /* open before, and after */
    char logged[256]; /* the last line */
    unsigned lines;
} fixture;

static void fixture_give_up(uv_timer_t *t)
{
    (void)t;
    fail_msg("nothing happened for 20 seconds");
}

static void fixture_log(redd_log_level level, redd_slice line, void *user)
{
    (void)level;
    fixture *f = user;
    size_t n = line.len < sizeof(f->logged) - 1 ? line.len : sizeof(f->logged) - 1;
    memcpy(f->logged, line.data, n);
    f->logged[n] = '\0';
    f->lines++;
}

static inline redd_allocator_stats fixture_memory(const fixture *f)
{
    redd_allocator_stats stats;
    redd_counting_allocator_stats(f->counting, &stats);
    return stats;
}

static inline void fixture_watch(fixture *f)
{
    uv_update_time(&f->loop);
    assert_int_equal(uv_timer_start(&f->watchdog, fixture_give_up, 20000, 0), 0);
}

static inline int open_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/** `workers`: what the runtime would start; only worker 0 is there, and only if `attach`. */
static inline void fixture_begin(fixture *f, unsigned workers, bool attach)
{
    memset(f, 0, sizeof(*f));
    assert_int_equal(redd_counting_allocator_new(NULL, &f->counting), 0);
    assert_int_equal(redd_virtual_clock_new(1000, &f->clock), 0);
    redd_runtime_options o = REDD_RUNTIME_OPTIONS_INIT;
    o.workers = workers;
    o.allocator = redd_counting_allocator_hook(f->counting);
    o.logger = (redd_logger){.write = fixture_log, .user = f, .level = REDD_LOG_INFO};
    o.clock = f->clock;
    assert_int_equal(redd_runtime_new(&o, &f->rt), 0);
    assert_int_equal(redd_runtime_add(f->rt, &redd_net_extension), 0);
    assert_int_equal(uv_loop_init(&f->loop), 0);
    f->descriptors = open_descriptors();
    assert_int_equal(uv_timer_init(&f->loop, &f->watchdog), 0);
    fixture_watch(f);
    if (attach)
        assert_int_equal(redd_runtime_attach(f->rt, &f->loop, &f->w), 0);
}

static void fixture_detached(void *user)
{
    fixture *f = user;
    f->detached = true;
}

/** Everything must be closed; checks that no handle, descriptor or byte is left. */
static inline void fixture_end(fixture *f)
{
    fixture_watch(f);
    if (f->w) {
        redd_worker_detach(f->w, REDD_STOP_FORCED, fixture_detached, f);
        while (!f->detached)
            uv_run(&f->loop, UV_RUN_ONCE);
    }
    redd_runtime_free(f->rt);
    redd_clock_free(f->clock);
    assert_int_equal(fixture_memory(f).blocks, 0);
    redd_counting_allocator_free(f->counting);
    uv_close((uv_handle_t *)&f->watchdog, NULL);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(open_descriptors(), f->descriptors);
    assert_int_equal(uv_loop_close(&f->loop), 0);
}

static inline void turn(fixture *f)
{
    uv_run(&f->loop, UV_RUN_NOWAIT);
}

static inline void turns(fixture *f, int n)
{
    while (n-- > 0)
        turn(f);
}

/** Turns the loop until `condition`. */
#define UNTIL(f, condition)                  \
    do {                                     \
        while (!(condition))                 \
            uv_run(&(f)->loop, UV_RUN_ONCE); \
    } while (0)

/** No event of a descriptor would end the loop's next wait. */
static inline bool quiet(fixture *f)
{
    turn(f);
    struct pollfd p = {.fd = uv_backend_fd(&f->loop), .events = POLLIN};
    return poll(&p, 1, 0) == 0;
}

/* --- wakers --- */

typedef struct counter {
    redd_waker base;
    unsigned wakes;
    int refs;
    void (*on_wake)(struct counter *c); /* may be NULL */
    void *user;
} counter;

static void counter_wake(redd_waker *w)
{
    counter *c = (counter *)(void *)w;
    c->wakes++;
    if (c->on_wake)
        c->on_wake(c);
}

static void counter_ref(redd_waker *w)
{
    ((counter *)(void *)w)->refs++;
}

static void counter_unref(redd_waker *w)
{
    ((counter *)(void *)w)->refs--;
}

static const redd_waker_vt counter_vt = {
    .wake = counter_wake, .ref = counter_ref, .unref = counter_unref};

#define COUNTER_INIT            \
    {                           \
        .base = { &counter_vt } \
    }

/* --- sockets --- */

static inline struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)},
    };
}

static inline int connect_to(uint16_t port)
{
    struct sockaddr_in name = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    return fd;
}

/** Two connected TCP sockets with small buffers. */
static inline void tcp_sockets(int fds[2])
{
    struct sockaddr_in name = loopback(0);
    socklen_t len = sizeof(name);
    int small = 8192;
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(listening >= 0);
    assert_int_equal(setsockopt(listening, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
    assert_int_equal(setsockopt(listening, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
    assert_int_equal(bind(listening, (struct sockaddr *)&name, sizeof(name)), 0);
    assert_int_equal(listen(listening, 1), 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&name, &len), 0);
    fds[0] = connect_to(ntohs(name.sin_port));
    fds[1] = accept(listening, NULL, NULL);
    assert_true(fds[1] >= 0);
    assert_int_equal(close(listening), 0);
}

#endif
