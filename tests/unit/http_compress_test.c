/* SPDX-License-Identifier: MIT */
/** Compressed responses: bodies and framing. */
#include "tests/unit/http_compress.h"

/* --- every coding --- */

static void each_coding(void (*check)(scene *s, redd__http_coding coding))
{
    for (size_t i = 0; i < N_MADE_CODINGS; i++) {
        scene s;
        scene_begin(&s);
        check(&s, made_codings[i]);
        scene_end(&s);
    }
}

static void check_whole(scene *s, redd__http_coding coding)
{
    static const size_t sizes[] = {1024, 5000, 20000, 70000, 100000, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        reply r;
        bytes_clear(&s->body);
        json_fill(&s->body, sizes[i]);
        get(s, coding_name(coding), &r);
        assert_decodes(&r, coding, &s->body);
        assert_true(reply_field_is(&r, "vary", "Accept-Encoding"));
        assert_int_equal(slice_number(reply_field(&r, "content-length"), 10), r.body.len);
        assert_true(r.body.len < sizes[i] / 2);
        reply_end(&r);
    }
}

static void test_whole(void **state)
{
    (void)state;
    each_coding(check_whole);
}

static void check_streamed(scene *s, redd__http_coding coding)
{
    static const size_t pieces[] = {1, 100, 20000, 300000};
    static const size_t sizes[] = {2000, 30000, 100000, 300000};
    s->streamed = true;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (int known = 0; known < 2; known++) {
            reply r;
            bytes_clear(&s->body);
            json_fill(&s->body, sizes[i]);
            s->piece = pieces[i];
            s->length = known ? (int64_t)s->body.len : -1;
            get(s, coding_name(coding), &r);
            assert_true(r.chunked);
            assert_decodes(&r, coding, &s->body);
            assert_true(reply_field_is(&r, "vary", "Accept-Encoding"));
            reply_end(&r);
        }
}

static void test_streamed(void **state)
{
    (void)state;
    each_coding(check_streamed);
}

static void check_old(scene *s, redd__http_coding coding)
{
    for (int known = 0; known < 2; known++) {
        reply r;
        s->streamed = true;
        s->length = known ? (int64_t)s->body.len : -1;
        ask(s, "GET", coding_name(coding), 0);
        assert_true(s->c.eof);
        reply_begin(&r, &s->c);
        assert_true(reply_next(&r) && reply_at_end(&r) && r.until_end);
        assert_decodes(&r, coding, &s->body);
        reply_end(&r);
    }
}

static void test_streamed_to_http_1_0(void **state)
{
    (void)state;
    each_coding(check_old);
}

/* --- each piece can be decoded when it has come --- */

/* What the chunks so far can be decoded to. */
static void decode_chunks(const client *c, redd__http_coding coding, bytes *out)
{
    bytes coded = {0};
    redd_slice rest = redd_slice_of(c->got.data, c->got.len);
    size_t head = slice_find(rest, "\r\n\r\n") + 4;
    rest = redd_slice_of(rest.data + head, rest.len - head);
    while (rest.len > 0) {
        uint64_t n = slice_number(slice_line(&rest), 16);
        bytes_add(&coded, rest.data, n);
        rest = redd_slice_of(rest.data + n + 2, rest.len - n - 2);
    }
    assert_int_equal(decode_to(out, coding, coded.data, coded.len), REDD__HTTP_STEP_INPUT);
    bytes_free(&coded);
}

static void check_flush(scene *s, redd__http_coding coding)
{
    size_t sent = 0;
    reply r;
    s->streamed = true;
    s->piece = 0;
    ask(s, "GET", coding_name(coding), 1);
    for (size_t n = 1; sent + n <= s->body.len; n = n * 3 + 1) {
        bytes seen = {0};
        assert_int_equal(redd_http_write(s->req, redd_slice_of(s->body.data + sent, n)), 0);
        sent += n;
        client_settle(&s->c);
        decode_chunks(&s->c, coding, &seen);
        assert_true(bytes_are(&seen, s->body.data, sent));
        bytes_free(&seen);
    }
    assert_true(sent > 1000);
    assert_int_equal(redd_http_write(s->req, redd_slice_of("", 0)), 0);
    assert_int_equal(redd_http_finish(s->req), 0);
    redd_http_request_unref(s->req);
    client_settle(&s->c);
    reply_begin(&r, &s->c);
    assert_true(reply_next(&r) && reply_at_end(&r));
    s->body.len = sent;
    assert_decodes(&r, coding, &s->body);
    reply_end(&r);
}

static void test_pieces_are_flushed(void **state)
{
    (void)state;
    each_coding(check_flush);
}

static void check_empty_stream(scene *s, redd__http_coding coding)
{
    reply r;
    s->streamed = true;
    bytes_clear(&s->body);
    get(s, coding_name(coding), &r);
    assert_decodes(&r, coding, &s->body);
    reply_end(&r);
}

static void test_streamed_without_a_piece(void **state)
{
    (void)state;
    each_coding(check_empty_stream);
}

/* --- HEAD --- */

static void head_of(scene *s, const char *method, const char *accept, bytes *out)
{
    reply r;
    ask(s, method, accept, 1);
    reply_begin(&r, &s->c);
    assert_true(reply_next_to(&r, strcmp(method, "HEAD") == 0) && reply_at_end(&r));
    bytes_add(out, r.head.data, r.head.len);
    reply_end(&r);
}

static void check_head(scene *s, redd__http_coding coding)
{
    s->fields[1] = FIELD("ETag", "\"x\"");
    s->n = 2;
    for (int streamed = 0; streamed < 2; streamed++)
        for (int small = 0; small < 2; small++) {
            bytes of_get = {0}, of_head = {0};
            s->streamed = streamed;
            s->body.len = small ? 100 : 10000;
            s->length = small ? (int64_t)s->body.len : -1;
            head_of(s, "GET", coding_name(coding), &of_get);
            head_of(s, "HEAD", coding_name(coding), &of_head);
            assert_true(bytes_are(&of_get, of_head.data, of_head.len));
            assert_true((strstr(of_head.data, "Content-Encoding") == NULL) == small);
            bytes_free(&of_get);
            bytes_free(&of_head);
        }
}

static void test_head_tells_what_get_does(void **state)
{
    (void)state;
    each_coding(check_head);
}

/* --- levels --- */

static void check_levels(scene *s, redd__http_coding coding)
{
    size_t first = 0, last = 0;
    bytes_clear(&s->body);
    json_fill(&s->body, 50000);
    client_close(&s->c);
    for (unsigned level = 1; level <= 9; level++) {
        reply r;
        s->b.options.compress_level = level;
        bed_serve_anew(&s->b, on_request, s);
        client_open(&s->b, &s->c);
        get(s, coding_name(coding), &r);
        assert_decodes(&r, coding, &s->body);
        first = level == 1 ? r.body.len : first;
        last = r.body.len;
        reply_end(&r);
        client_close(&s->c);
    }
    assert_true(last < first);
    client_open(&s->b, &s->c);
}

static void test_levels(void **state)
{
    (void)state;
    each_coding(check_levels);
}

/* --- files --- */

typedef struct file_scene {
    scene s;
    FILE *file;
    bool piece_too;
} file_scene;

static void finish_file(redd_http_request *req, void *user)
{
    file_scene *f = user;
    if (f->piece_too)
        assert_true(redd_http_write(req, redd_slice_of("tail", 4)) >= 0);
    assert_int_equal(redd_http_finish(req), 0);
}

static void on_file_request(redd_http_request *req, void *user)
{
    file_scene *f = user;
    redd_http_on_drain(req, finish_file, f);
    redd_http_on_end(req, on_end, &f->s);
    assert_int_equal(redd_http_start(req, 200, f->s.fields, f->s.n, -1), 0);
    int rc = redd_http_write_file(req, fileno(f->file), 100, f->s.body.len - 100);
    assert_true(rc == 0 || rc == REDD_HTTP_FULL);
    if (rc == 0)
        finish_file(req, f);
}

static void check_file(redd__http_coding coding, size_t size, size_t capacity, bool piece_too)
{
    file_scene f = {.piece_too = piece_too};
    reply r;
    scene_begin(&f.s);
    client_close(&f.s.c);
    f.s.b.options.max_queued = 32 << 10;
    bed_serve_anew(&f.s.b, on_file_request, &f);
    client_open_sized(&f.s.b, &f.s.c, capacity);
    bytes_clear(&f.s.body);
    noise_fill(&f.s.body, size / 2);
    json_fill(&f.s.body, size);
    f.file = tmpfile();
    assert_non_null(f.file);
    assert_int_equal(fwrite(f.s.body.data, 1, size, f.file), size);
    assert_int_equal(fflush(f.file), 0);
    get(&f.s, coding_name(coding), &r);
    bytes expected = {0};
    bytes_add(&expected, f.s.body.data + 100, size - 100);
    if (piece_too)
        bytes_text(&expected, "tail");
    assert_decodes(&r, coding, &expected);
    bytes_free(&expected);
    reply_end(&r);
    (void)fclose(f.file);
    scene_end(&f.s);
}

static void test_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_MADE_CODINGS; i++) {
        check_file(made_codings[i], 5000, CLIENT_CAPACITY, false);
        check_file(made_codings[i], 5000, CLIENT_CAPACITY, true);
        check_file(made_codings[i], 500000, CLIENT_CAPACITY, true);
        check_file(made_codings[i], 500000, 2000, false);
    }
}

static void test_declared_length_counts_the_handlers_bytes(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    s.streamed = true;
    s.piece = 0;
    s.length = 2000;
    ask(&s, "GET", "gzip", 1);
    assert_int_equal(redd_http_write(s.req, redd_slice_of(s.body.data, 2001)), UV_EINVAL);
    assert_int_equal(redd_http_write(s.req, redd_slice_of(s.body.data, 1999)), 0);
    assert_int_equal(redd_http_write(s.req, redd_slice_of(s.body.data, 2)), UV_EINVAL);
    assert_int_equal(redd_http_finish(s.req), UV_EINVAL); /* one byte is missing */
    redd_http_request_unref(s.req);
    client_settle(&s.c);
    assert_true(s.c.reset);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_streamed),
        cmocka_unit_test(test_streamed_to_http_1_0),
        cmocka_unit_test(test_pieces_are_flushed),
        cmocka_unit_test(test_streamed_without_a_piece),
        cmocka_unit_test(test_head_tells_what_get_does),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_declared_length_counts_the_handlers_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
