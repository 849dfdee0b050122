/* SPDX-License-Identifier: MIT */
/** Which files are served, and which are not: whole exchanges. */
#include "tests/unit/http_folder.h"

#include <sys/fsuid.h>
#include <sys/resource.h>

static void begin(folder *f)
{
    folder_make(f);
    put_text(f, "ten.txt", "0123456789");
    put_text(f, "empty", "");
    put_text(f, "a b\xc3\xa4%.html", "<p>");
    put_folder(f, "sub");
    put_text(f, "sub/index.html", "index");
    put_folder(f, "bare");
    put_text(f, "bare/file", "bare file");
    put_text(f, ".hidden", "hidden");
    put_folder(f, ".well-known");
    put_text(f, ".well-known/token", "token");
}

/* --- what is there, and what is not --- */

static void test_statuses(void **state)
{
    (void)state;
    folder f;
    begin(&f);
    folder_serve(&f);
    assert_body(&f, "/ten.txt", "0123456789");
    assert_body(&f, "/ten.txt?a=b", "0123456789");
    assert_body(&f, "http://h/ten.txt", "0123456789");
    assert_body(&f, "/empty", "");
    assert_body(&f, "/a%20b%C3%a4%25.html", "<p>");
    assert_body(&f, "/sub/", "index");
    assert_body(&f, "/sub/?a", "index");
    assert_body(&f, "/sub/index.html", "index");
    assert_body(&f, "/bare/file", "bare file");
    assert_body(&f, "/.well-known/token", "token");
    static const char *const nothing[] = {
        "/",
        "/nothing",
        "/ten.txt/",
        "/ten.txt/x",
        "/bare/",
        "/.hidden",
        "//",
        "//ten.txt",
        "/sub//",
        "/./ten.txt",
        "/bare/..",
        "/%2e%2e/secret",
        "/../secret",
        "/bare%2ffile",
        "/ten.txt%00",
        "/ten.txt.",
        "/TEN.TXT",
        "/ten.txt%20",
        "/..%2fsecret",
        "/..\\secret",
        "/.well-known/.hidden",
        "/sub/../ten.txt",
    };
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        assert_status(&f, nothing[i], 404);
    folder_end(&f);
}

static void test_methods(void **state)
{
    (void)state;
    static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND"};
    folder f;
    reply r;
    begin(&f);
    folder_serve(&f);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        ask(&f, methods[i], "/ten.txt", "Content-Length: 0\r\n", &r);
        assert_int_equal(r.status, 405);
        assert_field(&r, "allow", "GET, HEAD");
        reply_end(&r);
    }
    ask(&f, "HEAD", "/ten.txt", "", &r);
    assert_int_equal(r.status, 200);
    assert_field(&r, "content-length", "10");
    assert_field(&r, "content-type", "text/plain; charset=utf-8");
    reply_end(&r);
    ask(&f, "HEAD", "/ten.txt", "Range: bytes=0-0\r\n", &r);
    assert_int_equal(r.status, 200);
    assert_field(&r, "content-length", "10");
    reply_end(&r);
    ask(&f, "HEAD", "/nothing", "", &r);
    assert_int_equal(r.status, 404);
    reply_end(&r);
    folder_end(&f);
}

static void test_prefix(void **state)
{
    (void)state;
    folder f;
    reply r;
    begin(&f);
    f.prefix = "/files";
    folder_serve(&f);
    assert_body(&f, "/files/ten.txt", "0123456789");
    assert_status(&f, "/ten.txt", 404);
    assert_status(&f, "/filesten.txt", 404);
    assert_status(&f, "/files/../secret", 404);
    get(&f, "/files?a=b", &r);
    assert_int_equal(r.status, 301);
    assert_field(&r, "location", "/files/?a=b");
    reply_end(&r);
    folder_end(&f);
}

static void assert_location(folder *f, const char *target, const char *location)
{
    reply r;
    get(f, target, &r);
    assert_int_equal(r.status, 301);
    assert_field(&r, "location", location);
    reply_end(&r);
}

static void test_redirects(void **state)
{
    (void)state;
    folder f;
    begin(&f);
    put_folder(&f, "a b");
    put_folder(&f, "\\evil.com");
    put_folder(&f, "evil.com");
    put_folder(&f, "x:y");
    folder_serve(&f);
    assert_location(&f, "/sub", "/sub/");
    assert_location(&f, "/%73ub", "/%73ub/");
    assert_location(&f, "/sub?", "/sub/");
    assert_location(&f, "/sub?a=b&c=%20?/", "/sub/?a=b&c=%20?/");
    assert_location(&f, "/a%20b", "/a%20b/");
    assert_location(&f, "/x:y", "/x:y/");
    assert_location(&f, "http://h/sub?a", "/sub/?a");
    assert_location(&f, "/\\evil.com", "/%5Cevil.com/");
    assert_location(&f, "/%5cevil.com", "/%5cevil.com/");
    static const char *const refused[] = {"//evil.com",   "///evil.com",        "/\\/evil.com",
                                          "/%2fevil.com", "http://h//evil.com", "//evil.com/.."};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_status(&f, refused[i], 404);
    bytes target = {0}, location = {0}; /* longer than a path may be */
    bytes_text(&target, "/sub?");
    bytes_fill(&target, 'q', 6000);
    bytes_text(&location, "/sub/?");
    bytes_fill(&location, 'q', 6000);
    assert_location(&f, target.data, location.data);
    bytes_free(&target);
    bytes_free(&location);
    folder_end(&f);
}

/* A prefix of two slashes is the program's mistake, and must not become a host. */
static void test_redirect_below_a_doubled_slash(void **state)
{
    (void)state;
    folder f;
    begin(&f);
    f.prefix = "//evil.com";
    folder_serve(&f);
    assert_location(&f, "//evil.com/sub", "/evil.com/sub/");
    folder_end(&f);
}

static void test_options(void **state)
{
    (void)state;
    folder f;
    reply r;
    begin(&f);
    put_text(&f, "types", "x/y txt\n");
    path_text types = path_of(&f, "types");
    f.options.hidden = true;
    f.options.index = "file";
    f.options.cache_control = "max-age=60";
    f.options.mime_types = types.text;
    f.options.no_precompressed = true;
    folder_serve(&f);
    assert_body(&f, "/.hidden", "hidden");
    assert_body(&f, "/bare/", "bare file");
    assert_status(&f, "/sub/", 404);
    assert_status(&f, "/..", 404);
    get(&f, "/ten.txt", &r);
    assert_field(&r, "content-type", "x/y");
    assert_field(&r, "cache-control", "max-age=60");
    assert_field(&r, "vary", NULL);
    reply_end(&r);
    folder_end(&f);
}

static void test_no_index(void **state)
{
    (void)state;
    folder f;
    begin(&f);
    f.options.index = "";
    folder_serve(&f);
    assert_status(&f, "/sub/", 404);
    assert_body(&f, "/sub/index.html", "index");
    folder_end(&f);
}

/* --- opening --- */

static int open_error(folder *f)
{
    int rc = folder_try_open(f);
    if (rc == 0)
        redd_http_files_free(f->files);
    f->files = NULL;
    return rc;
}

static void test_open_errors(void **state)
{
    (void)state;
    folder f;
    begin(&f);
    folder_serve(&f);
    redd_http_files *served = f.files;
    path_text file = path_of(&f, "ten.txt"), none = path_of(&f, "none"), link = path_of(&f, "self");
    put_link(&f, ".", "self");
    f.options.root = link.text;
    assert_int_equal(open_error(&f), 0);
    f.options.root = file.text;
    assert_int_equal(open_error(&f), UV_ENOTDIR);
    f.options.root = none.text;
    assert_int_equal(open_error(&f), UV_ENOENT);
    f.options.root = NULL;
    assert_int_equal(open_error(&f), UV_EINVAL);
    f.options.root = f.root;
    f.options.index = "a/b";
    assert_int_equal(open_error(&f), UV_EINVAL);
    f.options.index = NULL;
    f.options.cache_control = "a\r\nb";
    assert_int_equal(open_error(&f), UV_EINVAL);
    f.options.cache_control = NULL;
    f.options.mime_types = none.text;
    assert_int_equal(open_error(&f), UV_ENOENT);
    f.options.mime_types = f.root;
    assert_int_equal(open_error(&f), UV_EISDIR);
    f.options.mime_types = NULL;
    f.options.struct_size = 0;
    assert_int_equal(open_error(&f), UV_EINVAL);
    redd_http_files_free(NULL);
    f.files = served;
    folder_end(&f);
}

/* It was opened once: it may be renamed. */
static void test_root_is_renamed(void **state)
{
    (void)state;
    folder f;
    begin(&f);
    folder_serve(&f);
    path_text other = path_of(&f, "../other");
    assert_int_equal(rename(f.root, other.text), 0);
    assert_body(&f, "/ten.txt", "0123456789");
    folder_end(&f);
}

/* Root reads everything: a thread's rights to files are taken away for a while. */
static void test_what_the_system_refuses(void **state)
{
    (void)state;
    folder f;
    begin(&f);
    put_text(&f, "locked", "SECRET");
    put_folder(&f, "closed");
    put_text(&f, "closed/file", "SECRET");
    put_folder(&f, "shut");
    put_text(&f, "shut/index.html", "SECRET");
    f.options.listing = true;
    folder_serve(&f);
    assert_int_equal(chmod(f.top, 0755), 0);
    assert_int_equal(chmod(path_of(&f, "locked").text, 0), 0);
    assert_int_equal(chmod(path_of(&f, "closed").text, 0), 0);
    assert_int_equal(chmod(path_of(&f, "shut/index.html").text, 0), 0);
    uid_t me = (uid_t)setfsuid(65534);
    assert_status(&f, "/locked", 403);
    assert_status(&f, "/closed/file", 403);
    assert_status(&f, "/closed", 403);
    assert_status(&f, "/shut/", 403);
    assert_body(&f, "/ten.txt", "0123456789");
    (void)setfsuid(me);
    assert_int_equal(chmod(path_of(&f, "closed").text, 0755), 0);
    folder_end(&f);
}

static void test_no_descriptor_left(void **state)
{
    (void)state;
    folder f;
    begin(&f);
    folder_serve(&f);
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    unsigned file = status_of(&f, "/ten.txt"), index = status_of(&f, "/sub/");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(file, 503);
    assert_int_equal(index, 503);
    assert_body(&f, "/ten.txt", "0123456789");
    folder_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_redirects),
        cmocka_unit_test(test_redirect_below_a_doubled_slash),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_no_index),
        cmocka_unit_test(test_open_errors),
        cmocka_unit_test(test_root_is_renamed),
        cmocka_unit_test(test_what_the_system_refuses),
        cmocka_unit_test(test_no_descriptor_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
