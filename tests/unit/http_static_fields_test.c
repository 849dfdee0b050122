/* SPDX-License-Identifier: MIT */
/** What is told with a file, and which part of it is sent: whole exchanges. */
#include "tests/unit/http_folder.h"

#define CHANGED 784111777 /* Sun, 06 Nov 1994 08:49:37 GMT */
#define TAG     "\"ae1b981bc490a02-a\""

static void begin(folder *f)
{
    folder_make(f);
    put_text(f, "ten.txt", "0123456789");
    set_time(f, "ten.txt", CHANGED, 2);
    put_text(f, "empty", "");
    put_folder(f, "sub");
    put_text(f, "sub/index.html", "index");
}

/* --- fields and conditions --- */

static void test_fields(void **state)
{
    (void)state;
    folder f;
    reply r;
    begin(&f);
    folder_serve(&f);
    get(&f, "/ten.txt", &r);
    assert_field(&r, "content-type", "text/plain; charset=utf-8");
    assert_field(&r, "content-length", "10");
    assert_field(&r, "last-modified", "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_field(&r, "etag", TAG);
    assert_field(&r, "accept-ranges", "bytes");
    assert_field(&r, "vary", "Accept-Encoding");
    assert_field(&r, "content-encoding", NULL);
    assert_field(&r, "cache-control", NULL);
    reply_end(&r);
    set_time(&f, "ten.txt", CHANGED, 3);
    get(&f, "/ten.txt", &r);
    assert_false(reply_field_is(&r, "etag", TAG));
    reply_end(&r);
    set_time(&f, "ten.txt", 4000000000, 0); /* the future; the clock stands at 1780000000 */
    get(&f, "/ten.txt", &r);
    assert_field(&r, "last-modified", "Thu, 28 May 2026 20:26:40 GMT");
    reply_end(&r);
    set_time(&f, "ten.txt", -5, 0);
    get(&f, "/ten.txt", &r);
    assert_field(&r, "last-modified", "Wed, 31 Dec 1969 23:59:55 GMT");
    reply_end(&r);
    folder_end(&f);
}

typedef struct row {
    const char *fields;
    unsigned status;
    const char *body, *content_range;
} row;

#define THEN   "Sun, 06 Nov 1994 08:49:37 GMT"
#define BEFORE "Sun, 06 Nov 1994 08:49:36 GMT"
#define ALL    "0123456789"

static const row rows[] = {
    {"", 200, ALL, NULL},
    {"If-None-Match: " TAG "\r\n", 304, "", NULL},
    {"If-None-Match: *\r\n", 304, "", NULL},
    {"If-None-Match: \"x\"\r\nIf-Modified-Since: " THEN "\r\n", 200, ALL, NULL},
    {"If-Modified-Since: " THEN "\r\n", 304, "", NULL},
    {"If-Modified-Since: " THEN "\r\nIf-Modified-Since: " BEFORE "\r\n", 200, ALL, NULL},
    {"If-Modified-Since: " BEFORE "\r\n", 200, ALL, NULL},
    {"If-Match: \"x\"\r\n", 412, "Precondition Failed\n", NULL},
    {"If-Unmodified-Since: " BEFORE "\r\n", 412, "Precondition Failed\n", NULL},
    {"If-Match: \"x\"\r\nIf-None-Match: " TAG "\r\n", 412, "Precondition Failed\n", NULL},
    {"Range: bytes=0-0\r\n", 206, "0", "bytes 0-0/10"},
    {"Range: bytes=2-4\r\n", 206, "234", "bytes 2-4/10"},
    {"Range: bytes=-3\r\n", 206, "789", "bytes 7-9/10"},
    {"Range: bytes=5-\r\n", 206, "56789", "bytes 5-9/10"},
    {"Range: bytes=5-99\r\n", 206, "56789", "bytes 5-9/10"},
    {"Range: bytes=0-\r\n", 206, ALL, "bytes 0-9/10"},
    {"Range: bytes=0-1,8-9\r\n", 206, ALL, "bytes 0-9/10"},
    {"Range: bytes=10-\r\n", 416, "", "bytes */10"},
    {"Range: bytes=-0\r\n", 416, "", "bytes */10"},
    {"Range: bytes=5-2\r\n", 200, ALL, NULL},
    {"Range: lines=0-1\r\n", 200, ALL, NULL},
    {"Range: bytes=0-1\r\nRange: bytes=2-3\r\n", 200, ALL, NULL},
    {"Range: bytes=0-1\r\nIf-None-Match: " TAG "\r\n", 304, "", NULL},
    {"Range: bytes=0-1\r\nIf-Match: " TAG "\r\n", 206, "01", "bytes 0-1/10"},
    {"Range: bytes=0-1\r\nIf-Match: \"x\"\r\n", 412, "Precondition Failed\n", NULL},
    {"Range: bytes=0-1\r\nIf-Range: " TAG "\r\n", 206, "01", "bytes 0-1/10"},
    {"Range: bytes=0-1\r\nIf-Range: W/" TAG "\r\n", 200, ALL, NULL},
    {"Range: bytes=0-1\r\nIf-Range: \"x\"\r\n", 200, ALL, NULL},
    {"Range: bytes=0-1\r\nIf-Range: " THEN "\r\n", 206, "01", "bytes 0-1/10"},
    {"Range: bytes=0-1\r\nIf-Range: " BEFORE "\r\n", 200, ALL, NULL},
    {"Range: bytes=0-1\r\nIf-Range: " TAG "\r\nIf-Range: " TAG "\r\n", 200, ALL, NULL},
    {"Range: bytes=99-\r\nIf-Range: \"x\"\r\n", 200, ALL, NULL},
    {"If-Range: \"x\"\r\n", 200, ALL, NULL},
};

static void check_row(folder *f, const row *w)
{
    reply r;
    ask(f, "GET", "/ten.txt", w->fields, &r);
    if (r.status != w->status || !reply_body_is(&r, w->body))
        fail_msg("%s: %u %s", w->fields, r.status, r.body.data ? r.body.data : "");
    assert_field(&r, "content-range", w->content_range);
    bool whole = r.status == 200 || r.status == 206;
    assert_field(&r, "last-modified", whole ? THEN : NULL);
    assert_field(&r, "accept-ranges", whole ? "bytes" : NULL);
    assert_field(&r, "etag", whole || r.status == 304 ? TAG : NULL);
    assert_field(&r, "vary", whole || r.status == 304 ? "Accept-Encoding" : NULL);
    assert_field(&r, "cache-control", whole || r.status == 304 ? "no-cache" : NULL);
    assert_true((reply_field(&r, "content-type").data != NULL) == (whole || r.status == 412));
    reply_end(&r);
}

static void test_conditions_and_ranges(void **state)
{
    (void)state;
    folder f;
    begin(&f);
    f.options.cache_control = "no-cache";
    folder_serve(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&f, &rows[i]);
    reply r;
    ask(&f, "GET", "/empty", "Range: bytes=0-\r\n", &r);
    assert_int_equal(r.status, 416);
    assert_field(&r, "content-range", "bytes */0");
    reply_end(&r);
    folder_end(&f);
}

/* --- several parts --- */

/* Reads the parts strictly: "first-last," of each. */
static void read_parts(const reply *r, size_t size, bytes *out)
{
    redd_slice type = reply_field(r, "content-type");
    redd_slice start = redd_slice_str("multipart/byteranges; boundary=");
    assert_true(type.len > start.len && memcmp(type.data, start.data, start.len) == 0);
    redd_slice boundary = redd_slice_of(type.data + start.len, type.len - start.len);
    redd_slice rest = redd_slice_of(r->body.data, r->body.len);
    for (;;) {
        assert_int_equal(slice_line(&rest).len, 0);
        redd_slice line = slice_line(&rest);
        assert_true(line.len >= boundary.len + 2 && memcmp(line.data, "--", 2) == 0 &&
                    memcmp(line.data + 2, boundary.data, boundary.len) == 0);
        if (line.len > boundary.len + 2)
            break;
        line = slice_line(&rest);
        assert_true(
            redd_slice_equal(line, redd_slice_str("Content-Type: text/plain; charset=utf-8")));
        line = slice_line(&rest);
        unsigned long first, last, total;
        char text[100];
        (void)snprintf(text, sizeof text, "%.*s", (int)line.len, line.data);
        assert_int_equal(memcmp(text, "Content-Range: bytes ", 21), 0);
        char *p = text + 21;
        first = strtoul(p, &p, 10);
        assert_int_equal(*p++, '-');
        last = strtoul(p, &p, 10);
        assert_int_equal(*p++, '/');
        total = strtoul(p, &p, 10);
        assert_int_equal(total, size);
        assert_int_equal(slice_line(&rest).len, 0);
        assert_true(rest.len > last - first);
        for (size_t i = first; i <= last; i++)
            assert_int_equal(rest.data[i - first], pattern_at(i));
        rest = redd_slice_of(rest.data + (last - first + 1), rest.len - (last - first + 1));
        (void)snprintf(text, sizeof text, "%lu-%lu,", first, last);
        bytes_text(out, text);
    }
    assert_int_equal(rest.len, 0);
}

static void check_parts(folder *f, const char *ranges, size_t size, const char *expected)
{
    reply r;
    bytes fields = {0}, got = {0};
    bytes_text(&fields, "Range: bytes=");
    bytes_text(&fields, ranges);
    bytes_text(&fields, "\r\n");
    ask(f, "GET", "/pattern.txt", fields.data, &r);
    assert_int_equal(r.status, 206);
    assert_field(&r, "content-range", NULL);
    read_parts(&r, size, &got);
    assert_string_equal(got.data, expected);
    reply_end(&r);
    bytes_free(&fields);
    bytes_free(&got);
}

static void test_parts(void **state)
{
    (void)state;
    enum { SIZE = 600000 };
    folder f;
    reply r;
    begin(&f);
    put_pattern(&f, "pattern.txt", SIZE);
    folder_serve(&f);
    check_parts(&f, "0-0,1000-1001", SIZE, "0-0,1000-1001,");
    check_parts(&f, "1000-1001,0-0", SIZE, "0-0,1000-1001,");
    check_parts(&f, "-1,0-0", SIZE, "0-0,599999-599999,");
    check_parts(&f, "0-199999,200500-400000,500000-,999999999-", SIZE,
                "0-199999,200500-400000,500000-599999,");
    check_parts(&f,
                "0-0,1000-1000,2000-2000,3000-3000,4000-4000,5000-5000,6000-6000,7000-7000,"
                "8000-8000,9000-",
                SIZE,
                "0-0,1000-1000,2000-2000,3000-3000,4000-4000,5000-5000,6000-6000,7000-7000,"
                "8000-8000,9000-599999,");
    ask(&f, "GET", "/pattern.txt",
        "Range: bytes=0-0,1000-1000,2000-2000,3000-3000,4000-4000,"
        "5000-5000,6000-6000,7000-7000,8000-8000,9000-9000,10000-\r\n",
        &r);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.body.len, SIZE);
    reply_end(&r);
    folder_end(&f);
}

/* --- precompressed neighbours --- */

typedef struct neighbour_row {
    const char *accepts, *coding;
} neighbour_row;

static void test_neighbours(void **state)
{
    (void)state;
    static const neighbour_row choices[] = {
        {"", NULL},
        {"Accept-Encoding: gzip\r\n", "gzip"},
        {"Accept-Encoding: br\r\n", "br"},
        {"Accept-Encoding: zstd\r\n", "zstd"},
        {"Accept-Encoding: gzip, deflate, br\r\n", "br"},
        {"Accept-Encoding: gzip;q=1, br;q=0.5\r\n", "gzip"},
        {"Accept-Encoding: gzip;q=0\r\n", NULL},
        {"Accept-Encoding: identity\r\n", NULL},
        {"Accept-Encoding: identity, gzip;q=0.5\r\n", NULL},
        {"Accept-Encoding: *;q=0\r\n", NULL},
        {"Accept-Encoding: gzip\r\nIf-None-Match: " TAG "\r\n", "gzip"},
        {"Accept-Encoding: gzip\r\nRange: bytes=0-1\r\n", "gzip"},
        {"Accept-Encoding: x\r\n", NULL},
    };
    folder f;
    reply r;
    begin(&f);
    put_text(&f, "ten.txt.gz", "of gzip...");
    put_text(&f, "ten.txt.br", "of br");
    put_text(&f, "ten.txt.zst", "of zstd");
    set_time(&f, "ten.txt.gz", CHANGED, 2); /* gzip keeps the time, and here by chance the size */
    folder_serve(&f);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        ask(&f, "GET", "/ten.txt", choices[i].accepts, &r);
        assert_field(&r, "content-encoding", choices[i].coding);
        assert_field(&r, "content-type", "text/plain; charset=utf-8");
        assert_field(&r, "vary", "Accept-Encoding");
        assert_true(reply_field_is(&r, "etag", TAG) == !choices[i].coding);
        assert_true((memcmp(r.body.data, "of", 2) == 0) == (choices[i].coding != NULL));
        reply_end(&r);
    }
    ask(&f, "GET", "/ten.txt",
        "Accept-Encoding: gzip\r\nIf-None-Match: \"ae1b981bc490a02-a-gzip\"\r\n", &r);
    assert_int_equal(r.status, 304);
    assert_field(&r, "content-encoding", NULL);
    assert_field(&r, "etag", "\"ae1b981bc490a02-a-gzip\"");
    reply_end(&r);
    ask(&f, "GET", "/ten.txt.gz", "Accept-Encoding: gzip\r\n", &r);
    assert_field(&r, "content-encoding", NULL);
    assert_field(&r, "content-type", "application/gzip");
    reply_end(&r);
    folder_end(&f);
}

/* A neighbour alone is no file, and what is no file is no neighbour. */
static void test_false_neighbours(void **state)
{
    (void)state;
    folder f;
    reply r;
    begin(&f);
    put_text(&f, "gone.txt.gz", "x");
    put_folder(&f, "ten.txt.br");
    put_link(&f, "../secret", "ten.txt.gz");
    assert_int_equal(mkfifo(path_of(&f, "ten.txt.zst").text, 0644), 0);
    folder_serve(&f);
    assert_status(&f, "/gone.txt", 404);
    ask(&f, "GET", "/ten.txt", "Accept-Encoding: gzip, br, zstd\r\n", &r);
    assert_field(&r, "content-encoding", NULL);
    assert_true(reply_body_is(&r, "0123456789"));
    reply_end(&r);
    folder_end(&f);
}

static void test_index_has_neighbours(void **state)
{
    (void)state;
    folder f;
    reply r;
    begin(&f);
    put_text(&f, "sub/index.html.gz", "zipped");
    folder_serve(&f);
    ask(&f, "GET", "/sub/", "Accept-Encoding: gzip\r\n", &r);
    assert_field(&r, "content-encoding", "gzip");
    assert_field(&r, "content-type", "text/html; charset=utf-8");
    assert_true(reply_body_is(&r, "zipped"));
    reply_end(&r);
    folder_end(&f);
}

/* --- compressed here --- */

static void test_tags_of_304_and_200_agree(void **state)
{
    (void)state;
    static const char *const names[] = {"/text.txt", "/picture.png", "/ten.txt", "/zipped.txt"};
    folder f;
    begin(&f);
    bytes text = {0};
    bytes_fill(&text, 'x', 40000);
    put_bytes(&f, "text.txt", text.data, text.len);
    put_bytes(&f, "picture.png", text.data, text.len);
    put_text(&f, "zipped.txt", "x");
    put_bytes(&f, "zipped.txt.gz", text.data, text.len);
    bytes_free(&text);
    folder_serve(&f);
    f.b.options.compress = 1;
    client_close(&f.c);
    bed_serve_anew(&f.b, folder_answer, &f);
    client_open(&f.b, &f.c);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        reply r;
        char fields[200];
        ask(&f, "GET", names[i], "Accept-Encoding: gzip\r\n", &r);
        assert_int_equal(r.status, 200);
        redd_slice tag = reply_field(&r, "etag");
        bool weak = tag.data[0] == 'W';
        assert_int_equal(weak, i == 0);
        (void)snprintf(fields, sizeof fields, "Accept-Encoding: gzip\r\nIf-None-Match: %.*s\r\n",
                       (int)tag.len, tag.data);
        reply_end(&r);
        ask(&f, "GET", names[i], fields, &r);
        assert_int_equal(r.status, 304);
        assert_int_equal(reply_field(&r, "etag").data[0] == 'W', weak);
        reply_end(&r);
    }
    folder_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_conditions_and_ranges),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_false_neighbours),
        cmocka_unit_test(test_index_has_neighbours),
        cmocka_unit_test(test_tags_of_304_and_200_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
