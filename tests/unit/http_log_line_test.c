/* SPDX-License-Identifier: MIT */
/** Lines of access logs: every byte of every field, judged by Python's json too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ext/http/log/line.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIME INT64_C(1780270501250) /* 2026-05-31T23:35:01.250Z */

/** In memory of exactly the size that the bound promises. */
typedef struct text {
    char *data;
    size_t len;
} text;

static text line_of(redd_access_log_format format, const redd__log_entry *e)
{
    redd__stamp now;
    redd__stamp_init(&now);
    redd__stamp_set(&now, TIME);
    size_t bound = redd__log_line_bound(e);
    assert_true(bound <= REDD__LOG_LINE_MAX);
    text t = {malloc(bound), 0};
    assert_non_null(t.data);
    t.len = (size_t)(redd__log_line_put(t.data, format, e, &now) - t.data);
    assert_true(t.len <= bound);
    assert_int_equal(t.data[t.len - 1], '\n');
    assert_null(memchr(t.data, '\n', t.len - 1));
    return t;
}

static void must_be(redd_access_log_format format, const redd__log_entry *e, const char *line)
{
    text t = line_of(format, e);
    if (t.len != strlen(line) + 1 || memcmp(t.data, line, t.len - 1) != 0)
        fail_msg("%.*s is not\n%s", (int)t.len, t.data, line);
    free(t.data);
}

static redd__log_entry whole_entry(void)
{
    return (redd__log_entry){
        .client = REDD_SLICE("2001:db8::9"),
        .method = REDD_SLICE("GET"),
        .target = REDD_SLICE("/a?b=c"),
        .host = REDD_SLICE("example.org"),
        .referer = REDD_SLICE("http://example.org/"),
        .user_agent = REDD_SLICE("curl/7.88.1 (x; y)"),
        .request_id = REDD_SLICE("id-1"),
        .outcome = REDD_SLICE("done"),
        .minor = 1,
        .status = 200,
        .bytes_sent = 12345,
        .bytes_received = UINT64_MAX,
        .duration_ms = 7,
    };
}

static void a_whole_line(void **state)
{
    (void)state;
    redd__log_entry e = whole_entry();
    must_be(REDD_ACCESS_LOG_COMMON, &e,
            "2001:db8::9 - - [31/May/2026:23:35:01 +0000] \"GET /a?b=c HTTP/1.1\" 200 12345");
    must_be(REDD_ACCESS_LOG_COMBINED, &e,
            "2001:db8::9 - - [31/May/2026:23:35:01 +0000] \"GET /a?b=c HTTP/1.1\" 200 12345 "
            "\"http://example.org/\" \"curl/7.88.1 (x; y)\"");
    must_be(REDD_ACCESS_LOG_JSON, &e,
            "{\"time\":\"2026-05-31T23:35:01.250Z\",\"client\":\"2001:db8::9\",\"method\":\"GET\","
            "\"target\":\"/a?b=c\",\"version\":\"1.1\",\"status\":200,\"bytes_sent\":12345,"
            "\"bytes_received\":18446744073709551615,\"duration_ms\":7,\"host\":\"example.org\","
            "\"referer\":\"http://example.org/\",\"user_agent\":\"curl/7.88.1 (x; y)\","
            "\"request_id\":\"id-1\",\"outcome\":\"done\"}");
}

static void what_was_not_understood(void **state)
{
    (void)state;
    redd__log_entry e = {.minor = -1, .status = 400, .outcome = REDD_SLICE("malformed")};
    must_be(REDD_ACCESS_LOG_COMBINED, &e,
            "- - - [31/May/2026:23:35:01 +0000] \"-\" 400 0 \"-\" \"-\"");
    must_be(REDD_ACCESS_LOG_JSON, &e,
            "{\"time\":\"2026-05-31T23:35:01.250Z\",\"client\":null,\"method\":null,"
            "\"target\":null,\"version\":null,\"status\":400,\"bytes_sent\":0,"
            "\"bytes_received\":0,\"duration_ms\":0,\"host\":null,\"referer\":null,"
            "\"user_agent\":null,\"request_id\":null,\"outcome\":\"malformed\"}");
    e.method = (redd_slice)REDD_SLICE("GET");
    e.status = 0;
    must_be(REDD_ACCESS_LOG_COMMON, &e, "- - - [31/May/2026:23:35:01 +0000] \"GET - -\" 000 0");
    e.target = (redd_slice)REDD_SLICE("/");
    must_be(REDD_ACCESS_LOG_COMMON, &e, "- - - [31/May/2026:23:35:01 +0000] \"GET / -\" 000 0");
    e.minor = 0;
    must_be(REDD_ACCESS_LOG_COMMON, &e,
            "- - - [31/May/2026:23:35:01 +0000] \"GET / HTTP/1.0\" 000 0");
    e.user_agent = redd_slice_of("", 0); /* sent, and empty */
    must_be(REDD_ACCESS_LOG_COMBINED, &e,
            "- - - [31/May/2026:23:35:01 +0000] \"GET / HTTP/1.0\" 000 0 \"-\" \"-\"");
}

static void the_time(void **state)
{
    (void)state;
    static const struct {
        int64_t ms;
        const char *common, *rfc3339;
    } cases[] = {
        {0, "01/Jan/1970:00:00:00 +0000", "1970-01-01T00:00:00.000Z"},
        {999, "01/Jan/1970:00:00:00 +0000", "1970-01-01T00:00:00.999Z"},
        {1000, "01/Jan/1970:00:00:01 +0000", "1970-01-01T00:00:01.000Z"},
        {951782400001, "29/Feb/2000:00:00:00 +0000", "2000-02-29T00:00:00.001Z"},
        {951782399999, "28/Feb/2000:23:59:59 +0000", "2000-02-28T23:59:59.999Z"},
        {4107542400000, "01/Mar/2100:00:00:00 +0000", "2100-03-01T00:00:00.000Z"},
        {253402300799999, "31/Dec/9999:23:59:59 +0000", "9999-12-31T23:59:59.999Z"},
        {TIME, "31/May/2026:23:35:01 +0000", "2026-05-31T23:35:01.250Z"},
    };
    redd__stamp s;
    redd__stamp_init(&s);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        redd__stamp_set(&s, cases[i].ms);
        assert_memory_equal(s.common, cases[i].common, sizeof s.common);
        assert_memory_equal(s.rfc3339, cases[i].rfc3339, sizeof s.rfc3339);
    }
}

/* --- every byte --- */

#define N_FIELDS 7
static const char *const field_names[N_FIELDS] = {"client",  "method",     "target",    "host",
                                                  "referer", "user_agent", "request_id"};

static redd_slice *field_of(redd__log_entry *e, size_t i)
{
    redd_slice *fields[N_FIELDS] = {&e->client,  &e->method,     &e->target,    &e->host,
                                    &e->referer, &e->user_agent, &e->request_id};
    return fields[i];
}

/* The frame of a line has six quotes, or two, and no backslash; all others would be a peer's. */
static void must_be_clean(const text *t, unsigned quotes)
{
    unsigned seen = 0;
    for (size_t i = 0; i + 1 < t->len; i++) {
        unsigned char ch = (unsigned char)t->data[i];
        assert_true(ch >= 0x20 && ch <= 0x7e);
        seen += ch == '"';
        if (ch == '\\')
            assert_int_equal(t->data[i + 1], 'x');
    }
    assert_int_equal(seen, quotes);
}

static void escapes_of_the_common_form(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++)
        for (size_t i = 0; i < N_FIELDS; i++) {
            redd__log_entry e = whole_entry();
            char value[] = {'a', (char)byte, 'z'}, expected[16];
            *field_of(&e, i) = redd_slice_of(value, sizeof value);
            text t = line_of(REDD_ACCESS_LOG_COMBINED, &e);
            must_be_clean(&t, 6);
            bool plain = byte >= 0x20 && byte <= 0x7e && byte != '"' && byte != '\\';
            (void)snprintf(expected, sizeof expected, plain ? "a%cz" : "a\\x%02xz", byte);
            bool logged =
                strcmp(field_names[i], "host") != 0 && strcmp(field_names[i], "request_id") != 0;
            assert_int_equal(memmem(t.data, t.len, expected, strlen(expected)) != NULL, logged);
            free(t.data);
        }
}

/* Reads "field hex line" and exits with 1 unless each line is an object whose field has the bytes.
 */
static const char judge[] =
    "import json, sys\n"
    "n = 0\n"
    "for line in sys.stdin:\n"
    "    assert line.isascii() and line[:-1].isprintable(), line\n"
    "    field, data, text = line.split(' ', 2)\n"
    "    value = json.loads(text)\n"
    "    assert list(value) == 'time client method target version status bytes_sent'.split() + \\\n"
    "        'bytes_received duration_ms host referer user_agent request_id outcome'.split(), "
    "value\n"
    "    assert value[field] == bytes.fromhex(data).decode('latin-1'), (field, data, text)\n"
    "    n += 1\n"
    "assert n == int(sys.argv[1]), n\n";

/* The judge, with what is written as its input. */
static FILE *python_begin(pid_t *pid, int lines)
{
    int ends[2];
    char count[16], program[sizeof judge];
    char name[] = "python3", option[] = "-c";
    char *argv[] = {name, option, program, count, NULL};
    posix_spawn_file_actions_t actions;
    memcpy(program, judge, sizeof judge);
    (void)snprintf(count, sizeof count, "%d", lines);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO), 0);
    assert_int_equal(posix_spawn(pid, "/usr/bin/python3", &actions, NULL, argv, NULL), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[0]);
    FILE *f = fdopen(ends[1], "w");
    assert_non_null(f);
    return f;
}

static void python_end(FILE *python, pid_t pid)
{
    int status;
    assert_int_equal(fclose(python), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void give(FILE *python, size_t field, const char *value, size_t len)
{
    redd__log_entry e = whole_entry();
    *field_of(&e, field) = redd_slice_of(value, len);
    text t = line_of(REDD_ACCESS_LOG_JSON, &e);
    (void)fprintf(python, "%s ", field_names[field]);
    for (size_t i = 0; i < len; i++)
        (void)fprintf(python, "%02x", (unsigned)(unsigned char)value[i]);
    (void)fprintf(python, " %.*s", (int)t.len, t.data);
    free(t.data);
}

static void json_by_python(void **state)
{
    (void)state;
    char all[256];
    pid_t pid;
    FILE *python = python_begin(&pid, N_FIELDS * 256 + 4 * 4);
    for (int byte = 0; byte < 256; byte++)
        all[byte] = (char)byte;
    for (size_t i = 0; i < N_FIELDS; i++) {
        for (int byte = 0; byte < 256; byte++) {
            char value[] = {'a', (char)byte, '1'};
            give(python, i, value, sizeof value);
        }
    }
    for (size_t i = 0; i < 256; i += 64) /* together, of what is long enough for it */
        for (size_t field = 2; field < 6; field++)
            give(python, field, all + i, 64);
    python_end(python, pid);
}

/* --- long ones --- */

static void long_texts_are_cut(void **state)
{
    (void)state;
    static const char bytes[] = {'a', '\x01', '\\', '\xff'};
    static char value[100000];
    for (size_t b = 0; b < sizeof bytes; b++) {
        memset(value, bytes[b], sizeof value);
        for (size_t len = 1; len <= sizeof value; len += 1 + len / 7) {
            redd__log_entry e = whole_entry();
            for (size_t i = 0; i < N_FIELDS; i++)
                *field_of(&e, i) = redd_slice_of(value, len);
            for (int f = REDD_ACCESS_LOG_COMMON; f <= REDD_ACCESS_LOG_JSON; f++) {
                text t = line_of((redd_access_log_format)f, &e);
                if (f != REDD_ACCESS_LOG_JSON)
                    must_be_clean(&t, f == REDD_ACCESS_LOG_COMMON ? 2 : 6);
                const char *end = f == REDD_ACCESS_LOG_JSON ? "...\",\"version\"" : "... HTTP/1.1";
                if (len > 9000)
                    assert_non_null(memmem(t.data, t.len, end, strlen(end)));
                free(t.data);
            }
        }
    }
}

/* A target of the default limit is logged whole. */
static void long_targets_are_whole(void **state)
{
    (void)state;
    static char value[8192];
    memset(value, 't', sizeof value);
    redd__log_entry e = whole_entry();
    e.target = redd_slice_of(value, sizeof value);
    text t = line_of(REDD_ACCESS_LOG_JSON, &e);
    assert_non_null(memmem(t.data, t.len, value, sizeof value));
    assert_null(memmem(t.data, t.len, "...", 3));
    free(t.data);
}

/* No escape is cut in two, wherever the cut falls. */
static void cuts_fall_between_escapes(void **state)
{
    (void)state;
    static char value[9000];
    for (size_t plain = 0; plain < 16; plain++) {
        memset(value, 'a', plain);
        memset(value + plain, '\x02', sizeof value - plain);
        redd__log_entry e = whole_entry();
        e.target = redd_slice_of(value, sizeof value);
        text t = line_of(REDD_ACCESS_LOG_JSON, &e);
        char *end = memmem(t.data, t.len, "...", 3);
        assert_non_null(end);
        assert_memory_equal(end - 6, "\\u0002", 6);
        free(t.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_line),
        cmocka_unit_test(what_was_not_understood),
        cmocka_unit_test(the_time),
        cmocka_unit_test(escapes_of_the_common_form),
        cmocka_unit_test(json_by_python),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(long_targets_are_whole),
        cmocka_unit_test(cuts_fall_between_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
