/* SPDX-License-Identifier: MIT */
/** What a coded body may cost: bombs, limits, turns, and memory that is not there. */
#include "tests/unit/http_decode.h"

static const redd__http_coding codings[] = {
    REDD__HTTP_GZIP,
    REDD__HTTP_DEFLATE,
#ifdef REDD_HAVE_BROTLI
    REDD__HTTP_BR,
#endif
#ifdef REDD_HAVE_ZSTD
    REDD__HTTP_ZSTD,
#endif
};
#define N_CODINGS (sizeof codings / sizeof *codings)

static void code(bytes *out, redd__http_coding coding, const bytes *body)
{
    if (coding == REDD__HTTP_DEFLATE)
        deflate_to(out, 15, body->data, body->len);
    else
        encode_to(out, coding, body->data, body->len);
}

static void request_coded(bytes *out, redd__http_coding coding, const bytes *body)
{
    bytes coded = {0};
    code(&coded, coding, body);
    request_with(out, coding_name(coding), &coded, 0);
    bytes_free(&coded);
}

static void zeros(bytes *b, size_t n)
{
    b->data = calloc(1, n);
    assert_non_null(b->data);
    b->len = b->cap = n;
}

/* --- limits --- */

static void check_limit(scene *s, const bytes *request, const bytes *body, uint64_t max)
{
    s->max = max;
    send_in(s, request, request->len, request->len);
    if (body->len <= max) {
        assert_read(s, body);
        return;
    }
    assert_refused(s, "413", REDD_ELIMIT);
    assert_true(s->body.len <= max);
}

static void test_the_limit_counts_decoded_bytes(void **state)
{
    static const size_t sizes[] = {1, 1000, 32768, 100000};
    scene s;
    (void)state;
    scene_begin(&s);
    for (size_t i = 0; i < N_CODINGS; i++)
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes * N_READINGS; n++) {
            bytes body = {0}, b = {0};
            s.reading = (reading)(n % N_READINGS);
            json_fill(&body, sizes[n / N_READINGS]);
            request_coded(&b, codings[i], &body);
            check_limit(&s, &b, &body, body.len + 1);
            check_limit(&s, &b, &body, body.len);
            check_limit(&s, &b, &body, body.len > 1 ? body.len - 1 : 1);
            check_limit(&s, &b, &body, body.len > 2 ? body.len / 2 : 1);
            check_limit(&s, &b, &body, UINT64_MAX);
            bytes_free(&body);
            bytes_free(&b);
        }
    scene_end(&s);
}

/* The smaller of redd_http_decode's and redd_http_read_all's, and never one of the coded bytes, of
 * which there may be more. */
static void test_read_all_has_a_limit_of_its_own(void **state)
{
    scene s;
    bytes body = {0}, b = {0};
    (void)state;
    scene_begin(&s);
    s.reading = READ_WHOLE;
    noise_fill(&body, 1000);
    request_coded(&b, REDD__HTTP_GZIP, &body);
    s.whole_max = 1000;
    send_in(&s, &b, b.len, b.len);
    assert_read(&s, &body);
    s.whole_max = 999;
    send_in(&s, &b, b.len, b.len);
    assert_refused(&s, "413", REDD_ELIMIT);
    s.whole_max = 2000;
    s.max = 999;
    send_in(&s, &b, b.len, b.len);
    assert_refused(&s, "413", REDD_ELIMIT);
    bytes_free(&body);
    bytes_free(&b);
    scene_end(&s);
}

static void test_the_servers_limit_is_the_default(void **state)
{
    scene s;
    bytes body = {0}, b = {0};
    (void)state;
    scene_begin(&s);
    client_close(&s.c);
    s.b.options.max_body = 5000;
    bed_serve_anew(&s.b, on_coded_request, &s);
    client_open(&s.b, &s.c);
    json_fill(&body, 5001);
    request_coded(&b, REDD__HTTP_GZIP, &body);
    send_in(&s, &b, b.len, b.len);
    assert_refused(&s, "413", REDD_ELIMIT);
    s.max = 5001;
    send_in(&s, &b, b.len, b.len);
    assert_read(&s, &body);
    s.max = 100; /* without a coding it limits what comes */
    bytes_clear(&b);
    body.len = 101;
    request_with(&b, NULL, &body, 0);
    send_in(&s, &b, b.len, b.len);
    assert_refused(&s, "413", REDD_ELIMIT);
    body.len = 100;
    bytes_clear(&b);
    request_with(&b, NULL, &body, 0);
    send_in(&s, &b, b.len, b.len);
    assert_read(&s, &body);
    bytes_free(&body);
    bytes_free(&b);
    scene_end(&s);
}

/* --- bombs --- */

enum { BOMB = 64 << 20, CAP = 1 << 20 };

/* The memory of one decoder, with its window: brotli's may be as large as what it has decoded. */
enum { DECODER_MAX = 3 << 20 };

static void check_bomb(scene *s, const char *encoding, const bytes *coded)
{
    bytes b = {0};
    request_with(&b, encoding, coded, 0);
    assert_true(coded->len * 700 < BOMB);
    s->max = CAP;
    s->reading = READ_PIECES;
    uint64_t before = bed_memory(&s->b).bytes;
    send_in(s, &b, b.len, b.len);
    assert_refused(s, "413", REDD_ELIMIT);
    assert_true(s->body.len <= CAP && s->body.len > CAP - REDD__HTTP_DECODED_MAX);
    assert_true(bed_memory(&s->b).peak_bytes < before + DECODER_MAX);
    bytes_free(&b);
}

static void test_bombs(void **state)
{
    bytes bomb = {0};
    (void)state;
    zeros(&bomb, BOMB);
    for (size_t i = 0; i < N_CODINGS; i++) {
        scene s;
        bytes coded = {0}, twice = {0};
        char both[40];
        scene_begin(&s);
        code(&coded, codings[i], &bomb);
        check_bomb(&s, coding_name(codings[i]), &coded);
        code(&twice, REDD__HTTP_GZIP, &coded);
        (void)snprintf(both, sizeof both, "%s, gzip", coding_name(codings[i]));
        check_bomb(&s, both, &twice);
        bytes_free(&coded);
        bytes_free(&twice);
        scene_end(&s);
    }
    bytes_free(&bomb);
}

/* RFC 9659: a frame that wants a window of more than 8 MiB. */
static void test_window_of_zstd(void **state)
{
#ifdef REDD_HAVE_ZSTD
    /* Magic number, no single segment, windows of 8 and 16 MiB, an empty last block. */
    static const char frames[][9] = {{'\x28', '\xb5', '\x2f', '\xfd', 0, 13 << 3, 1, 0, 0},
                                     {'\x28', '\xb5', '\x2f', '\xfd', 0, 14 << 3, 1, 0, 0}};
    scene s;
    scene_begin(&s);
    for (size_t i = 0; i < 2; i++) {
        bytes coded = {0}, b = {0}, nothing = {0};
        bytes_add(&coded, frames[i], sizeof frames[i]);
        request_with(&b, "zstd", &coded, 0);
        send_in(&s, &b, b.len, b.len);
        bytes_text(&nothing, "");
        if (i == 0)
            assert_read(&s, &nothing);
        else
            assert_refused(&s, "400", REDD_EMALFORMED);
        bytes_free(&coded);
        bytes_free(&b);
        bytes_free(&nothing);
    }
    scene_end(&s);
#endif
    (void)state;
}

/* --- on demand --- */

/* Nothing is read from the peer while decoded bytes wait, however long; then all of it comes. */
static void test_nothing_is_read_while_bytes_wait(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CODINGS; i++) {
        scene s;
        bytes body = {0}, b = {0};
        scene_begin(&s);
        s.hold = true;
        zeros(&body, 10 << 20);
        request_coded(&b, codings[i], &body);
        bytes_fill(&b, ' ', 10); /* of the next request: refused later */
        client_send(&s.c, b.data, 4000 < b.len ? 4000 : b.len);
        assert_int_equal(s.pieces, 1);
        unsigned reads = s.c.meter.reads;
        (void)client_put(&s.c, "x", 1);
        bed_settle(&s.b);
        for (int n = 0; n < 50; n++) {
            assert_int_equal(redd_http_read(s.req, on_decoded, &s), 0);
            bed_settle(&s.b);
            client_wait(&s.c, 100000); /* it is the handler's time, no timeout is near */
            assert_int_equal(s.pieces, n + 2);
            assert_int_equal(s.c.meter.reads, reads);
        }
        assert_true(bed_memory(&s.b).bytes < bed_memory(&s.b).peak_bytes + 1);
        client_go(&s.c, true);
        s.hold = false;
        (void)redd_http_read(s.req, on_decoded, &s);
        bed_settle(&s.b);
        redd_http_request_unref(s.req);
        bytes_free(&body);
        bytes_free(&b);
        scene_end(&s);
    }
}

static size_t seen_by_other;

static void on_two_requests(redd_http_request *req, void *user)
{
    scene *s = user;
    if (redd_slice_equal(redd_http_method(req), redd_slice_str("POST"))) {
        on_coded_request(req, s);
        return;
    }
    seen_by_other = s->body.len;
    assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
}

/* A bomb that is allowed: another connection is served before it is through. */
static void test_others_have_their_turn(void **state)
{
    static const char get[] = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    scene s;
    client other;
    bytes body = {0}, b = {0};
    (void)state;
    scene_begin(&s);
    client_close(&s.c);
    bed_serve_anew(&s.b, on_two_requests, &s);
    client_open(&s.b, &s.c);
    client_open(&s.b, &other);
    zeros(&body, 20 << 20);
    request_coded(&b, REDD__HTTP_GZIP, &body);
    s.max = body.len;
    assert_int_equal(client_put(&s.c, b.data, b.len), b.len);
    assert_int_equal(client_put(&other, get, sizeof get - 1), sizeof get - 1);
    client_settle(&s.c);
    assert_read(&s, &body);
    assert_true(seen_by_other > 0 && seen_by_other < (1 << 20));
    bytes_free(&body);
    bytes_free(&b);
    client_close(&other);
    scene_end(&s);
}

/* --- a body that is left --- */

static unsigned answers;

static void on_first_piece(redd_http_request *req, int status, redd_slice data, bool last,
                           void *user)
{
    (void)user;
    (void)data;
    (void)last;
    if (status == 0)
        assert_int_equal(redd_http_respond_text(req, 200, "enough"), 0);
    answers++;
}

static void on_hasty_request(redd_http_request *req, void *user)
{
    (void)user;
    assert_int_equal(redd_http_decode(req, 0), 0);
    assert_int_equal(redd_http_read(req, on_first_piece, NULL), 0);
}

/* Answered after the first piece: the rest of a small body is dropped undecoded, and the next
 * request is found behind it. */
static void test_the_rest_is_dropped(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CODINGS; i++) {
        bed b;
        client c;
        bytes body = {0}, one = {0}, all = {0};
        bed_begin(&b, on_hasty_request, NULL);
        zeros(&body, 200000);
        request_coded(&one, codings[i], &body);
        for (int n = 0; n < 3; n++)
            bytes_add(&all, one.data, one.len);
        for (size_t step = 1; step <= all.len; step = step == 1 ? 100 : all.len + (step > 100)) {
            answers = 0;
            client_open(&b, &c);
            client_send_cut(&c, all.data, all.len, step);
            assert_true(replies_are(&c, "200,200,200"));
            assert_int_equal(answers, 3);
            client_close(&c);
        }
        bytes_free(&body);
        bytes_free(&one);
        bytes_free(&all);
        bed_end(&b);
    }
}

/* --- memory --- */

static void play(scene *s, const bytes *requests, size_t n)
{
    if (bed_try_begin(&s->b) || bed_try_serve(&s->b, NULL, on_coded_request, s))
        return;
    for (size_t i = 0; i < n; i++) {
        if (client_try_open(&s->b, &s->c, CLIENT_CAPACITY) == 0) {
            client_send_cut(&s->c, requests[i].data, requests[i].len, 2000);
            bytes got = {0};
            replies_statuses(&s->c, false, &got);
            assert_true(s->c.reset || strcmp(got.data, "200") == 0 ||
                        strcmp(got.data, "503") == 0 || strcmp(got.data, "299") == 0 ||
                        strcmp(got.data, "500") == 0 || got.len == 0);
            assert_true(strcmp(got.data, "200") != 0 || s->body.len == 100000);
            assert_true(s->decoded == 0 || s->decoded == UV_ENOMEM);
            bytes_free(&got);
        }
        client_close(&s->c);
    }
}

static uint64_t play_failing(const bytes *requests, size_t count, uint64_t n, bool sticky)
{
    scene s;
    memset(&s, 0, sizeof s);
    s.reading = (reading)(n % N_READINGS);
    bed_prepare(&s.b);
    redd_counting_allocator_fail_at(s.b.counting, n, sticky);
    play(&s, requests, count);
    uint64_t failures = bed_memory(&s.b).failures;
    bytes_free(&s.body);
    bed_end(&s.b);
    return failures;
}

static void test_each_allocation_fails(void **state)
{
    bytes body = {0}, requests[N_CODINGS + 1];
    uint64_t n = 1;
    (void)state;
    memset(requests, 0, sizeof requests);
    json_fill(&body, 100000);
    for (size_t i = 0; i < N_CODINGS; i++)
        request_coded(&requests[i], codings[i], &body);
    bytes inner = {0}, outer = {0};
    encode_to(&inner, REDD__HTTP_GZIP, body.data, body.len);
    encode_to(&outer, REDD__HTTP_GZIP, inner.data, inner.len);
    request_with(&requests[N_CODINGS], "gzip, gzip", &outer, 1000);
    for (int quiet = 0; quiet < N_READINGS; n++) /* a way of reading each */
        quiet = play_failing(requests, N_CODINGS + 1, n, false) > 0 ? 0 : quiet + 1;
    assert_true(n > 40);
    n = 1;
    for (int quiet = 0; quiet < N_READINGS; n++)
        quiet = play_failing(requests, N_CODINGS + 1, n, true) > 0 ? 0 : quiet + 1;
    for (size_t i = 0; i < N_CODINGS + 1; i++)
        bytes_free(&requests[i]);
    bytes_free(&inner);
    bytes_free(&outer);
    bytes_free(&body);
}

static void test_memory_returns(void **state)
{
    scene s;
    bytes body = {0};
    (void)state;
    scene_begin(&s);
    json_fill(&body, 100000);
    for (size_t i = 0; i < N_CODINGS; i++) {
        bytes b = {0};
        uint64_t first = 0;
        request_coded(&b, codings[i], &body);
        for (int n = 0; n < 5; n++) {
            send_in(&s, &b, 5000, 5000);
            assert_read(&s, &body);
            first = n == 0 ? bed_memory(&s.b).bytes : first;
            assert_int_equal(bed_memory(&s.b).bytes, first);
        }
        bytes_free(&b);
    }
    bytes_free(&body);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_limit_counts_decoded_bytes),
        cmocka_unit_test(test_read_all_has_a_limit_of_its_own),
        cmocka_unit_test(test_the_servers_limit_is_the_default),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_window_of_zstd),
        cmocka_unit_test(test_nothing_is_read_while_bytes_wait),
        cmocka_unit_test(test_others_have_their_turn),
        cmocka_unit_test(test_the_rest_is_dropped),
        cmocka_unit_test(test_each_allocation_fails),
        cmocka_unit_test(test_memory_returns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
