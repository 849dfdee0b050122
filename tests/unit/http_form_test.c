/* SPDX-License-Identifier: MIT */
/** Forms: what is told of them, however they are cut. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_form_fixture.h"

typedef struct row {
    const char *type; /* NULL: DESK_MULTIPART */
    const char *body;
    const char *log;
} row;

static void expect_log(const desk *d, const row *r)
{
    if (strcmp(d->log.data, r->log) != 0)
        print_error("body: %s\n", r->body);
    assert_string_equal(d->log.data, r->log);
}

static void check_row(desk *d, const row *r)
{
    size_t len = strlen(r->body);
    const char *type = r->type ? r->type : DESK_MULTIPART;
    for (unsigned chunked = 0; chunked < 2; chunked++) {
        desk_send(d, type, r->body, len, (desk_way){len, len, chunked});
        expect_log(d, r);
        desk_send(d, type, r->body, len, (desk_way){1, 1, chunked});
        expect_log(d, r);
    }
    for (size_t cut = 1; cut < len; cut++) {
        desk_send(d, type, r->body, len, (desk_way){cut, len, false});
        expect_log(d, r);
    }
    d->pauses = 1;
    desk_send(d, type, r->body, len, (desk_way){len, len, false});
    expect_log(d, r);
    desk_send(d, type, r->body, len, (desk_way){3, 3, true});
    expect_log(d, r);
    d->pauses = 0;
}

static void check_rows(const row *rows, size_t n)
{
    desk d;
    desk_begin(&d);
    for (size_t i = 0; i < n; i++)
        check_row(&d, &rows[i]);
    desk_end(&d);
}
#define CHECK_ROWS(rows) check_rows((rows), sizeof(rows) / sizeof *(rows))

#define FIELD(name) "Content-Disposition: form-data; name=" name "\r\n"
#define FILED(rest) "Content-Disposition: form-data; name=n; " rest "\r\n"
#define A           FIELD("a") "\r\n"

/* --- multipart --- */

static void test_parts(void **state)
{
    (void)state;
    static const row rows[] = {
        {NULL, "--XX\r\n" A "one\r\n--XX--\r\n", "[a|-|]one;=0"},
        {NULL, "--XX\r\n" A "one\r\n--XX--", "[a|-|]one;=0"},
        {NULL, "--XX\r\n" A "\r\n--XX--", "[a|-|];=0"},
        {NULL, "--XX\r\n" A "--XX--", "[a|-|];=0"},
        {NULL, "--XX\r\n" A "\r\n\r\n--XX--", "[a|-|]\r\n;=0"},
        {NULL, "--XX\r\n" A "1\r\n--XX\r\n" FIELD("\"b c\"") "\r\n2\r\n--XX--\r\n",
         "[a|-|]1;[b c|-|]2;=0"},
        {NULL, "--XX--", "=0"},
        {NULL, "--XX--\r\n", "=0"},
        {NULL,
         "preamble\r\nwith --XX and\r\n--XY\r\n--XX\r\n" A "1\r\n--XX--\r\nepilogue\r\n--XX\r\n",
         "[a|-|]1;=0"},
        {NULL, "\r\n--XX\r\n" A "1\r\n--XX--", "[a|-|]1;=0"},
        {NULL, "--XX \t \r\n" A "1\r\n--XX\t\r\n" A "2\r\n--XX--  \r\n", "[a|-|]1;[a|-|]2;=0"},
        {NULL,
         "--XX\r\n" FILED(
             "filename=\"f.txt\"") "Content-Type: text/plain; charset=x\r\n\r\nx\r\n--XX--",
         "[n|f.txt|text/plain; charset=x]x;=0"},
        {NULL,
         "--XX\r\ncontent-type:a/b\r\nX-Other: "
         "1\r\ncontent-DISPOSITION:Form-Data;NAME=n;FileName=f\r\n\r\nx\r\n--XX--",
         "[n|f|a/b]x;=0"},
        {NULL, "--XX\r\n" FILED("filename=\"\"") "\r\n\r\n--XX--", "[n||];=0"},
        {"Multipart/Form-Data;charset=x; Boundary=\"X X\"", "--X X\r\n" A "1\r\n--X X--",
         "[a|-|]1;=0"},
        {"multipart/form-data; boundary=a'()+_,-./:=?b",
         "--a'()+_,-./:=?b\r\n" A "1\r\n--a'()+_,-./:=?b--", "[a|-|]1;=0"},
    };
    CHECK_ROWS(rows);
}

static void test_names(void **state)
{
    (void)state;
    static const row rows[] = {
        {NULL, "--XX\r\n" FILED("filename=\"a%22b%0D%0Ac%25%2F.txt\"") "\r\n1\r\n--XX--",
         "[n|a\"b\r\nc%25%2F.txt|]1;=0"},
        {NULL, "--XX\r\n" FILED("filename=\"a\\\"b\\\\c\"") "\r\n1\r\n--XX--", "[n|a\"b\\c|]1;=0"},
        {NULL, "--XX\r\n" FILED("filename=\"C:\\dir\\file.txt\"") "\r\n1\r\n--XX--",
         "[n|C:\\dir\\file.txt|]1;=0"},
        {NULL, "--XX\r\n" FILED("filename=\"../../etc/passwd\"") "\r\n1\r\n--XX--",
         "[n|../../etc/passwd|]1;=0"},
        {NULL, "--XX\r\n" FILED("filename=\"\xc3\xa4;=x.txt\"") "\r\n1\r\n--XX--",
         "[n|\xc3\xa4;=x.txt|]1;=0"},
        {NULL, "--XX\r\n" FILED("filename*=UTF-8''x; filename=y") "\r\n1\r\n--XX--", "[n|y|]1;=0"},
        {NULL, "--XX\r\n" FILED("filename*=UTF-8''x") "\r\n1\r\n--XX--", "[n|-|]1;=0"},
        {NULL, "--XX\r\n" FILED("; ;other=1;") "\r\n1\r\n--XX--", "[n|-|]1;=0"},
        {NULL, "--XX\r\n" FIELD("\"\"") "\r\n1\r\n--XX--", "[|-|]1;=0"},
        {NULL, "--XX\r\n" FIELD("a%22") "\r\n1\r\n--XX--", "[a%22|-|]1;=0"},
    };
    CHECK_ROWS(rows);
}

/* What looks like a delimiter but is content. */
static void test_near_boundaries(void **state)
{
    (void)state;
    static const row rows[] = {
        {NULL, "--XX\r\n" A "--XX\r\n--XX--",
         "[a|-|];=REDD_EMALFORMED" /* a part without a head */},
        {NULL, "--XX\r\n" A "x--XX\r\n--XX--", "[a|-|]x--XX;=0"},
        {NULL, "--XX\r\n" A "\n--XX\n\r\n--XX--", "[a|-|]\n--XX\n;=0"},
        {NULL, "--XX\r\n" A "\r--XX\r\r\n--XX--", "[a|-|]\r--XX\r;=0"},
        {NULL, "--XX\r\n" A "\r\n-XX\r\n--X\r\n--\r\n--XX--", "[a|-|]\r\n-XX\r\n--X\r\n--;=0"},
        {NULL, "--XX\r\n" A "\r\r\n\r\n\r\n--X\r\n--XX--", "[a|-|]\r\r\n\r\n\r\n--X;=0"},
        {NULL, "--XX\r\n" A "--X\r\n--XX--", "[a|-|]--X;=0"},
        {NULL, "--XX\r\n" A "-\r\n--XX--", "[a|-|]-;=0"},
        {"multipart/form-data; boundary=--XX", "----XX\r\n" A "\r\n--\r\n----X\r\n----XX--",
         "[a|-|]\r\n--\r\n----X;=0"},
    };
    CHECK_ROWS(rows);
}

static void test_malformed(void **state)
{
    (void)state;
#define BAD(head)                                                       \
    {                                                                   \
        NULL, "--XX\r\n" head "\r\n\r\n1\r\n--XX--", "=REDD_EMALFORMED" \
    }
    static const row rows[] = {
        {NULL, "", "=REDD_EMALFORMED"},
        {NULL, "nothing", "=REDD_EMALFORMED"},
        {NULL, "--X", "=REDD_EMALFORMED"},
        {NULL, "--XX", "=REDD_EMALFORMED"},
        {NULL, "--XX-", "=REDD_EMALFORMED"},
        {NULL, "--XX-x", "=REDD_EMALFORMED"},
        {NULL, "--XX\r\n", "=REDD_EMALFORMED"},
        {NULL, "--XX\rx", "=REDD_EMALFORMED"},
        {NULL, "--XX\n" A "1\r\n--XX--", "=REDD_EMALFORMED"},
        {NULL, "--XX --\r\n", "=REDD_EMALFORMED"},
        {NULL, "--XXY\r\n" A "1\r\n--XX--", "=REDD_EMALFORMED"},
        {NULL, "--XX\r\n" A "1\r\n--XXY\r\n--XX--", "[a|-|]1;=REDD_EMALFORMED"},
        {NULL, "--XX\r\n" FIELD("a"), "=REDD_EMALFORMED"},
        {NULL, "--XX\r\n" A, "[a|-|]=REDD_EMALFORMED"},
        {NULL, "--XX\r\n\r\n1\r\n--XX--", "=REDD_EMALFORMED"},
        BAD("Content-Type: text/plain"),
        BAD("Content-Disposition: form-data"),
        BAD("Content-Disposition: form-data; filename=x"),
        BAD("Content-Disposition: attachment; name=a"),
        BAD("Content-Disposition: form-data, name=a"),
        BAD("Content-Disposition: form-data; name"),
        BAD("Content-Disposition: form-data; name="),
        BAD("Content-Disposition: form-data; name=\"a"),
        BAD("Content-Disposition: form-data; name=\"a\\\""),
        BAD("Content-Disposition: form-data; name=\"a\"b"),
        BAD("Content-Disposition: form-data; name=a b"),
        BAD("Content-Disposition: form-data; name =a"),
        BAD("Content-Disposition: form-data; name=a; name=b"),
        BAD("Content-Disposition: form-data; name=a; filename=b; filename=c"),
        BAD("Content-Disposition: form-data; name=\"a\001\""),
        BAD("Content-Disposition : form-data; name=a"),
        BAD(" Content-Disposition: form-data; name=a"),
        BAD("Content-Disposition: form-data;\r\n name=a"),
        BAD("Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=a"),
        BAD("Content-Disposition: form-data; name=a\r\nContent-Type: a/b\r\nContent-Type: c/d"),
        BAD("Content-Disposition: form-data; name=a\r\nno colon"),
        BAD("Content-Disposition: form-data; name=a\r\n: empty"),
        BAD("Content-Disposition: form-data; name=a\nX: y"),
        BAD("Content-Disposition: form-data; name=a\rX: y"),
        BAD("\n"),
    };
    CHECK_ROWS(rows);
}

/* A form that is cut anywhere is never taken for a whole one. */
static void test_truncated(void **state)
{
    (void)state;
    static const char body[] = "--XX\r\n" A "1\r\n--XX\r\n" FILED("filename=f") "\r\n2\r\n--XX--";
    desk d;
    desk_begin(&d);
    for (size_t len = 0; len < sizeof body - 1; len++) {
        desk_send(&d, DESK_MULTIPART, body, len, (desk_way){len, len, false});
        assert_true(d.log.len >= 16);
        assert_string_equal(d.log.data + d.log.len - 16, "=REDD_EMALFORMED");
    }
    desk_end(&d);
}

/* --- urlencoded --- */

static void test_urlencoded(void **state)
{
    (void)state;
    static const char *const type = DESK_URLENCODED;
    const row rows[] = {
        {type, "", "=0"},
        {type, "a=1", "[a|-|]1;=0"},
        {type, "a=1&b=2", "[a|-|]1;[b|-|]2;=0"},
        {type, "&&a=1&&&b=2&", "[a|-|]1;[b|-|]2;=0"},
        {type, "a", "[a|-|];=0"},
        {type, "a=", "[a|-|];=0"},
        {type, "=1", "[|-|]1;=0"},
        {type, "=", "[|-|];=0"},
        {type, "a=b=c==", "[a|-|]b=c==;=0"},
        {type, "a+b=c+d%2B", "[a b|-|]c d+;=0"},
        {type, "%61%3d=%26%3D%25", "[a=|-|]&=%;=0"},
        {type, "a=%e4%F6", "[a|-|]\xe4\xf6;=0"},
        {type, "a;b=c;d", "[a;b|-|]c;d;=0"},
        {type, "a=1&b=%", "[a|-|]1;=REDD_EMALFORMED"},
        {type, "a=1&b=%4", "[a|-|]1;=REDD_EMALFORMED"},
        {type, "a=%4&b=2", "=REDD_EMALFORMED"},
        {type, "a=%zz", "=REDD_EMALFORMED"},
        {type, "%", "=REDD_EMALFORMED"},
        {"Application/X-WWW-Form-Urlencoded ; charset=UTF-8", "a=1", "[a|-|]1;=0"},
    };
    CHECK_ROWS(rows);
}

/* --- what is no form --- */

static void test_types(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        int rc;
    } rows[] = {
        {"text/plain", UV_ENOTSUP},
        {"multipart/mixed; boundary=x", UV_ENOTSUP},
        {"multipart/form-data2; boundary=x", UV_ENOTSUP},
        {"", UV_ENOTSUP},
        {"application/x-www-form-urlencoded\r\nContent-Type: multipart/form-data; boundary=x",
         UV_ENOTSUP},
        {"multipart/form-data", UV_EINVAL},
        {"multipart/form-data; boundary", UV_EINVAL},
        {"multipart/form-data; boundary=", UV_EINVAL},
        {"multipart/form-data; boundary=\"\"", UV_EINVAL},
        {"multipart/form-data; boundary=\"x", UV_EINVAL},
        {"multipart/form-data; boundary=\"x \"", UV_EINVAL},
        {"multipart/form-data; boundary=x y", UV_EINVAL},
        {"multipart/form-data; boundary=x*", UV_EINVAL},
        {"multipart/form-data; boundary=\"x\\y\"", UV_EINVAL},
        {"multipart/form-data; boundary=\xc3\xa4", UV_EINVAL},
        {"multipart/form-data; boundary=x; boundary=x", UV_EINVAL},
        {"multipart/form-data; boundary=x; y", UV_EINVAL},
        {"multipart/form-data; boundary=1234567890123456789012345678901234567890123456789012345678"
         "9012345678901",
         UV_EINVAL},
        {"multipart/form-data; boundary=1234567890123456789012345678901234567890123456789012345678"
         "901234567890",
         0},
    };
    desk d;
    desk_begin(&d);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        desk_send(&d, rows[i].type, "x", 1, (desk_way){1, 1, false});
        if (d.rc != rows[i].rc)
            print_error("type: %s\n", rows[i].type);
        assert_int_equal(d.rc, rows[i].rc);
    }
    desk_end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),           cmocka_unit_test(test_names),
        cmocka_unit_test(test_near_boundaries), cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_truncated),       cmocka_unit_test(test_urlencoded),
        cmocka_unit_test(test_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
