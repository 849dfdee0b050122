/* SPDX-License-Identifier: MIT */
/** Whom a request is from, by what proxies say. */
#include "tests/unit/http_peers.h"

#define TRUSTED "10.0.0.0/8, 192.0.2.7, 2001:db8:1::/48, unix"

typedef struct seen {
    redd_address client, peer;
    char scheme[8], host[64], id[160];
    unsigned requests;
} seen;

static void keep(char *to, size_t size, redd_slice s)
{
    assert_true(s.len < size);
    memcpy(to, s.data, s.len);
    to[s.len] = '\0';
}

static void look(redd_http_request *req, seen *s)
{
    redd_http_client(req, &s->client);
    redd_http_peer(req, &s->peer);
    keep(s->scheme, sizeof s->scheme, redd_http_scheme(req));
    keep(s->host, sizeof s->host, redd_http_client_host(req));
    keep(s->id, sizeof s->id, redd_http_id(req));
    s->requests++;
}

static void on_request(redd_http_request *req, void *user)
{
    look(req, user);
    assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
}

static void begin(bed *b, seen *s, const char *trusted)
{
    memset(s, 0, sizeof *s);
    bed_begin(b, on_request, s);
    b->options.trusted = trusted;
    b->options.max_head = 1 << 20;
    bed_serve_anew(b, on_request, s);
}

static void ask(bed *b, const char *peer, const char *fields)
{
    client c;
    peer_open(b, &c, peer);
    bytes text = {0};
    bytes_text(&text, "GET / HTTP/1.1\r\nHost: own.example\r\n");
    bytes_text(&text, fields);
    bytes_text(&text, "\r\n");
    client_send(&c, text.data, text.len);
    bytes_free(&text);
    client_close(&c);
}

/* --- the table --- */

#define OWN       "own.example"
#define FORWARDED "Forwarded: "
#define FOR       "X-Forwarded-For: "
#define END       "\r\n"

static const struct row {
    const char *peer, *fields;
    const char *client;
    uint16_t port;
    const char *scheme, *host;
} rows[] = {
    /* nobody says anything, or nobody who counts */
    {"203.0.113.9", "", "203.0.113.9", 40000, "http", OWN},
    {"10.0.0.1", "", "10.0.0.1", 40000, "http", OWN},
    {"203.0.113.9", FORWARDED "for=198.51.100.1;proto=https;host=a.example" END, "203.0.113.9",
     40000, "http", OWN},
    {"203.0.113.9", FOR "198.51.100.1" END "X-Forwarded-Proto: https" END, "203.0.113.9", 40000,
     "http", OWN},
    {"2001:db8:2::1", FORWARDED "for=198.51.100.1" END, "2001:db8:2::1", 40000, "http", OWN},
    {"11.0.0.1", FOR "198.51.100.1" END, "11.0.0.1", 40000, "http", OWN},
    {"9.255.255.255", FOR "198.51.100.1" END, "9.255.255.255", 40000, "http", OWN},
    {"192.0.2.6", FOR "198.51.100.1" END, "192.0.2.6", 40000, "http", OWN},
    {"", FOR "198.51.100.1" END, "", 40000, "http", OWN},

    /* Forwarded */
    {"10.0.0.1", FORWARDED "for=198.51.100.1" END, "198.51.100.1", 0, "http", OWN},
    {"10.255.255.255", FORWARDED "for=198.51.100.1" END, "198.51.100.1", 0, "http", OWN},
    {"192.0.2.7", FORWARDED "for=198.51.100.1" END, "198.51.100.1", 0, "http", OWN},
    {"2001:db8:1:ffff::1", FORWARDED "for=198.51.100.1" END, "198.51.100.1", 0, "http", OWN},
    {"unix", FORWARDED "for=198.51.100.1" END, "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FORWARDED "For=198.51.100.1;PROTO=HTTPS;Host=\"a.example:8443\"" END,
     "198.51.100.1", 0, "https", "a.example:8443"},
    {"10.0.0.1", FORWARDED "proto=http;for=198.51.100.1" END, "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FORWARDED "for=\"198.51.100.1:4711\"" END, "198.51.100.1", 4711, "http", OWN},
    {"10.0.0.1", FORWARDED "for=\"[2001:db8:cafe::17]:4711\"" END, "2001:db8:cafe::17", 4711,
     "http", OWN},
    {"10.0.0.1", FORWARDED "for=\"[2001:DB8:0:0::17]\"" END, "2001:db8::17", 0, "http", OWN},
    {"10.0.0.1", FORWARDED "for=\"[::ffff:198.51.100.1]\"" END, "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FORWARDED "for=\"198.51.100.1:_port\"" END, "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FORWARDED "for=198.51.100.1 ; proto=https" END, "198.51.100.1", 0, "https", OWN},
    {"10.0.0.1", FORWARDED ";for=198.51.100.1;;proto=https;" END, "198.51.100.1", 0, "https", OWN},
    {"10.0.0.1", FORWARDED "for=198.51.100.1;by=10.0.0.1;secret=\"a,b;c=\\\"d\"" END,
     "198.51.100.1", 0, "http", OWN},

    /* several elements: the first from the end that is not trusted */
    {"10.0.0.1", FORWARDED "for=6.6.6.6, for=198.51.100.1" END, "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FORWARDED "for=198.51.100.1, for=10.9.9.9" END, "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FORWARDED "for=10.1.1.1, for=10.9.9.9" END, "10.1.1.1", 0, "http", OWN},
    {"10.0.0.1", FORWARDED "for=6.6.6.6" END "A: b" END FORWARDED "for=198.51.100.1" END,
     "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1",
     FORWARDED "for=198.51.100.1;proto=https;host=a.example, for=10.9.9.9;proto=http;host=b" END,
     "198.51.100.1", 0, "https", "a.example"},
    {"10.0.0.1", FORWARDED "for=198.51.100.1, for=10.9.9.9;proto=https;host=b" END, "198.51.100.1",
     0, "https", "b"},
    {"10.0.0.1", FORWARDED "for=6.6.6.6;proto=https;host=evil, for=198.51.100.1" END,
     "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FORWARDED ", ,for=198.51.100.1, ,, " END, "198.51.100.1", 0, "http", OWN},

    /* who hides */
    {"10.0.0.1", FORWARDED "for=unknown;proto=https" END, "10.0.0.1", 40000, "https", OWN},
    {"10.0.0.1", FORWARDED "for=_hidden, for=10.9.9.9" END, "10.9.9.9", 0, "http", OWN},
    {"10.0.0.1", FORWARDED "for=6.6.6.6, for=_hidden" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "proto=https;host=a.example" END, "10.0.0.1", 40000, "https",
     "a.example"},
    {"10.0.0.1", FORWARDED "for=6.6.6.6, proto=https" END, "10.0.0.1", 40000, "https", OWN},

    /* malformed: the walk ends behind it */
    {"10.0.0.1", FORWARDED "for" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "=198.51.100.1" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for =198.51.100.1" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=198.51.100.1;for=198.51.100.2" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=198.51.100.1 proto=https" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=\"198.51.100.1\"x" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=198.51.100.1:4711" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=2001:db8::1" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=\"2001:db8::1\"" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=\"[198.51.100.1]\"" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=\"[2001:db8::1\"" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=\"[2001:db8::1]4711\"" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=\"198.51.100.1:65536\"" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=\"198.51.100.1:\"" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=198.51.100.256" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=198.51.100.01" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=198.51.100" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=\"198.51.100\\.1\"" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FORWARDED "for=198.51.100.1, for=, for=10.9.9.9" END, "10.9.9.9", 0, "http", OWN},

    /* a client that tries to swallow what its proxy adds behind */
    {"10.0.0.1", FORWARDED "for=\"6.6.6.6, for=198.51.100.1" END, "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FORWARDED "for=6.6.6.6;x=\", for=\"[2001:db8::9]\"" END, "2001:db8::9", 0, "http",
     OWN},
    {"10.0.0.1", FORWARDED "for=6.6.6.6;x=\"\\, for=\"[2001:db8::9]\"" END, "2001:db8::9", 0,
     "http", OWN},
    {"10.0.0.1", FORWARDED "for=6.6.6.6;x=\"" END FORWARDED "for=198.51.100.1" END, "198.51.100.1",
     0, "http", OWN},

    /* values that are none are not told */
    {"10.0.0.1", FORWARDED "for=198.51.100.1;proto=gopher;host=\"a b\"" END, "198.51.100.1", 0,
     "http", OWN},
    {"10.0.0.1", FORWARDED "for=198.51.100.1;host=\"a/b\"" END, "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FORWARDED "for=198.51.100.1;host=\"\"" END, "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FORWARDED "for=198.51.100.1;host=\"a:99999\"" END, "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FORWARDED "for=198.51.100.1;host=\"[2001:db8::1]:80\"" END, "198.51.100.1", 0,
     "http", "[2001:db8::1]:80"},

    /* X-Forwarded-For and its kin */
    {"10.0.0.1", FOR "198.51.100.1" END, "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FOR "6.6.6.6, 198.51.100.1" END, "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FOR "6.6.6.6,198.51.100.1 , 10.9.9.9" END, "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FOR "6.6.6.6" END FOR "198.51.100.1" END, "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FOR "10.3.3.3, 10.9.9.9" END, "10.3.3.3", 0, "http", OWN},
    {"10.0.0.1", FOR "198.51.100.1:4711" END, "198.51.100.1", 4711, "http", OWN},
    {"10.0.0.1", FOR "2001:db8::1" END, "2001:db8::1", 0, "http", OWN},
    {"10.0.0.1", FOR "[2001:db8::1]" END, "2001:db8::1", 0, "http", OWN},
    {"10.0.0.1", FOR "[2001:db8::1]:4711" END, "2001:db8::1", 4711, "http", OWN},
    {"10.0.0.1", FOR "198.51.100.1, 2001:db8:1::5" END, "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FOR "6.6.6.6, unknown" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FOR "6.6.6.6, unknown, 10.9.9.9" END, "10.9.9.9", 0, "http", OWN},
    {"10.0.0.1", FOR "6.6.6.6, \"198.51.100.1\"" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FOR "\", 198.51.100.1" END, "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FOR "198.51.100.1%eth0" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", FOR "" END, "10.0.0.1", 40000, "http", OWN},
    {"10.0.0.1", "X-Forwarded-Proto: https" END "X-Forwarded-Host: a.example" END, "10.0.0.1",
     40000, "https", "a.example"},
    {"10.0.0.1", FOR "198.51.100.1, 10.9.9.9" END "X-Forwarded-Proto: https, http" END,
     "198.51.100.1", 0, "https", OWN},
    {"10.0.0.1", FOR "6.6.6.6, 198.51.100.1" END "X-Forwarded-Proto: https, http" END,
     "198.51.100.1", 0, "http", OWN},
    {"10.0.0.1", FOR "198.51.100.1, 10.9.9.9" END "X-Forwarded-Proto: https" END, "198.51.100.1", 0,
     "https", OWN},
    {"10.0.0.1", "X-Forwarded-Host: evil, a.example" END, "10.0.0.1", 40000, "http", "a.example"},
    {"10.0.0.1", "X-Forwarded-Host: a b" END "X-Forwarded-Proto: ftp" END, "10.0.0.1", 40000,
     "http", OWN},

    /* both kinds: one of them may be the client's own */
    {"10.0.0.1", FORWARDED "for=6.6.6.6" END FOR "198.51.100.1" END, "10.0.0.1", 40000, "http",
     OWN},
    {"10.0.0.1", FORWARDED "for=198.51.100.1" END "X-Forwarded-Host: evil" END, "10.0.0.1", 40000,
     "http", OWN},
    {"10.0.0.1", FORWARDED "for=198.51.100.1" END "X-Forwarded-Proto: https" END, "10.0.0.1", 40000,
     "http", OWN},
};

static void check(const struct row *r, const seen *s)
{
    if (strcmp(s->client.host, r->client) != 0 || s->client.port != r->port ||
        strcmp(s->scheme, r->scheme) != 0 || strcmp(s->host, r->host) != 0)
        fail_msg("from %s with %s\n  client %s port %u scheme %s host %s", r->peer, r->fields,
                 s->client.host, s->client.port, s->scheme, s->host);
    assert_int_equal(s->client.ipv6, strchr(r->client, ':') != NULL);
    assert_string_equal(s->peer.host, the_peer.host);
}

static void each_row(void **state)
{
    (void)state;
    bed b;
    seen s;
    begin(&b, &s, TRUSTED);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ask(&b, rows[i].peer, rows[i].fields);
        assert_int_equal(s.requests, i + 1);
        check(&rows[i], &s);
    }
    bed_end(&b);
}

/* With nobody to trust, every row is as if its fields were not there. */
static void nobody_is_trusted(void **state)
{
    (void)state;
    bed b;
    seen s;
    begin(&b, &s, "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ask(&b, rows[i].peer, rows[i].fields);
        struct row own = rows[i];
        own.client = the_peer.host;
        own.port = 40000;
        own.scheme = "http";
        own.host = OWN;
        check(&own, &s);
    }
    bed_end(&b);
}

/* --- large and hostile --- */

static void ask_filled(bed *b, const char *name, const char *unit, size_t n, const char *end)
{
    bytes fields = {0};
    bytes_text(&fields, name);
    for (size_t i = 0; i < n; i++)
        bytes_text(&fields, unit);
    bytes_text(&fields, end);
    bytes_text(&fields, "\r\n");
    ask(b, "10.0.0.1", fields.data);
    bytes_free(&fields);
}

static void a_hundred_kilobytes(void **state)
{
    (void)state;
    static const char *const names[] = {FORWARDED, FOR};
    static const char *const units[] = {",", "\"", "\\", "\\\"", "=", ";", "for=", " ", ", ", "a,"};
    bed b;
    seen s;
    begin(&b, &s, TRUSTED);
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < sizeof units / sizeof *units; j++) {
            const char *end = i == 0 ? ", for=198.51.100.1" : ", 198.51.100.1";
            ask_filled(&b, names[i], units[j], (100 << 10) / strlen(units[j]), end);
            assert_string_equal(s.client.host, "198.51.100.1");
            ask_filled(&b, names[i], units[j], (100 << 10) / strlen(units[j]), "");
            assert_string_equal(s.client.host, "10.0.0.1");
        }
    ask_filled(&b, FOR, "10.1.2.3,", 10000, "");
    assert_string_equal(s.client.host, "10.1.2.3");
    bed_end(&b);
}

/* --- later --- */

typedef struct held {
    redd_http_request *req;
    bool ask_first; /* at the handler, not only after the end */
    seen now;
} held;

static void hold(redd_http_request *req, void *user)
{
    held *h = user;
    if (h->ask_first)
        look(req, &h->now);
    h->req = redd_http_request_ref(req);
    assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
}

static void play_held(bool ask_first, size_t padding)
{
    bed b;
    client c;
    seen later = {.requests = 0};
    held h = {.ask_first = ask_first};
    bed_begin(&b, hold, &h);
    b.options.trusted = TRUSTED;
    bed_serve_anew(&b, hold, &h);
    peer_open(&b, &c, "10.0.0.1");
    bytes text = {0};
    bytes_text(&text, "GET / HTTP/1.1\r\nHost: own.example\r\nPad: ");
    bytes_fill(&text, 'p', padding);
    bytes_text(&text, "\r\nX-Request-Id: id-1\r\n" FORWARDED
                      "for=198.51.100.1;proto=https;host=a.example\r\n\r\n");
    client_send(&c, text.data, text.len);
    bytes_free(&text);
    client_close(&c);
    look(h.req, &later);
    assert_string_equal(later.client.host, "198.51.100.1");
    assert_string_equal(later.scheme, "https");
    assert_string_equal(later.host, "a.example");
    assert_string_equal(later.id, "id-1");
    if (ask_first)
        assert_memory_equal(&h.now, &later, sizeof later);
    redd_http_request_unref(h.req);
    bed_end(&b);
}

static void told_after_the_end(void **state)
{
    (void)state;
    for (size_t padding = 0; padding <= 2000; padding += 1000) {
        play_held(false, padding);
        play_held(true, padding);
    }
}

/* --- ids --- */

static bool is_own_id(const char *id)
{
    return strlen(id) == 32 && strspn(id, "0123456789abcdef") == 32;
}

static void ids_are_unique_and_stay(void **state)
{
    (void)state;
    bed b;
    seen s;
    char before[160];
    begin(&b, &s, TRUSTED);
    ask(&b, "203.0.113.9", "");
    for (int i = 0; i < 1000; i++) {
        memcpy(before, s.id, sizeof before);
        ask(&b, "203.0.113.9", "");
        assert_true(is_own_id(s.id));
        assert_memory_equal(s.id, before, 16);
        assert_string_not_equal(s.id, before);
    }
    bed_end(&b);
}

static void ids_of_trusted_peers(void **state)
{
    (void)state;
    static const struct {
        const char *peer, *fields, *id; /* NULL: one of our own */
    } cases[] = {
        {"10.0.0.1", "X-Request-Id: 7b3f0e9c-1d2a-4c55-9e0f-6a1b2c3d4e5f\r\n",
         "7b3f0e9c-1d2a-4c55-9e0f-6a1b2c3d4e5f"},
        {"10.0.0.1", "x-request-ID:  a \r\n", "a"},
        {"203.0.113.9", "X-Request-Id: a\r\n", NULL},
        {"10.0.0.1", "X-Request-Id: \r\n", NULL},
        {"10.0.0.1", "X-Request-Id: a b\r\n", NULL},
        {"10.0.0.1", "X-Request-Id: a\"b\r\n", NULL},
        {"10.0.0.1", "X-Request-Id: \xc3\xa4\r\n", NULL},
        {"10.0.0.1", "X-Request-Id: a\r\nX-Request-Id: b\r\n", NULL},
        {"10.0.0.1", "X-Request-Id: a\r\nX-Request-Id: a\r\n", NULL},
    };
    bed b;
    seen s;
    begin(&b, &s, TRUSTED);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask(&b, cases[i].peer, cases[i].fields);
        if (cases[i].id)
            assert_string_equal(s.id, cases[i].id);
        else
            assert_true(is_own_id(s.id));
    }
    ask_filled(&b, "X-Request-Id: ", "x", 128, "");
    assert_int_equal(strlen(s.id), 128);
    ask_filled(&b, "X-Request-Id: ", "x", 129, "");
    assert_true(is_own_id(s.id));
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row),
        cmocka_unit_test(nobody_is_trusted),
        cmocka_unit_test(a_hundred_kilobytes),
        cmocka_unit_test(told_after_the_end),
        cmocka_unit_test(ids_are_unique_and_stay),
        cmocka_unit_test(ids_of_trusted_peers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
