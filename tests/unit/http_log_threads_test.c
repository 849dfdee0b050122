/* SPDX-License-Identifier: MIT */
/** One access log, written by several workers while another thread reopens it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <redd/access_log.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define WORKERS 4
#define CLIENTS 4
#define BATCHES 50
#define BATCH   100
#define REQUEST \
    "GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa HTTP/1.1\r\nHost: h\r\n\r\n"
#define LINE_END " HTTP/1.1\" 200 2\n"

typedef struct scene {
    redd_runtime *rt;
    redd_listener *listener;
    redd_access_log *log;
    char folder[32], path[64];
    pthread_t driver;
    atomic_uint failures; /* cmocka's assertions are for the main thread */
} scene;

static void on_request(redd_http_request *req, void *user)
{
    (void)user;
    (void)redd_http_respond_text(req, 200, "ok");
}

static int on_worker(redd_worker *w, void *user)
{
    scene *s = user;
    redd_http_server *server;
    int rc = redd_http_serve(w, s->listener, NULL, on_request, NULL, &server);
    return rc ? rc : redd_access_log_attach(s->log, server);
}

/* --- threads of the test's own --- */

static int connect_to(const scene *s)
{
    redd_address a;
    redd_listener_address(s->listener, &a);
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(a.port)};
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&name, sizeof name) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

/* Reads until as many bodies have come; they are the only place of "ok". */
static bool read_answers(int fd, unsigned n)
{
    char buf[4096];
    bool o = false;
    while (n > 0) {
        ssize_t got = read(fd, buf, sizeof buf);
        if (got <= 0)
            return false;
        for (ssize_t i = 0; i < got; i++) {
            n -= o && buf[i] == 'k';
            o = buf[i] == 'o';
        }
    }
    return true;
}

static bool exchange(int fd)
{
    char batch[BATCH * (sizeof REQUEST - 1)];
    for (size_t i = 0; i < BATCH; i++)
        memcpy(batch + i * (sizeof REQUEST - 1), REQUEST, sizeof REQUEST - 1);
    return write(fd, batch, sizeof batch) == (ssize_t)sizeof batch && read_answers(fd, BATCH);
}

static void name_of(const scene *s, unsigned i, char *out, size_t size)
{
    (void)snprintf(out, size, "%s.%u", s->path, i);
}

static bool rotate(scene *s, unsigned i)
{
    char old[80];
    name_of(s, i, old, sizeof old);
    return rename(s->path, old) == 0 && redd_access_log_reopen(s->log) == 0;
}

static void be_client(scene *s, bool rotates)
{
    int fd = connect_to(s);
    bool good = fd >= 0;
    for (unsigned i = 0; good && i < BATCHES; i++)
        good = exchange(fd) && (!rotates || rotate(s, i));
    if (!good)
        atomic_fetch_add(&s->failures, 1);
    if (fd >= 0)
        (void)close(fd);
}

static void *client(void *user)
{
    be_client(user, false);
    return NULL;
}

static void *drive(void *user)
{
    scene *s = user;
    pthread_t others[CLIENTS - 1];
    for (size_t i = 0; i < CLIENTS - 1; i++)
        if (pthread_create(&others[i], NULL, client, s))
            abort();
    be_client(s, true);
    for (size_t i = 0; i < CLIENTS - 1; i++)
        (void)pthread_join(others[i], NULL);
    redd_runtime_stop(s->rt, REDD_STOP_GRACEFUL);
    return NULL;
}

static void on_ready(redd_worker *w, void *user)
{
    scene *s = user;
    (void)w;
    if (pthread_create(&s->driver, NULL, drive, s))
        abort();
}

/* --- the test --- */

/* Lines of the file, each whole; the file goes. */
static unsigned take_lines(const char *path)
{
    char line[512];
    unsigned n = 0;
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        size_t len = strlen(line), end = sizeof LINE_END - 1;
        assert_memory_equal(line, "127.0.0.1 - - [", 15);
        assert_true(len > end);
        assert_string_equal(line + len - end, LINE_END);
        n++;
    }
    assert_int_equal(fclose(f), 0);
    assert_int_equal(unlink(path), 0);
    return n;
}

static void nothing_is_lost_or_mixed(void **state)
{
    (void)state;
    scene s = {.folder = "/tmp/redd-log-XXXXXX"};
    redd_runtime_options o = REDD_RUNTIME_OPTIONS_INIT;
    redd_listen_options l = REDD_LISTEN_OPTIONS_INIT;
    o.workers = WORKERS;
    l.host = "127.0.0.1";
    assert_non_null(mkdtemp(s.folder));
    (void)snprintf(s.path, sizeof s.path, "%s/log", s.folder);
    assert_int_equal(redd_runtime_new(&o, &s.rt), 0);
    assert_int_equal(redd_runtime_add(s.rt, &redd_net_extension), 0);
    assert_int_equal(redd_runtime_add(s.rt, &redd_http_extension), 0);
    assert_int_equal(redd_listener_bind(s.rt, &l, &s.listener), 0);
    assert_int_equal(redd_access_log_open(s.rt, s.path, REDD_ACCESS_LOG_COMMON, &s.log), 0);
    assert_int_equal(redd_runtime_run(s.rt, on_worker, on_ready, &s), 0);
    assert_int_equal(pthread_join(s.driver, NULL), 0);
    assert_int_equal(atomic_load(&s.failures), 0);
    assert_int_equal(redd_access_log_lost(s.log), 0);
    redd_access_log_close(s.log);
    redd_listener_free(s.listener);
    redd_runtime_free(s.rt);

    char old[80];
    unsigned lines = take_lines(s.path);
    for (unsigned i = 0; i < BATCHES; i++) {
        name_of(&s, i, old, sizeof old);
        lines += take_lines(old);
    }
    assert_int_equal(lines, CLIENTS * BATCHES * BATCH);
    assert_int_equal(rmdir(s.folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_lost_or_mixed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
