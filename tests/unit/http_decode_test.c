/* SPDX-License-Identifier: MIT */
/** Bodies of requests that are decoded while they are read. */
#include "tests/unit/http_decode.h"

/** A body and the ways to send it. */
typedef struct sample {
    const char *encoding;
    redd__http_coding codings[2]; /* in the order in which they are applied */
    int bits;                     /* of deflate */
} sample;

static const sample samples[] = {
    {"gzip", {REDD__HTTP_GZIP}, 0},
    {"x-gzip", {REDD__HTTP_GZIP}, 0},
    {"GZIP", {REDD__HTTP_GZIP}, 0},
    {"identity, gzip", {REDD__HTTP_GZIP}, 0},
    {"deflate", {REDD__HTTP_DEFLATE}, 15},
    {"deflate", {REDD__HTTP_DEFLATE}, 9},
    {"deflate", {REDD__HTTP_DEFLATE}, -15},
    {"gzip, gzip", {REDD__HTTP_GZIP, REDD__HTTP_GZIP}, 0},
    {"deflate, gzip", {REDD__HTTP_DEFLATE, REDD__HTTP_GZIP}, 15},
    {"gzip\r\nContent-Encoding: deflate", {REDD__HTTP_GZIP, REDD__HTTP_DEFLATE}, 15},
#ifdef REDD_HAVE_BROTLI
    {"br", {REDD__HTTP_BR}, 0},
    {"br, gzip", {REDD__HTTP_BR, REDD__HTTP_GZIP}, 0},
    {"gzip,br", {REDD__HTTP_GZIP, REDD__HTTP_BR}, 0},
#endif
#ifdef REDD_HAVE_ZSTD
    {"zstd", {REDD__HTTP_ZSTD}, 0},
    {"zstd, gzip", {REDD__HTTP_ZSTD, REDD__HTTP_GZIP}, 0},
    {"gzip, zstd", {REDD__HTTP_GZIP, REDD__HTTP_ZSTD}, 0},
#endif
};
#define N_SAMPLES (sizeof samples / sizeof *samples)

static void code(bytes *out, const sample *p, redd__http_coding coding, const bytes *body)
{
    if (coding == REDD__HTTP_DEFLATE)
        deflate_to(out, p->bits, body->data, body->len);
    else
        encode_to(out, coding, body->data, body->len);
}

static void code_sample(bytes *out, const sample *p, const bytes *body)
{
    if (p->codings[1] == REDD__HTTP_IDENTITY) {
        code(out, p, p->codings[0], body);
        return;
    }
    bytes inner = {0};
    code(&inner, p, p->codings[0], body);
    code(out, p, p->codings[1], &inner);
    bytes_free(&inner);
}

static void test_sizes(void **state)
{
    static const size_t sizes[] = {0, 1, 1000, 32767, 32768, 32769, 200000};
    static const size_t chunks[] = {0, 1, 1000, 70000};
    scene s;
    (void)state;
    scene_begin(&s);
    for (size_t i = 0; i < N_SAMPLES; i++)
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
            bytes body = {0}, coded = {0};
            json_fill(&body, sizes[n]);
            code_sample(&coded, &samples[i], &body);
            for (size_t k = 0; k < sizeof chunks / sizeof *chunks * N_READINGS; k++) {
                bytes b = {0};
                size_t chunk = chunks[k / N_READINGS];
                if (chunk == 1 && body.len > 1000)
                    continue; /* it takes more turns than a client waits */
                s.reading = (reading)(k % N_READINGS);
                request_with(&b, samples[i].encoding, &coded, chunk);
                send_in(&s, &b, 30000, 30000);
                assert_read(&s, &body);
                bytes_free(&b);
            }
            bytes_free(&body);
            bytes_free(&coded);
        }
    scene_end(&s);
}

/* Byte by byte, and cut at every place. */
static void test_cuts(void **state)
{
    scene s;
    bytes body = {0};
    (void)state;
    scene_begin(&s);
    json_fill(&body, 600);
    for (size_t i = 0; i < N_SAMPLES; i++)
        for (int chunk = 0; chunk < 2; chunk++) {
            bytes coded = {0}, b = {0};
            code_sample(&coded, &samples[i], &body);
            request_with(&b, samples[i].encoding, &coded, chunk ? 50 : 0);
            s.reading = chunk ? READ_PIECES : READ_WHOLE;
            send_in(&s, &b, 1, 1);
            assert_read(&s, &body);
            for (size_t cut = 1; cut < b.len; cut++) {
                send_in(&s, &b, cut, b.len);
                assert_read(&s, &body);
            }
            bytes_free(&coded);
            bytes_free(&b);
        }
    bytes_free(&body);
    scene_end(&s);
}

/* A body that ends before its coding does, at every place; a body of no bytes is an empty one. */
static void test_truncation(void **state)
{
    scene s;
    bytes body = {0};
    (void)state;
    scene_begin(&s);
    json_fill(&body, 300);
    for (size_t i = 0; i < N_SAMPLES; i++) {
        bytes coded = {0};
        code_sample(&coded, &samples[i], &body);
        for (size_t len = 0; len < coded.len; len++) {
            bytes b = {0}, cut = {.data = coded.data, .len = len};
            s.reading = (reading)(len % N_READINGS);
            request_with(&b, samples[i].encoding, &cut, len % 3 ? 0 : 100);
            send_in(&s, &b, b.len, b.len);
            if (len > 0)
                assert_refused(&s, "400", REDD_EMALFORMED);
            else
                assert_answered(&s, "200");
            bytes_free(&b);
        }
        bytes_free(&coded);
    }
    bytes_free(&body);
    scene_end(&s);
}

static void test_bytes_behind_the_end(void **state)
{
    scene s;
    bytes body = {0};
    (void)state;
    scene_begin(&s);
    json_fill(&body, 300);
    for (size_t i = 0; i < N_SAMPLES; i++)
        for (size_t extra = 1; extra < 30; extra++) {
            bytes coded = {0}, b = {0};
            code_sample(&coded, &samples[i], &body);
            bytes_fill(&coded, extra % 2 ? 'x' : '\0', extra);
            s.reading = (reading)(extra % N_READINGS);
            request_with(&b, samples[i].encoding, &coded, extra % 3 ? 0 : 10);
            send_in(&s, &b, b.len, b.len);
            assert_refused(&s, "400", REDD_EMALFORMED);
            bytes_free(&coded);
            bytes_free(&b);
        }
    bytes_free(&body);
    scene_end(&s);
}

static void test_garbage(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    for (size_t i = 0; i < N_SAMPLES; i++) {
        bytes noise = {0}, b = {0};
        noise_fill(&noise, 3000);
        noise.data[0] = (char)0xff; /* no block of any coding */
        request_with(&b, samples[i].encoding, &noise, 0);
        send_in(&s, &b, b.len, b.len);
        assert_refused(&s, "400", REDD_EMALFORMED);
        bytes_free(&noise);
        bytes_free(&b);
    }
    scene_end(&s);
}

static void flip(bytes *b, size_t bit)
{
    b->data[bit / 8] = (char)((unsigned char)b->data[bit / 8] ^ 1U << bit % 8);
}

/* A flipped bit gives another body, or an error; gzip and zlib have sums that tell. */
static void test_flipped_bits(void **state)
{
    scene s;
    bytes body = {0}, coded = {0};
    unsigned refused = 0;
    (void)state;
    scene_begin(&s);
    json_fill(&body, 200);
    encode_to(&coded, REDD__HTTP_GZIP, body.data, body.len);
    for (size_t bit = 80; bit < coded.len * 8; bit++) {
        bytes b = {0};
        flip(&coded, bit);
        request_with(&b, "gzip", &coded, 0);
        send_in(&s, &b, b.len, b.len);
        assert_refused(&s, "400", REDD_EMALFORMED);
        refused++;
        flip(&coded, bit);
        bytes_free(&b);
    }
    assert_true(refused > 500);
    bytes_free(&body);
    bytes_free(&coded);
    scene_end(&s);
}

/* RFC 1952 2.2, RFC 8878 3: what is coded in parts is one body. */
static void test_members_and_frames(void **state)
{
    static const redd__http_coding codings[] = {REDD__HTTP_GZIP,
#ifdef REDD_HAVE_ZSTD
                                                REDD__HTTP_ZSTD
#endif
    };
    scene s;
    (void)state;
    scene_begin(&s);
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++) {
        bytes body = {0}, coded = {0}, b = {0};
        json_fill(&body, 50000);
        encode_to(&coded, codings[i], body.data, 40000);
        encode_to(&coded, codings[i], NULL, 0);
        encode_to(&coded, codings[i], body.data + 40000, 10000);
        request_with(&b, coding_name(codings[i]), &coded, 0);
        send_in(&s, &b, b.len, b.len);
        assert_read(&s, &body);
        send_in(&s, &b, 1, 1);
        assert_read(&s, &body);
        bytes_free(&body);
        bytes_free(&coded);
        bytes_free(&b);
    }
    scene_end(&s);
}

/* --- which codings --- */

static void test_what_is_not_decoded(void **state)
{
    static const struct {
        const char *encoding;
        int rc;
    } rows[] = {
        {NULL, 0},
        {"", 0},
        {"identity", 0},
        {"identity, identity", 0},
        {"compress", UV_ENOTSUP},
        {"gzip, foo", UV_ENOTSUP},
        {"gzip, gzip, gzip", UV_ENOTSUP},
        {"gzip\r\nContent-Encoding: gzip, gzip", UV_ENOTSUP},
        {"gzip;q=1", UV_ENOTSUP},
        {"*", UV_ENOTSUP},
        {"gzip, identity, foo", UV_ENOTSUP},
    };
    scene s;
    bytes body = {0};
    (void)state;
    scene_begin(&s);
    json_fill(&body, 1000);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bytes b = {0};
        request_with(&b, rows[i].encoding, &body, 0);
        send_in(&s, &b, b.len, b.len);
        assert_int_equal(s.decoded, rows[i].rc);
        if (rows[i].rc)
            assert_answered(&s, "299");
        else
            assert_read(&s, &body);
        bytes_free(&b);
    }
    bytes_free(&body);
    scene_end(&s);
}

/* --- when it may be asked for --- */

static void on_read_first(redd_http_request *req, int status, redd_slice data, bool last,
                          void *user)
{
    (void)status;
    (void)data;
    (void)user;
    assert_int_equal(redd_http_decode(req, 0), REDD_ESTATE);
    if (last)
        assert_int_equal(redd_http_respond_text(req, 200, "ok"), 0);
    else
        assert_int_equal(redd_http_read(req, on_read_first, NULL), 0);
}

static redd_http_request *ended;

static void on_state_request(redd_http_request *req, void *user)
{
    bool *first = user;
    if (*first)
        assert_int_equal(redd_http_decode(req, 0), 0);
    assert_int_equal(redd_http_read(req, on_read_first, NULL), 0);
    assert_int_equal(redd_http_decode(req, 0), REDD_ESTATE);
    ended = redd_http_request_ref(req);
}

static void test_before_the_first_read_only(void **state)
{
    bed b;
    client c;
    bytes body = {0}, coded = {0}, request = {0};
    bool first = false;
    (void)state;
    bed_begin(&b, on_state_request, &first);
    client_open(&b, &c);
    json_fill(&body, 1000);
    encode_to(&coded, REDD__HTTP_GZIP, body.data, body.len);
    request_with(&request, "gzip", &coded, 0);
    for (int i = 0; i < 2; i++) {
        first = i == 1;
        bytes_clear(&c.got);
        client_send_cut(&c, request.data, request.len, 50);
        assert_true(replies_are(&c, "200"));
        assert_int_equal(redd_http_decode(ended, 0), REDD_ECLOSED);
        redd_http_request_unref(ended);
    }
    bytes_free(&body);
    bytes_free(&coded);
    bytes_free(&request);
    client_close(&c);
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_bytes_behind_the_end),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_flipped_bits),
        cmocka_unit_test(test_members_and_frames),
        cmocka_unit_test(test_what_is_not_decoded),
        cmocka_unit_test(test_before_the_first_read_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
