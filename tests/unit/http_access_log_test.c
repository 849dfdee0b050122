/* SPDX-License-Identifier: MIT */
/** Access logs: when lines are written, where they go, and what is done when they cannot. */
#include "tests/unit/http_peers.h"

#include <redd/access_log.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#define GET  "GET /a HTTP/1.1\r\nHost: h\r\nUser-Agent: test\r\n\r\n"
#define LINE "192.0.2.1 - - [28/May/2026:20:26:40 +0000] \"GET /a HTTP/1.1\" 200 2\n"

typedef struct scene {
    bed b;
    char folder[32], path[64];
    redd_access_log *log;
    client c;
    unsigned requests;
} scene;

static void on_request(redd_http_request *req, void *user)
{
    ((scene *)user)->requests++;
    (void)redd_http_respond_text(req, 200, "ok");
}

static void folder_begin(scene *s)
{
    memset(s, 0, sizeof *s);
    memcpy(s->folder, "/tmp/redd-log-XXXXXX", sizeof "/tmp/redd-log-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    (void)snprintf(s->path, sizeof s->path, "%s/log", s->folder);
}

static void open_at(scene *s, const char *path, redd_access_log_format format)
{
    bed_begin(&s->b, on_request, s);
    assert_int_equal(redd_access_log_open(s->b.rt, path, format, &s->log), 0);
    assert_int_equal(redd_access_log_attach(s->log, s->b.server), 0);
    peer_open(&s->b, &s->c, "192.0.2.1");
}

static void begin(scene *s, redd_access_log_format format)
{
    folder_begin(s);
    open_at(s, s->path, format);
}

static void stop(scene *s)
{
    client_close(&s->c);
    if (!s->b.gone) {
        bed_detach(&s->b, REDD_STOP_GRACEFUL);
        while (!s->b.gone)
            (void)uv_run(&s->b.loop, UV_RUN_ONCE);
    }
    redd_access_log_close(s->log);
    s->log = NULL;
    bed_end(&s->b);
}

static void folder_end(scene *s)
{
    (void)unlink(s->path);
    assert_int_equal(rmdir(s->folder), 0);
}

static void end(scene *s)
{
    stop(s);
    folder_end(s);
}

static bytes content(const char *path)
{
    bytes b = {0};
    char buf[65536];
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    for (ssize_t n; (n = read(fd, buf, sizeof buf)) > 0;)
        bytes_add(&b, buf, (size_t)n);
    (void)close(fd);
    return b;
}

static size_t lines_in(const char *path)
{
    bytes b = content(path);
    size_t n = 0;
    for (size_t i = 0; i < b.len; i++)
        n += b.data[i] == '\n';
    bytes_free(&b);
    return n;
}

static void must_hold(const char *path, const char *text)
{
    bytes b = content(path);
    if (!bytes_are(&b, text, strlen(text)))
        fail_msg("%s is not\n%s", b.data ? b.data : "", text);
    bytes_free(&b);
}

static void ask(scene *s, unsigned n)
{
    while (n-- > 0)
        client_text(&s->c, GET);
}

/* --- when --- */

static void after_a_second(void **state)
{
    (void)state;
    scene s;
    begin(&s, REDD_ACCESS_LOG_COMMON);
    must_hold(s.path, "");
    ask(&s, 1);
    client_wait(&s.c, 999);
    must_hold(s.path, "");
    client_wait(&s.c, 1);
    must_hold(s.path, LINE);
    client_wait(&s.c, 10000); /* nothing waits: nothing is written */
    must_hold(s.path, LINE);
    end(&s);
}

static void when_the_buffer_is_full(void **state)
{
    (void)state;
    scene s;
    begin(&s, REDD_ACCESS_LOG_COMMON);
    size_t n = 65536 / (sizeof LINE - 1);
    ask(&s, (unsigned)n);
    size_t written = lines_in(s.path);
    assert_in_range(written, n - 20, n); /* a line has room for all of its escapes */
    end(&s);
}

static void at_the_end_of_the_worker(void **state)
{
    (void)state;
    scene s;
    begin(&s, REDD_ACCESS_LOG_COMMON);
    ask(&s, 3);
    stop(&s);
    must_hold(s.path, LINE LINE LINE);
    folder_end(&s);
}

static void at_a_forced_end(void **state)
{
    (void)state;
    scene s;
    begin(&s, REDD_ACCESS_LOG_COMMON);
    ask(&s, 1);
    bed_detach(&s.b, REDD_STOP_FORCED);
    while (!s.b.gone)
        (void)uv_run(&s.b.loop, UV_RUN_ONCE);
    must_hold(s.path, LINE);
    end(&s);
}

/* --- what --- */

static void lines_of_each_format(void **state)
{
    (void)state;
    static const char *const ends[] = {"\" 200 2\n", "\" 200 2 \"-\" \"test\"\n",
                                       "\"outcome\":\"done\"}\n"};
    for (int f = REDD_ACCESS_LOG_COMMON; f <= REDD_ACCESS_LOG_JSON; f++) {
        scene s;
        begin(&s, (redd_access_log_format)f);
        ask(&s, 1);
        stop(&s);
        bytes b = content(s.path);
        size_t n = strlen(ends[f]);
        assert_true(b.len > n);
        assert_memory_equal(b.data + b.len - n, ends[f], n);
        if (f == REDD_ACCESS_LOG_JSON) {
            assert_non_null(strstr(b.data, "\"client\":\"192.0.2.1\",\"method\":\"GET\","
                                           "\"target\":\"/a\",\"version\":\"1.1\",\"status\":200,"
                                           "\"bytes_sent\":2,\"bytes_received\":0,"));
            assert_non_null(strstr(b.data, "\"host\":\"h\",\"referer\":null,"
                                           "\"user_agent\":\"test\",\"request_id\":\""));
        }
        bytes_free(&b);
        folder_end(&s);
    }
}

static void refused_requests(void **state)
{
    (void)state;
    static const struct {
        const char *request, *line;
    } cases[] = {
        {"\x01\r\n\r\n", "\"-\" 400 0 \"-\" \"-\"\n"},
        {"GET / HTTP/1.1\r\n\r\n", "\"GET / HTTP/1.1\" 400 0 \"-\" \"-\"\n"},
        {"GET / HTTP/1.1\r\nHost: h\r\nUser-Agent: u\r\nReferer: r\r\nHost: h\r\n\r\n",
         "\"GET / HTTP/1.1\" 400 0 \"r\" \"u\"\n"},
        {"GET / HTTP/2.0\r\nHost: h\r\n\r\n", "\"GET / -\" 505 0 \"-\" \"-\"\n"},
        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n",
         "\"POST / HTTP/1.1\" 400 0 \"-\" \"-\"\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scene s;
        begin(&s, REDD_ACCESS_LOG_COMBINED);
        client_text(&s.c, cases[i].request);
        stop(&s);
        bytes b = content(s.path);
        assert_int_equal(s.requests, 0);
        if (!b.data || !strstr(b.data, cases[i].line) || strchr(b.data, '\n')[1] != '\0')
            fail_msg("%s: %s", cases[i].line, b.data ? b.data : "nothing");
        assert_memory_equal(b.data, "192.0.2.1 - - [", 15);
        bytes_free(&b);
        folder_end(&s);
    }
}

/* Heads beyond the limits: what came of them in time is told. */
static void refused_for_their_size(void **state)
{
    (void)state;
    static const struct {
        const char *name, *line;
    } cases[] = {{"GET /", " 414 0\n"}, {"GET / HTTP/1.1\r\nHost: h\r\nA: ", " 431 0\n"}};
    for (size_t i = 0; i < 2; i++) {
        scene s;
        begin(&s, REDD_ACCESS_LOG_COMMON);
        bytes text = {0};
        bytes_text(&text, cases[i].name);
        bytes_fill(&text, 'x', 100000);
        client_send(&s.c, text.data, text.len);
        bytes_free(&text);
        stop(&s);
        bytes b = content(s.path);
        assert_non_null(b.data);
        assert_non_null(strstr(b.data, cases[i].line));
        bytes_free(&b);
        folder_end(&s);
    }
}

/* One lane for all servers of a worker, and a peer is asked once a connection. */
static void two_servers(void **state)
{
    (void)state;
    scene s;
    redd_http_server *other;
    begin(&s, REDD_ACCESS_LOG_COMMON);
    assert_int_equal(redd_http_serve(s.b.w, NULL, &s.b.options, on_request, &s, &other), 0);
    uint64_t blocks = bed_memory(&s.b).blocks;
    assert_int_equal(redd_access_log_attach(s.log, other), 0);
    assert_int_equal(redd_access_log_attach(s.log, s.b.server), 0);
    assert_int_equal(bed_memory(&s.b).blocks, blocks);
    ask(&s, 1);
    peer_set(""); /* it has gone: getpeername would fail */
    ask(&s, 1);
    stop(&s);
    must_hold(s.path, LINE LINE);
    folder_end(&s);
}

/* --- reopening --- */

static void reopened(void **state)
{
    (void)state;
    scene s;
    char old[80];
    begin(&s, REDD_ACCESS_LOG_COMMON);
    (void)snprintf(old, sizeof old, "%s.1", s.path);
    ask(&s, 1);
    client_wait(&s.c, 1000);
    assert_int_equal(rename(s.path, old), 0);
    ask(&s, 1);
    assert_int_equal(redd_access_log_reopen(s.log), 0);
    must_hold(s.path, "");
    client_wait(&s.c, 1000);
    must_hold(old, LINE);
    assert_int_equal(lines_in(s.path), 1);
    assert_int_equal(redd_access_log_reopen(s.log), 0); /* the same file again */
    ask(&s, 1);
    stop(&s);
    assert_int_equal(lines_in(s.path), 2);
    assert_int_equal(unlink(old), 0);
    folder_end(&s);
}

static void a_failed_reopen_keeps_the_file(void **state)
{
    (void)state;
    scene s;
    char old[80];
    begin(&s, REDD_ACCESS_LOG_COMMON);
    (void)snprintf(old, sizeof old, "%s.1", s.path);
    assert_int_equal(rename(s.path, old), 0);
    assert_int_equal(mkdir(s.path, 0700), 0);
    assert_int_equal(redd_access_log_reopen(s.log), UV_EISDIR);
    ask(&s, 1);
    stop(&s);
    must_hold(old, LINE);
    assert_int_equal(rmdir(s.path), 0);
    assert_int_equal(unlink(old), 0);
    folder_end(&s);
}

static void the_file(void **state)
{
    (void)state;
    scene s;
    struct stat info;
    redd_access_log *log = NULL;
    begin(&s, REDD_ACCESS_LOG_COMMON);
    assert_int_equal(stat(s.path, &info), 0);
    assert_int_equal(info.st_mode & 07777 & ~0640U, 0);
    assert_int_equal(redd_access_log_open(s.b.rt, s.folder, REDD_ACCESS_LOG_JSON, &log), UV_EISDIR);
    assert_int_equal(redd_access_log_open(s.b.rt, "/nowhere/log", REDD_ACCESS_LOG_JSON, &log),
                     UV_ENOENT);
    assert_null(log);
    redd_access_log_close(NULL);
    end(&s);
}

/* --- what cannot be written --- */

static void a_full_disk(void **state)
{
    (void)state;
    scene s;
    memset(&s, 0, sizeof s);
    open_at(&s, "/dev/full", REDD_ACCESS_LOG_COMMON);
    unsigned warnings = s.b.warnings;
    ask(&s, 2);
    client_wait(&s.c, 1000);
    assert_int_equal(redd_access_log_lost(s.log), 2);
    assert_int_equal(s.b.warnings, warnings + 1);
    ask(&s, 2000); /* several buffers at the same time: one sentence at most */
    assert_int_equal(s.requests, 2002);
    assert_in_range(redd_access_log_lost(s.log), 1500, 2002);
    assert_int_equal(s.b.warnings, warnings + 1);
    client_wait(&s.c, 1000);
    assert_int_equal(redd_access_log_lost(s.log), 2002);
    assert_int_equal(s.b.warnings, warnings + 2);
    stop(&s);
}

static int pipe_begin(scene *s)
{
    folder_begin(s);
    assert_int_equal(mkfifo(s->path, 0600), 0);
    int reader = open(s->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    open_at(s, s->path, REDD_ACCESS_LOG_COMMON);
    return reader;
}

static size_t drain(int reader, bytes *all)
{
    char buf[65536];
    size_t before = all->len;
    for (ssize_t n; (n = read(reader, buf, sizeof buf)) > 0;)
        bytes_add(all, buf, (size_t)n);
    return all->len - before;
}

/* Only whole lines, and no two of them mixed. */
static size_t count_whole_lines(const bytes *b)
{
    size_t len = sizeof LINE - 1, n = 0;
    for (size_t off = 0; off < b->len; off += len, n++) {
        assert_true(b->len - off >= len);
        assert_memory_equal(b->data + off, "192.0.2.1 - - [28/May/2026:20:2", 31);
        assert_int_equal(b->data[off + len - 1], '\n');
    }
    return n;
}

static void a_reader_that_rests(void **state)
{
    (void)state;
    scene s;
    bytes all = {0};
    int reader = pipe_begin(&s);
    unsigned warnings = s.b.warnings;
    ask(&s, 3000); /* a pipe and a buffer of 64 KiB each, and more */
    client_wait(&s.c, 1000);
    assert_int_equal(s.requests, 3000);
    uint64_t lost = redd_access_log_lost(s.log);
    assert_in_range(lost, 500, 2000);
    assert_int_equal(s.b.warnings, warnings + 1);
    while (drain(reader, &all) > 0)
        client_wait(&s.c, 1000); /* what was kept follows as soon as there is room */
    assert_int_equal(count_whole_lines(&all), 3000 - lost);
    ask(&s, 10);
    stop(&s);
    (void)drain(reader, &all);
    assert_int_equal(count_whole_lines(&all), 3010 - lost);
    bytes_free(&all);
    (void)close(reader);
    folder_end(&s);
}

static void on_broken_pipe(int number)
{
    (void)number;
    fail();
}

static void a_reader_that_goes(void **state)
{
    (void)state;
    scene s;
    void (*before)(int) = signal(SIGPIPE, on_broken_pipe);
    int reader = pipe_begin(&s);
    ask(&s, 1);
    (void)close(reader);
    client_wait(&s.c, 1000);
    assert_int_equal(redd_access_log_lost(s.log), 1);
    reader = open(s.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ask(&s, 2);
    client_wait(&s.c, 1000);
    bytes all = {0};
    (void)drain(reader, &all);
    assert_int_equal(count_whole_lines(&all), 2);
    bytes_free(&all);
    stop(&s);
    (void)close(reader);
    (void)signal(SIGPIPE, before);
    folder_end(&s);
}

/* A line that is longer than what the pipe has room for comes in parts, but it stays one. */
static void a_line_longer_than_a_pipe_is_atomic(void **state)
{
    (void)state;
    scene s;
    bytes all = {0}, request = {0};
    int reader = pipe_begin(&s);
    bytes_text(&request, "GET /");
    bytes_fill(&request, 't', 6000);
    bytes_text(&request, " HTTP/1.1\r\nHost: h\r\n\r\n");
    for (int i = 0; i < 12; i++)
        client_send(&s.c, request.data, request.len);
    client_wait(&s.c, 1000);
    while (drain(reader, &all) > 0)
        client_wait(&s.c, 1000);
    assert_int_equal(redd_access_log_lost(s.log), 0);
    size_t lines = 0;
    for (size_t i = 0; i < all.len; i++)
        lines += all.data[i] == '\n';
    assert_int_equal(lines, 12);
    assert_int_equal(all.len % 12, 0);
    bytes_free(&all);
    bytes_free(&request);
    stop(&s);
    (void)close(reader);
    folder_end(&s);
}

/* --- want of memory --- */

static uint64_t play_failing(uint64_t n)
{
    scene s;
    folder_begin(&s);
    bed_prepare(&s.b);
    redd_counting_allocator_fail_at(s.b.counting, n, false);
    bool attached = false;
    if (bed_try_begin(&s.b) == 0 && bed_try_serve(&s.b, NULL, on_request, &s) == 0 &&
        redd_access_log_open(s.b.rt, s.path, REDD_ACCESS_LOG_JSON, &s.log) == 0) {
        attached = redd_access_log_attach(s.log, s.b.server) == 0;
        if (peer_try_open(&s.b, &s.c, "192.0.2.1") == 0)
            ask(&s, 2);
    }
    uint64_t failures = bed_memory(&s.b).failures;
    if (s.b.w) {
        client_close(&s.c);
        bed_detach(&s.b, REDD_STOP_GRACEFUL);
        while (!s.b.gone)
            (void)uv_run(&s.b.loop, UV_RUN_ONCE);
    }
    bytes_free(&s.c.got);
    if (attached)
        assert_true(lines_in(s.path) >= s.requests);
    if (failures == 0)
        assert_int_equal(lines_in(s.path), 2);
    redd_access_log_close(s.log);
    bed_end(&s.b);
    folder_end(&s);
    return failures;
}

static void each_allocation_fails(void **state)
{
    (void)state;
    uint64_t n = 1;
    while (play_failing(n) > 0)
        n++;
    assert_true(n > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_a_second),
        cmocka_unit_test(when_the_buffer_is_full),
        cmocka_unit_test(at_the_end_of_the_worker),
        cmocka_unit_test(at_a_forced_end),
        cmocka_unit_test(lines_of_each_format),
        cmocka_unit_test(refused_requests),
        cmocka_unit_test(refused_for_their_size),
        cmocka_unit_test(two_servers),
        cmocka_unit_test(reopened),
        cmocka_unit_test(a_failed_reopen_keeps_the_file),
        cmocka_unit_test(the_file),
        cmocka_unit_test(a_full_disk),
        cmocka_unit_test(a_reader_that_rests),
        cmocka_unit_test(a_reader_that_goes),
        cmocka_unit_test(a_line_longer_than_a_pipe_is_atomic),
        cmocka_unit_test(each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
