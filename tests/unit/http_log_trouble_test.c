/* SPDX-License-Identifier: MIT */
/** Access logs that cannot be written: a full disk, readers of pipes, want of memory. */
#include "tests/unit/http_log_scene.h"

#include <signal.h>
#include <sys/stat.h>

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

static volatile sig_atomic_t broken_pipes;

static void on_broken_pipe(int number)
{
    (void)number;
    broken_pipes = 1;
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
    assert_int_equal(broken_pipes, 0);
    folder_end(&s);
}

/* Requests whose lines a pipe does not take as one. */
static void ask_long(scene *s, int n)
{
    bytes request = {0};
    bytes_text(&request, "GET /");
    bytes_fill(&request, 't', 6000);
    bytes_text(&request, " HTTP/1.1\r\nHost: h\r\n\r\n");
    while (n-- > 0)
        client_send(&s->c, request.data, request.len);
    bytes_free(&request);
}

/* They come in parts then, but whole all the same. */
static void lines_longer_than_a_pipe_takes_at_once(void **state)
{
    (void)state;
    scene s;
    bytes all = {0};
    int reader = pipe_begin(&s);
    ask_long(&s, 12);
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
    stop(&s);
    (void)close(reader);
    folder_end(&s);
}

/* The line behind one that was cut begins as a line of its own. */
static void a_reader_that_goes_within_a_line(void **state)
{
    (void)state;
    scene s;
    bytes all = {0};
    int reader = pipe_begin(&s);
    int holder = open(s.path, O_RDWR | O_NONBLOCK | O_CLOEXEC); /* keeps what is in the pipe */
    ask_long(&s, 12);
    client_wait(&s.c, 1000);
    (void)drain(reader, &all);
    assert_int_not_equal(all.data[all.len - 1], '\n');
    bytes_clear(&all);
    (void)close(reader);
    (void)close(holder);
    client_wait(&s.c, 1000);
    assert_in_range(redd_access_log_lost(s.log), 1, 3);
    reader = open(s.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ask(&s, 2);
    client_wait(&s.c, 1000);
    (void)drain(reader, &all);
    assert_int_equal(all.data[0], '\n');
    bytes rest = {.data = all.data + 1, .len = all.len - 1};
    assert_int_equal(count_whole_lines(&rest), 2);
    bytes_free(&all);
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
        cmocka_unit_test(a_full_disk),
        cmocka_unit_test(a_reader_that_rests),
        cmocka_unit_test(a_reader_that_goes),
        cmocka_unit_test(lines_longer_than_a_pipe_takes_at_once),
        cmocka_unit_test(a_reader_that_goes_within_a_line),
        cmocka_unit_test(each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
