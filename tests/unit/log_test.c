/* SPDX-License-Identifier: MIT */
#include <redd/log.h>

#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef struct sink {
    int lines;
    redd_log_level level;
    size_t len;
    char text[4096];
} sink;

static void collect(redd_log_level level, redd_slice line, void *user)
{
    sink *s = user;
    s->lines++;
    s->level = level;
    s->len = line.len;
    memcpy(s->text, line.data, line.len);
    s->text[line.len] = '\0';
}

static void levels_filter(void **state)
{
    (void)state;
    sink s = {0};
    redd_logger logger = {collect, &s, REDD_LOG_INFO};
    redd_log(&logger, REDD_LOG_DEBUG, "no");
    assert_int_equal(s.lines, 0);
    redd_log(&logger, REDD_LOG_INFO, "%d and %s", 42, "text");
    assert_int_equal(s.lines, 1);
    assert_int_equal(s.level, REDD_LOG_INFO);
    assert_string_equal(s.text, "42 and text");
    redd_log(&logger, REDD_LOG_ERROR, "%s", "");
    assert_int_equal(s.lines, 2);
    assert_int_equal(s.len, 0);
}

static void control_bytes_are_escaped(void **state)
{
    (void)state;
    sink s = {0};
    redd_logger logger = {collect, &s, REDD_LOG_INFO};
    redd_log(&logger, REDD_LOG_INFO, "a\r\nb\x1b[31m\x7f\t\xc3\xa9");
    assert_string_equal(s.text, "a\\x0d\\x0ab\\x1b[31m\\x7f\\x09\xc3\xa9");
}

static void long_lines_are_cut(void **state)
{
    (void)state;
    sink s = {0};
    redd_logger logger = {collect, &s, REDD_LOG_INFO};
    char text[3000];
    for (size_t len = 1000; len < 1100; len++) {
        memset(text, 'x', len);
        text[len] = '\0';
        redd_log(&logger, REDD_LOG_INFO, "%s", text);
        assert_int_equal(s.len, len <= 1024 ? len : 1024);
        assert_int_equal(strcmp(s.text + s.len - 3, "...") == 0, len > 1024);
    }
    /* 600 bytes that become 2,400: no escape is cut in the middle. */
    memset(text, '\x01', 600);
    text[600] = '\0';
    redd_log(&logger, REDD_LOG_INFO, "%s", text);
    assert_int_equal(s.len, 1020 + 3);
    assert_string_equal(s.text + 1016, "\\x01...");
    /* Nor is a character of several bytes. */
    for (size_t lead = 0; lead < 4; lead++) {
        memset(text, 'x', lead);
        for (size_t i = lead; i + 4 <= 2000; i += 4)
            memcpy(text + i, "\xf0\x9f\x90\x9f", 4);
        text[lead + 1600] = '\0';
        redd_log(&logger, REDD_LOG_INFO, "%s", text);
        assert_string_equal(s.text + s.len - 7, "\xf0\x9f\x90\x9f...");
        assert_int_equal((s.len - 3 - lead) % 4, 0);
    }
}

static void without_a_callback_errors_go_to_stderr(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int saved = dup(STDERR_FILENO);
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    redd_log(NULL, REDD_LOG_WARN, "not shown");
    redd_log(NULL, REDD_LOG_ERROR, "shown %d", 1);
    redd_logger logger = {NULL, NULL, REDD_LOG_WARN};
    redd_log(&logger, REDD_LOG_WARN, "shown\n%d", 2);
    assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
    close(saved);
    close(ends[1]);
    char got[256];
    ssize_t n = read(ends[0], got, sizeof(got) - 1);
    assert_true(n > 0);
    got[n] = '\0';
    close(ends[0]);
    assert_string_equal(got, "redd: error: shown 1\nredd: warning: shown\\x0a2\n");
}

static void levels_have_names(void **state)
{
    (void)state;
    assert_string_equal(redd_log_level_name(REDD_LOG_ERROR), "error");
    assert_string_equal(redd_log_level_name(REDD_LOG_WARN), "warning");
    assert_string_equal(redd_log_level_name(REDD_LOG_INFO), "info");
    assert_string_equal(redd_log_level_name(REDD_LOG_DEBUG), "debug");
    assert_string_equal(redd_log_level_name((redd_log_level)9), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_filter),
        cmocka_unit_test(control_bytes_are_escaped),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(without_a_callback_errors_go_to_stderr),
        cmocka_unit_test(levels_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
