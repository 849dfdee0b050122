/* SPDX-License-Identifier: MIT */
/** Networks that are trusted: their text, and who is in them. */
#include "tests/unit/http_must.h"

#include "ext/http/proxy/networks.h"

typedef struct heard {
    unsigned lines;
    char last[1024];
} heard;

static void hear(redd_log_level level, redd_slice line, void *user)
{
    heard *h = user;
    assert_int_equal(level, REDD_LOG_ERROR);
    assert_true(line.len < sizeof h->last);
    memcpy(h->last, line.data, line.len);
    h->last[line.len] = '\0';
    h->lines++;
}

static int parse(const char *text, heard *h, redd__networks **out)
{
    redd_logger logger = {.write = hear, .user = h, .level = REDD_LOG_ERROR};
    memset(h, 0, sizeof *h);
    return redd__networks_parse(redd_allocator_default(), text, &logger, out);
}

static void none(void **state)
{
    (void)state;
    static const char *const texts[] = {"", " ", ",", " , ,", NULL};
    heard h;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        redd__networks *n = (redd__networks *)&h;
        assert_int_equal(parse(texts[i], &h, &n), 0);
        assert_null(n);
    }
    redd__networks_free(NULL);
}

static void malformed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"10.0.0.0/33", "10.0.0.0/33"},
        {"10.0.0.0/", "10.0.0.0/"},
        {"10.0.0.0/08", "10.0.0.0/08"},
        {"10.0.0.0/-1", "10.0.0.0/-1"},
        {"10.0.0.0/8 ", NULL},
        {"10.0.0.0 /8", "10.0.0.0 /8"},
        {"10.0.0.0/ 8", "10.0.0.0/ 8"},
        {"10.0.0.0/8/8", "10.0.0.0/8/8"},
        {"10.0.0.1/8", "10.0.0.1/8"},
        {"10.128.0.0/8", "10.128.0.0/8"},
        {"10.0.0.0/255.0.0.0", "10.0.0.0/255.0.0.0"},
        {"10.0.0", "10.0.0"},
        {"10.0.0.256", "10.0.0.256"},
        {"010.0.0.1", "010.0.0.1"},
        {"0xa.0.0.1", "0xa.0.0.1"},
        {"167772161", "167772161"},
        {"/8", "/8"},
        {"localhost", "localhost"},
        {"Unix", "Unix"},
        {"unix:", "unix:"},
        {"[::1]", "[::1]"},
        {"::1%lo", "::1%lo"},
        {"::1/129", "::1/129"},
        {"2001:db8::1/32", "2001:db8::1/32"},
        {"::ffff:10.0.0.0/95", "::ffff:10.0.0.0/95"},
        {"::ffff:10.0.0.0/8", "::ffff:10.0.0.0/8"},
        {"1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8:9"},
        {"10.0.0.0/8 ::1", "10.0.0.0/8 ::1"},
        {"::1, 10.0.0.0/8, 1.2.3", "1.2.3"},
        {"unix, *", "*"},
    };
    heard h;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        redd__networks *n;
        int rc = parse(cases[i].text, &h, &n);
        if (!cases[i].part) {
            assert_int_equal(rc, 0);
            redd__networks_free(n);
            continue;
        }
        char expected[1024];
        (void)snprintf(expected, sizeof expected,
                       "http.trusted: \"%s\" is no network; expected an address, an address/bits "
                       "with zeros behind its bits, or unix",
                       cases[i].part);
        assert_int_equal(rc, UV_EINVAL);
        assert_null(n);
        assert_int_equal(h.lines, 1);
        assert_string_equal(h.last, expected);
    }
}

static redd_address address_of(const char *host)
{
    redd_address a = {.ipv6 = strchr(host, ':') != NULL, .local = strcmp(host, "unix") == 0};
    if (!a.local)
        memcpy(a.host, host, strlen(host) + 1);
    return a;
}

static void who_is_in(void **state)
{
    (void)state;
    static const struct {
        const char *networks, *address;
        bool in;
    } cases[] = {
        {"10.0.0.0/8", "10.0.0.0", true},
        {"10.0.0.0/8", "10.255.255.255", true},
        {"10.0.0.0/8", "11.0.0.0", false},
        {"10.0.0.0/8", "9.255.255.255", false},
        {"10.0.0.0/8", "", false},
        {"10.0.0.0/8", "unix", false},
        {"10.0.0.0/8", "a00::", false},
        {"10.1.2.128/25", "10.1.2.128", true},
        {"10.1.2.128/25", "10.1.2.255", true},
        {"10.1.2.128/25", "10.1.2.127", false},
        {"10.1.2.2/31", "10.1.2.3", true},
        {"10.1.2.2/31", "10.1.2.1", false},
        {"10.1.2.3", "10.1.2.3", true},
        {"10.1.2.3/32", "10.1.2.3", true},
        {"10.1.2.3", "10.1.2.2", false},
        {"0.0.0.0/0", "255.255.255.255", true},
        {"0.0.0.0/0", "::1", false},
        {"0.0.0.0/1", "127.255.255.255", true},
        {"0.0.0.0/1", "128.0.0.0", false},
        {"::/0", "2001:db8::1", true},
        {"::/0", "10.0.0.1", false},
        {"::1", "::1", true},
        {"::1", "::2", false},
        {"2001:db8::/32", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", true},
        {"2001:db8::/32", "2001:db9::", false},
        {"2001:db8::/33", "2001:db8:7fff::1", true},
        {"2001:db8::/33", "2001:db8:8000::1", false},
        {"2001:DB8::1/128", "2001:db8::1", true},
        {"::ffff:10.0.0.0/104", "10.2.3.4", true},
        {"::ffff:10.0.0.0/104", "11.2.3.4", false},
        {"::ffff:10.0.0.1", "10.0.0.1", true},
        {"::ffff:0:0/96", "192.0.2.1", true},
        {"10.0.0.1", "::ffff:10.0.0.1", true},
        {"unix", "unix", true},
        {"unix", "", false},
        {"unix", "127.0.0.1", false},
        {"127.0.0.1,::1 ,\tunix", "unix", true},
        {"127.0.0.1,::1 ,\tunix", "::1", true},
        {"127.0.0.1,::1 ,\tunix", "127.0.0.1", true},
        {"127.0.0.1,::1 ,\tunix", "127.0.0.2", false},
        {"", "127.0.0.1", false},
        {"", "unix", false},
    };
    heard h;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        redd__networks *n;
        redd_address a = address_of(cases[i].address);
        assert_int_equal(parse(cases[i].networks, &h, &n), 0);
        if (redd__networks_have_address(n, &a) != cases[i].in)
            fail_msg("%s in %s", cases[i].address, cases[i].networks);
        redd__networks_free(n);
    }
}

/* --- a server begins with them --- */

static void on_request(redd_http_request *req, void *user)
{
    (void)req;
    (void)user;
}

static int seal(const char *trusted, const char *proxy_protocol, heard *h)
{
    redd_runtime_options o = REDD_RUNTIME_OPTIONS_INIT;
    redd_runtime *rt;
    o.logger = (redd_logger){.write = hear, .user = h, .level = REDD_LOG_ERROR};
    memset(h, 0, sizeof *h);
    assert_int_equal(redd_runtime_new(&o, &rt), 0);
    assert_int_equal(redd_runtime_add(rt, &redd_net_extension), 0);
    assert_int_equal(redd_runtime_add(rt, &redd_http_extension), 0);
    assert_int_equal(redd_runtime_set(rt, "http.trusted", trusted), 0);
    assert_int_equal(redd_runtime_set(rt, "http.proxy_protocol", proxy_protocol), 0);
    int rc = redd_runtime_seal(rt);
    redd_runtime_free(rt);
    return rc;
}

static void options_of_the_runtime(void **state)
{
    (void)state;
    heard h;
    assert_int_equal(seal("", "off", &h), 0);
    assert_int_equal(seal("10.0.0.0/8, unix", "on", &h), 0);
    assert_int_equal(h.lines, 0);
    assert_int_equal(seal("10.0.0.0/8, 10.0.0.0/80", "off", &h), UV_EINVAL);
    assert_int_equal(h.lines, 1);
    assert_non_null(strstr(h.last, "\"10.0.0.0/80\""));
    assert_int_equal(seal("", "on", &h), UV_EINVAL);
    assert_int_equal(h.lines, 1);
    assert_non_null(strstr(h.last, "http.trusted names no network"));
}

static void options_of_a_server(void **state)
{
    (void)state;
    bed b;
    redd_http_server *s;
    bed_begin(&b, on_request, NULL);
    uint64_t blocks = bed_memory(&b).blocks;
    unsigned warnings = b.warnings;
    b.options.trusted = "10.0.0.0/8, nonsense";
    assert_int_equal(redd_http_serve(b.w, NULL, &b.options, on_request, NULL, &s), UV_EINVAL);
    b.options.trusted = NULL;
    b.options.proxy_protocol = 1;
    assert_int_equal(redd_http_serve(b.w, NULL, &b.options, on_request, NULL, &s), UV_EINVAL);
    assert_int_equal(b.warnings, warnings + 2);
    assert_int_equal(bed_memory(&b).blocks, blocks);
    b.options.trusted = "::1";
    redd_counting_allocator_fail_at(b.counting, 2, false); /* the server itself is the first */
    assert_int_equal(redd_http_serve(b.w, NULL, &b.options, on_request, NULL, &s), UV_ENOMEM);
    assert_int_equal(bed_memory(&b).blocks, blocks);
    assert_int_equal(redd_http_serve(b.w, NULL, &b.options, on_request, NULL, &s), 0);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none),
        cmocka_unit_test(malformed),
        cmocka_unit_test(who_is_in),
        cmocka_unit_test(options_of_the_runtime),
        cmocka_unit_test(options_of_a_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
