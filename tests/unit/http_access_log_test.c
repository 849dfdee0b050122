/* SPDX-License-Identifier: MIT */
/** Access logs: when lines are written, what they tell, and where they go. */
#include "tests/unit/http_log_scene.h"

#include <sys/stat.h>

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

/* However many follow it. */
static void a_second_from_the_first_line(void **state)
{
    (void)state;
    scene s;
    begin(&s, REDD_ACCESS_LOG_COMMON);
    ask(&s, 1);
    client_wait(&s.c, 600);
    ask(&s, 1);
    client_wait(&s.c, 400);
    assert_int_equal(lines_in(s.path), 2);
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

/* One lane for all servers of a worker. */
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
    stop(&s);
    must_hold(s.path, LINE);
    folder_end(&s);
}

/* A peer is asked who it is when it comes: later it may have gone. */
static void a_peer_that_has_gone(void **state)
{
    (void)state;
    scene s;
    begin(&s, REDD_ACCESS_LOG_COMMON);
    peer_set("");
    ask(&s, 2);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_a_second),
        cmocka_unit_test(a_second_from_the_first_line),
        cmocka_unit_test(when_the_buffer_is_full),
        cmocka_unit_test(at_the_end_of_the_worker),
        cmocka_unit_test(at_a_forced_end),
        cmocka_unit_test(lines_of_each_format),
        cmocka_unit_test(refused_requests),
        cmocka_unit_test(refused_for_their_size),
        cmocka_unit_test(two_servers),
        cmocka_unit_test(a_peer_that_has_gone),
        cmocka_unit_test(reopened),
        cmocka_unit_test(a_failed_reopen_keeps_the_file),
        cmocka_unit_test(the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
