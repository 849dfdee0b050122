/* SPDX-License-Identifier: MIT */
/** What static files are made of: paths, ranges, conditions, dates, types. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_reply.h"

#include "ext/http/date.h"
#include "ext/http/files/condition.h"
#include "ext/http/files/mime.h"
#include "ext/http/files/path.h"
#include "ext/http/files/range.h"

#include <stdio.h>
#include <unistd.h>

/* --- paths --- */

typedef struct path_row {
    const char *path, *prefix, *file;        /* file NULL: refused */
    enum { FILE_ONLY, FOLDER, HIDDEN } what; /* HIDDEN: hidden names are served */
} path_row;

static const path_row paths[] = {
    {"/", "", "", FOLDER},
    {"/a", "", "a", FILE_ONLY},
    {"/a/", "", "a", FOLDER},
    {"/a/b.txt", "", "a/b.txt", FILE_ONLY},
    {"/a%20b", "", "a b", FILE_ONLY},
    {"/%61", "", "a", FILE_ONLY},
    {"/a+b", "", "a+b", FILE_ONLY},
    {"/a%2Bb", "", "a+b", FILE_ONLY},
    {"/%c3%a4", "", "\xc3\xa4", FILE_ONLY},
    {"/a\\b", "", "a\\b", FILE_ONLY},
    {"/a%5cb", "", "a\\b", FILE_ONLY},
    {"/..a", "", NULL, FILE_ONLY},
    {"/..a", "", "..a", HIDDEN},
    {"/a..", "", "a..", FILE_ONLY},
    {"/a.", "", "a.", FILE_ONLY},
    {"/...", "", NULL, FILE_ONLY},
    {"/...", "", "...", HIDDEN},
    {"//", "", NULL, FILE_ONLY},
    {"//a", "", NULL, FILE_ONLY},
    {"/a//", "", NULL, FILE_ONLY},
    {"/a//b", "", NULL, FILE_ONLY},
    {"/a///", "", NULL, FILE_ONLY},
    {"/.", "", NULL, HIDDEN},
    {"/./", "", NULL, HIDDEN},
    {"/..", "", NULL, HIDDEN},
    {"/../", "", NULL, HIDDEN},
    {"/../a", "", NULL, HIDDEN},
    {"/a/..", "", NULL, HIDDEN},
    {"/a/../b", "", NULL, HIDDEN},
    {"/a/./b", "", NULL, HIDDEN},
    {"/%2e", "", NULL, HIDDEN},
    {"/%2e%2e", "", NULL, HIDDEN},
    {"/%2E%2E/a", "", NULL, HIDDEN},
    {"/.%2e/a", "", NULL, HIDDEN},
    {"/%2e./a", "", NULL, HIDDEN},
    {"/a/%2e%2e/b", "", NULL, HIDDEN},
    {"/%252e%252e/a", "", "%2e%2e/a", FILE_ONLY},
    {"/..%2fa", "", NULL, HIDDEN},
    {"/a%2fb", "", NULL, FILE_ONLY},
    {"/a%2Fb", "", NULL, FILE_ONLY},
    {"/%2f", "", NULL, FILE_ONLY},
    {"/%2fetc/passwd", "", NULL, FILE_ONLY},
    {"/..%5c..%5ca", "", "..\\..\\a", HIDDEN},
    {"/%c0%ae%c0%ae/a", "", "\xc0\xae\xc0\xae/a", FILE_ONLY}, /* overlong dots are no dots */
    {"/%c0%af", "", "\xc0\xaf", FILE_ONLY},
    {"/%00", "", NULL, FILE_ONLY},
    {"/a%00", "", NULL, FILE_ONLY},
    {"/a%00.txt", "", NULL, FILE_ONLY},
    {"/%", "", NULL, FILE_ONLY},
    {"/%1", "", NULL, FILE_ONLY},
    {"/%zz", "", NULL, FILE_ONLY},
    {"/a%2", "", NULL, FILE_ONLY},
    {"/.git/config", "", NULL, FILE_ONLY},
    {"/.git/config", "", ".git/config", HIDDEN},
    {"/a/.b", "", NULL, FILE_ONLY},
    {"/%2egit", "", NULL, FILE_ONLY},
    {"/~a", "", "~a", FILE_ONLY},
    {"/a:b", "", "a:b", FILE_ONLY},
    {"/a;b=c", "", "a;b=c", FILE_ONLY},
    {"*", "", NULL, FILE_ONLY},
    {"a", "", NULL, FILE_ONLY},
    {"", "", NULL, FILE_ONLY},
    {"/files/a", "/files", "a", FILE_ONLY},
    {"/files/a", "/files/", "a", FILE_ONLY},
    {"/files/", "/files", "", FOLDER},
    {"/files", "/files", "", FILE_ONLY},
    {"/files", "/files/", "", FILE_ONLY},
    {"/files/%2e%2e", "/files", NULL, HIDDEN},
    {"/.well-known/a", "", ".well-known/a", FILE_ONLY},
    {"/%2ewell-known", "", ".well-known", FILE_ONLY},
    {"/.well-known/.a", "", NULL, FILE_ONLY},
    {"/.Well-Known/a", "", NULL, FILE_ONLY},
    {"/.well-known2/a", "", NULL, FILE_ONLY},
    {"/a/.well-known", "", NULL, FILE_ONLY},
    {"/files/.well-known/a", "/files", ".well-known/a", FILE_ONLY},
    {"/filesa", "/files", NULL, FILE_ONLY},
    {"/file", "/files", NULL, FILE_ONLY},
    {"/files/../a", "/files", NULL, HIDDEN},
    {"/files//a", "/files", NULL, FILE_ONLY},
    {"/%66iles/a", "/files", NULL, FILE_ONLY},
};

static void test_paths(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const path_row *r = &paths[i];
        redd__file_path p;
        bool ok = redd__file_path_parse(redd_slice_str(r->path), redd_slice_str(r->prefix),
                                        r->what == HIDDEN, &p);
        if (ok != (r->file != NULL) ||
            (ok && (strcmp(p.text, r->file) != 0 || p.folder != (r->what == FOLDER))))
            fail_msg("%s below %s: %s", r->path, r->prefix, ok ? p.text : "refused");
        assert_true(!ok || strlen(p.text) == p.len);
    }
}

static void test_long_paths(void **state)
{
    (void)state;
    bytes path = {0};
    redd__file_path p;
    redd_slice none = redd_slice_str("");
    bytes_text(&path, "/");
    bytes_fill(&path, 'a', 255);
    assert_true(redd__file_path_parse(redd_slice_of(path.data, path.len), none, false, &p));
    bytes_text(&path, "a");
    assert_false(redd__file_path_parse(redd_slice_of(path.data, path.len), none, false, &p));
    bytes_clear(&path);
    while (path.len < 5000)
        bytes_text(&path, "/abcdefg");
    assert_false(redd__file_path_parse(redd_slice_of(path.data, path.len), none, false, &p));
    assert_true(redd__file_path_parse(redd_slice_of(path.data, 4000), none, false, &p));
    assert_false(redd__file_path_append(&p, path.data));
    assert_int_equal(strlen(p.text), p.len);
    bytes_free(&path);
}

/* --- ranges --- */

typedef struct range_row {
    const char *value;
    uint64_t size;
    const char *ranges; /* "0-1,5-9"; "": the whole; "416" */
} range_row;

static const range_row range_rows[] = {
    {"bytes=0-0", 10, "0-0"},
    {"bytes=0-9", 10, "0-9"},
    {"bytes=0-10", 10, "0-9"},
    {"bytes=0-", 10, "0-9"},
    {"bytes=9-", 10, "9-9"},
    {"bytes=10-", 10, "416"},
    {"bytes=10-20", 10, "416"},
    {"bytes=-1", 10, "9-9"},
    {"bytes=-10", 10, "0-9"},
    {"bytes=-11", 10, "0-9"},
    {"bytes=-0", 10, "416"},
    {"BYTES=1-2", 10, "1-2"},
    {"bytes= 1-2 , 900-901", 1000, "1-2,900-901"},
    {"bytes=1-2,,900-901,", 1000, "1-2,900-901"},
    {"bytes=900-901,1-2", 1000, "1-2,900-901"},
    {"bytes=0-5,3-9", 1000, "0-9"},
    {"bytes=0-5,6-9", 1000, "0-9"},
    {"bytes=0-5,50-60", 1000, "0-60"},
    {"bytes=0-5,85-90", 1000, "0-90"},
    {"bytes=0-5,86-90", 1000, "0-5,86-90"},
    {"bytes=0-999,5-6", 1000, "0-999"},
    {"bytes=0-1,2000-", 1000, "0-1"},
    {"bytes=2000-,3000-", 1000, "416"},
    {"bytes=5-2", 10, ""},
    {"bytes=0-1,5-2", 10, ""},
    {"bytes=", 10, ""},
    {"bytes=,", 10, ""},
    {"bytes=-", 10, ""},
    {"bytes=--1", 10, ""},
    {"bytes=a-b", 10, ""},
    {"bytes=1", 10, ""},
    {"bytes=1-2-3", 10, ""},
    {"bytes=1-2x", 10, ""},
    {"bytes=+1-2", 10, ""},
    {"bytes=0x1-2", 10, ""},
    {"bytes:1-2", 10, ""},
    {"byte=1-2", 10, ""},
    {"lines=1-2", 10, ""},
    {"", 10, ""},
    {"bytes=0-18446744073709551615", 10, "0-9"},
    {"bytes=0-18446744073709551616", 10, "0-9"},
    {"bytes=18446744073709551615-", 10, "416"},
    {"bytes=18446744073709551616-18446744073709551616", 10, "416"},
    {"bytes=-18446744073709551616", 10, "0-9"},
    {"bytes=99999999999999999999999999-1", 10, ""},
    {"bytes=0-", 0, "416"},
    {"bytes=-5", 0, "416"},
    {"bytes=0-0", UINT64_MAX, "0-0"},
    {"bytes=-1", UINT64_MAX, "18446744073709551614-18446744073709551614"},
    {"bytes=0-0,100-100,200-200,300-300,400-400,500-500,600-600,700-700,800-800,900-900", 1000,
     "0-0,100-100,200-200,300-300,400-400,500-500,600-600,700-700,800-800,900-900"},
    {"bytes=0-0,100-100,200-200,300-300,400-400,500-500,600-600,700-700,800-800,900-900,1000-1000",
     2000, ""},
    {"bytes=0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0", 1000, "0-0"},
};

static void test_ranges(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof range_rows / sizeof *range_rows; i++) {
        const range_row *r = &range_rows[i];
        redd__range ranges[REDD__RANGES_MAX];
        size_t n;
        bytes text = {0};
        bytes_text(&text, "");
        redd__ranges_outcome o = redd__ranges_parse(redd_slice_str(r->value), r->size, ranges, &n);
        if (o == REDD__RANGES_UNSATISFIABLE)
            bytes_text(&text, "416");
        for (size_t k = 0; o == REDD__RANGES_SOME && k < n; k++) {
            char one[64];
            (void)snprintf(one, sizeof one, "%s%llu-%llu", k ? "," : "",
                           (unsigned long long)ranges[k].first, (unsigned long long)ranges[k].last);
            bytes_text(&text, one);
        }
        if (strcmp(text.data, r->ranges) != 0)
            fail_msg("%s of %llu: %s", r->value, (unsigned long long)r->size, text.data);
        bytes_free(&text);
    }
}

static void test_range_flood(void **state)
{
    (void)state;
    redd__range ranges[REDD__RANGES_MAX];
    size_t n;
    bytes value = {0};
    bytes_text(&value, "bytes=0-0");
    for (int i = 0; i < 1000; i++)
        bytes_text(&value, ",0-");
    assert_int_equal(redd__ranges_parse(redd_slice_of(value.data, value.len), 1000, ranges, &n),
                     REDD__RANGES_NONE);
    bytes_free(&value);
}

/* --- dates --- */

static void test_dates(void **state)
{
    (void)state;
    static const int64_t now = 1780000000; /* 2026 */
    static const struct {
        const char *text;
        int64_t t; /* -1: none */
    } rows[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
        {"Sun Nov  6 08:49:37 1994", 784111777},
        {"Sun Nov 16 08:49:37 1994", 784975777},
        {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {"Wednesday, 01-Jan-30 00:00:00 GMT", 1893456000},
        {"Saturday, 01-Jan-77 00:00:00 GMT", 220924800},
        {"Tuesday, 01-Jan-80 00:00:00 GMT", 315532800},
        {"Thu, 31 Dec 2026 23:59:60 GMT", 1798761600},
        {"", -1},
        {"Sun, 06 Nov 1994 08:49:37", -1},
        {"Sun, 06 Nov 1994 08:49:37 UTC", -1},
        {"Sun, 06 Nov 1994 08:49:37 GMT ", -1},
        {"sun, 06 nov 1994 08:49:37 gmt", -1},
        {"Sun, 6 Nov 1994 08:49:37 GMT", -1},
        {"Sun, 06 Nov 1994 24:49:37 GMT", -1},
        {"Sun, 06 Nov 1994 08:60:37 GMT", -1},
        {"Sun, 06 Nov 1994 08:49:61 GMT", -1},
        {"Sun, 00 Nov 1994 08:49:37 GMT", -1},
        {"Sun, 32 Nov 1994 08:49:37 GMT", -1},
        {"Sun, 06 Foo 1994 08:49:37 GMT", -1},
        {"Xxx, 06 Nov 1994 08:49:37 GMT", -1},
        {"Sun, 06 Nov -994 08:49:37 GMT", -1},
        {"784111777", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t t = -1;
        bool ok = redd__http_date_parse(redd_slice_str(rows[i].text), now, &t);
        if (ok != (rows[i].t >= 0) || (ok && t != rows[i].t))
            fail_msg("%s: %lld", rows[i].text, ok ? (long long)t : -1LL);
    }
    char text[REDD__HTTP_DATE + 1] = "";
    assert_ptr_equal(redd__http_date_put(text, 784111777), text + REDD__HTTP_DATE);
    assert_string_equal(text, "Sun, 06 Nov 1994 08:49:37 GMT");
}

/* --- conditions --- */

#define TAG  "\"18b8f0f5c3c8e400-a\""
#define THEN "Sun, 06 Nov 1994 08:49:37 GMT"

typedef struct condition_row {
    const char *fields;
    unsigned status;
} condition_row;

static const redd__validators file = {
    .etag = TAG, .etag_len = sizeof TAG - 1, .modified = 784111777};

static const condition_row condition_rows[] = {
    {"", 0},
    {"If-None-Match: " TAG "\r\n", 304},
    {"If-None-Match: W/" TAG "\r\n", 304},
    {"If-None-Match: *\r\n", 304},
    {"If-None-Match: \"x\"\r\n", 0},
    {"If-None-Match: \"x\", " TAG "\r\n", 304},
    {"If-None-Match: \"x\"\r\nIf-None-Match: " TAG "\r\n", 304},
    {"If-None-Match: \"a,b\"," TAG "\r\n", 304},
    {"If-None-Match: 18b8f0f5c3c8e400-a\r\n", 0},
    {"If-None-Match:\r\n", 0},
    {"If-Modified-Since: " THEN "\r\n", 304},
    {"If-Modified-Since: Sun, 06 Nov 1994 08:49:38 GMT\r\n", 304},
    {"If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 0},
    {"If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT\r\n", 304},
    {"If-Modified-Since: Sun Nov  6 08:49:37 1994\r\n", 304},
    {"If-Modified-Since: yesterday\r\n", 0},
    {"If-None-Match: \"x\"\r\nIf-Modified-Since: " THEN "\r\n", 0},
    {"If-None-Match: " TAG "\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 304},
    {"If-Match: " TAG "\r\n", 0},
    {"If-Match: *\r\n", 0},
    {"If-Match: \"x\"\r\n", 412},
    {"If-Match: W/" TAG "\r\n", 412},
    {"If-Match: \"x\", " TAG "\r\n", 0},
    {"If-Match:\r\n", 412},
    {"If-Unmodified-Since: " THEN "\r\n", 0},
    {"If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 412},
    {"If-Unmodified-Since: never\r\n", 0},
    {"If-Match: " TAG "\r\nIf-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 0},
    {"If-Match: \"x\"\r\nIf-None-Match: " TAG "\r\n", 412},
    {"If-Match: " TAG "\r\nIf-None-Match: " TAG "\r\n", 304},
    {"If-Unmodified-Since: " THEN "\r\nIf-Modified-Since: " THEN "\r\n", 304},
};

/* 0: the range counts; 200: it does not. */
static const condition_row if_range_rows[] = {
    {"", 0},
    {"If-Range: " TAG "\r\n", 0},
    {"If-Range: W/" TAG "\r\n", 200},
    {"If-Range: \"x\"\r\n", 200},
    {"If-Range: " THEN "\r\n", 0},
    {"If-Range: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 200},
    {"If-Range: Sun, 06 Nov 1994 08:49:38 GMT\r\n", 200},
    {"If-Range: x\r\n", 200},
    {"If-Range:\r\n", 200},
};

typedef struct judge {
    unsigned status;
    bool range;
} judge;

static void on_judge(redd_http_request *req, void *user)
{
    judge *j = user;
    j->status = redd__conditions_judge(req, &file, 1780000000);
    j->range = redd__if_range_holds(req, &file, 1780000000);
    assert_int_equal(redd_http_respond_text(req, 200, ""), 0);
}

static void send_fields(client *c, const char *fields)
{
    bytes request = {0};
    bytes_text(&request, "GET / HTTP/1.1\r\nHost: h\r\n");
    bytes_text(&request, fields);
    bytes_text(&request, "\r\n");
    client_send(c, request.data, request.len);
    bytes_free(&request);
}

static void test_conditions(void **state)
{
    (void)state;
    bed b;
    client c;
    judge j;
    bed_begin(&b, on_judge, &j);
    client_open(&b, &c);
    for (size_t i = 0; i < sizeof condition_rows / sizeof *condition_rows; i++) {
        j.status = 1;
        send_fields(&c, condition_rows[i].fields);
        if (j.status != condition_rows[i].status)
            fail_msg("%s: %u", condition_rows[i].fields, j.status);
    }
    for (size_t i = 0; i < sizeof if_range_rows / sizeof *if_range_rows; i++) {
        send_fields(&c, if_range_rows[i].fields);
        if (j.range != (if_range_rows[i].status == 0))
            fail_msg("%s: %d", if_range_rows[i].fields, j.range);
    }
    client_close(&c);
    bed_end(&b);
}

/* --- types --- */

static void expect_type(const redd__mime *m, const char *name, const char *type)
{
    char buf[REDD__MIME_MAX];
    redd_slice got = redd__mime_type(m, name, buf);
    if (!redd_slice_equal(got, redd_slice_str(type)))
        fail_msg("%s: %.*s", name, (int)got.len, got.data);
}

static void test_types(void **state)
{
    (void)state;
    static const char text[] = "# a comment\n"
                               "text/html\t\thtml htm\r\n"
                               "\n"
                               "application/json json\n"
                               "  image/PNG   PNG\n"
                               "application/none\n"
                               "x/y.z   tar.gz-is-two gz";
    char path[] = "/tmp/redd-mime-XXXXXX";
    redd__mime m;
    int fd = mkstemp(path);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    assert_int_equal(close(fd), 0);
    assert_int_equal(redd__mime_load(&m, redd_allocator_default(), path), 0);
    assert_int_equal(unlink(path), 0);
    expect_type(&m, "a.html", "text/html; charset=utf-8");
    expect_type(&m, "a/b.c/index.HTM", "text/html; charset=utf-8");
    expect_type(&m, "a.json", "application/json");
    expect_type(&m, "a.png", "image/png");
    expect_type(&m, "a.tar.gz", "x/y.z");
    expect_type(&m, "a.unknown", "application/octet-stream");
    expect_type(&m, "a.", "application/octet-stream");
    expect_type(&m, "html", "application/octet-stream");
    expect_type(&m, "dir.html/file", "application/octet-stream");
    expect_type(&m, "", "application/octet-stream");
    redd__mime_fini(&m);
    assert_int_equal(redd__mime_load(&m, redd_allocator_default(), "/nowhere/types"), UV_ENOENT);
    assert_int_equal(redd__mime_load(&m, redd_allocator_default(), NULL), 0);
    expect_type(&m, "a.html", "text/html; charset=utf-8");
    expect_type(&m, "a.svg", "image/svg+xml");
    redd__mime_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),  cmocka_unit_test(test_long_paths),
        cmocka_unit_test(test_ranges), cmocka_unit_test(test_range_flood),
        cmocka_unit_test(test_dates),  cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
