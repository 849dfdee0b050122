/* SPDX-License-Identifier: MIT */
/** What guests do beyond whole responses: streams, trailers, files, routes, events; and
 * closing ids at any time. */
#include "tests/unit/http_must.h"

#include "tests/unit/http_ops_host.h"

#include <stdio.h>
#include <unistd.h>

/* --- streams --- */

static void test_stream(void **state)
{
    (void)state;
    host h;
    host_begin(&h);
    client_text(&h.c, GET);
    redd_rid r = h.request;
    expect_ok(OP(&h, "op_http_send_interim_response", id(r), redd_value_u32(103), text(&h, "")));
    expect_ok(OP(&h, "op_http_set_response_header", id(r), text(&h, "A"), text(&h, "1")));
    expect_ok(OP(&h, "op_http_set_response_trailer", id(r), text(&h, "T"), text(&h, "2")));
    expect_ok(OP(&h, "op_http_start_response", id(r), redd_value_u32(200), redd_value_null()));
    expect_ok(OP(&h, "op_http_write_response_body", id(r), text(&h, "one")));
    expect_ok(OP(&h, "op_http_write_response_body", id(r), text(&h, "two")));
    expect_ok(OP(&h, "op_http_finish_response", id(r)));
    expect_ok(OP(&h, "op_close", id(r)));
    client_settle(&h.c);
    assert_memory_equal(h.c.got.data, "HTTP/1.1 103 Early Hints\r\n\r\n", 28);
    assert_true(got(&h, "\r\nA: 1\r\n") && got(&h, "3\r\none\r\n3\r\ntwo\r\n0\r\nT: 2\r\n\r\n"));
    host_end(&h);
}

/* A guest that awaits each write holds no more than its client leaves waiting. */
static void test_slow_reader(void **state)
{
    (void)state;
    enum { PIECE = 100000, N = 40 };
    host h;
    char *piece = malloc(PIECE + 1);
    assert_non_null(piece);
    memset(piece, 'x', PIECE);
    piece[PIECE] = '\0';
    host_begin_sized(&h, 1000);
    client_put(&h.c, GET, strlen(GET));
    bed_settle(&h.b);
    expect_ok(
        OP(&h, "op_http_start_response", id(h.request), redd_value_u32(200), redd_value_null()));
    unsigned parked = 0;
    for (int i = 0; i < N; i++) {
        redd_value out, args[] = {id(h.request), text(&h, piece)};
        redd_op_call_id later;
        int rc = call(&h, "op_http_write_response_body", args, 2, &out, &later);
        assert_true(bed_memory(&h.b).bytes < 3 * h.b.options.max_queued);
        if (rc == REDD_OP_PARKED) {
            parked++;
            client_settle(&h.c);
            assert_true(take_done(&h, later, &out));
            assert_int_not_equal(out.kind, REDD_ERROR);
        } else {
            assert_int_equal(rc, 0);
        }
    }
    assert_true(parked > 0);
    expect_ok(OP(&h, "op_http_finish_response", id(h.request)));
    client_settle(&h.c);
    assert_true(h.c.got.len > (size_t)PIECE * N);
    assert_true(got(&h, "0\r\n\r\n"));
    free(piece);
    host_end(&h);
}

/* The client goes while a write waits, and a wait for the end. */
static void test_client_goes(void **state)
{
    (void)state;
    host h;
    redd_value out;
    redd_op_call_id end, write = 0;
    char piece[60001];
    memset(piece, 'x', 60000);
    piece[60000] = '\0';
    host_begin_sized(&h, 1000);
    client_put(&h.c, GET, strlen(GET));
    bed_settle(&h.b);
    assert_int_equal(
        call(&h, "op_http_request_on_cancel", (redd_value[]){id(h.request)}, 1, &out, &end),
        REDD_OP_PARKED);
    expect_ok(
        OP(&h, "op_http_start_response", id(h.request), redd_value_u32(200), redd_value_null()));
    int rc = 0;
    while (rc == 0) {
        redd_value args[] = {id(h.request), text(&h, piece)};
        rc = call(&h, "op_http_write_response_body", args, 2, &out, &write);
    }
    assert_int_equal(rc, REDD_OP_PARKED);
    client_go(&h.c, true);
    assert_true(take_done(&h, write, &out));
    expect_error(out, UV_ECONNRESET);
    assert_true(take_done(&h, end, &out));
    expect_error(out, UV_ECONNRESET);
    expect_error(OP(&h, "op_http_finish_response", id(h.request)), REDD_ECLOSED);
    expect_ok(OP(&h, "op_close", id(h.request)));
    host_end(&h);
}

/* --- routes and files --- */

static void test_routes(void **state)
{
    (void)state;
    host h;
    host_begin(&h);
    redd_value router = get(&h, "op_http_new_router", NULL, 0);
    assert_int_equal(router.kind, REDD_RESOURCE);
    expect_ok(OP(&h, "op_http_add_route", router, text(&h, "GET"), text(&h, "/users/:id"),
                 redd_value_u32(42)));
    expect_error(OP(&h, "op_http_add_route", router, text(&h, "GET"), text(&h, "/users/:name"),
                    redd_value_u32(1)),
                 REDD_EDUPLICATE);
    expect_error(
        OP(&h, "op_http_add_route", router, text(&h, "GET"), text(&h, "users"), redd_value_u32(1)),
        UV_EINVAL);
    client_text(&h.c, GET);
    redd_value number = OP(&h, "op_http_match_route", router, id(h.request));
    assert_int_equal(number.kind, REDD_U32);
    assert_int_equal(number.as.u32, 42);
    expect_ok(OP(&h, "op_close", router)); /* the request still knows its route */
    expect_bytes(OP(&h, "op_http_get_request_param", id(h.request), text(&h, "id")), "7");
    assert_int_equal(OP(&h, "op_http_get_request_param", id(h.request), text(&h, "no")).kind,
                     REDD_NULL);
    expect_ok(OP(&h, "op_close", id(h.request)));
    client_settle(&h.c);
    assert_true(got(&h, "HTTP/1.1 500"));
    host_end(&h);
}

static void test_no_route(void **state)
{
    (void)state;
    host h;
    host_begin(&h);
    redd_value router = get(&h, "op_http_new_router", NULL, 0);
    client_text(&h.c, GET);
    assert_int_equal(OP(&h, "op_http_match_route", router, id(h.request)).kind, REDD_NULL);
    client_settle(&h.c);
    assert_true(got(&h, "HTTP/1.1 404"));
    expect_ok(OP(&h, "op_close", id(h.request)));
    expect_ok(OP(&h, "op_close", router));
    host_end(&h);
}

static void test_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/redd-ops-XXXXXX", path[64];
    host h;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/7", folder);
    FILE *f = fopen(path, "w");
    assert_true(f && fputs("seven", f) > 0 && fclose(f) == 0);
    host_begin(&h);
    expect_error(OP(&h, "op_http_open_files", text(&h, "/nowhere/at/all"), redd_value_bool(false)),
                 UV_ENOENT);
    redd_value files = OP(&h, "op_http_open_files", text(&h, folder), redd_value_bool(false));
    client_text(&h.c, GET);
    expect_ok(OP(&h, "op_http_respond_file", id(h.request), files, text(&h, "/users")));
    expect_ok(OP(&h, "op_close", files));
    expect_ok(OP(&h, "op_close", id(h.request)));
    client_settle(&h.c);
    assert_true(got(&h, "HTTP/1.1 200") && got(&h, "\r\n\r\nseven"));
    host_end(&h);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* --- events --- */

static void test_events(void **state)
{
    (void)state;
    host h;
    host_begin(&h);
    client_text(&h.c, GET);
    redd_value events = OP(&h, "op_http_start_events", id(h.request), redd_value_u32(1000));
    assert_int_equal(events.kind, REDD_RESOURCE);
    expect_ok(OP(&h, "op_http_send_event", events, text(&h, "t"), text(&h, "1"), text(&h, "a\nb")));
    client_settle(&h.c);
    assert_true(got(&h, "text/event-stream") && got(&h, "data: a\ndata: b\n"));
    expect_error(
        OP(&h, "op_http_send_event", events, text(&h, "a\nb"), text(&h, ""), text(&h, "x")),
        UV_EINVAL);
    expect_ok(OP(&h, "op_close", events));
    client_settle(&h.c);
    assert_true(got(&h, "0\r\n\r\n"));
    expect_ok(OP(&h, "op_close", id(h.request)));
    host_end(&h);
}

static void test_events_without_a_client(void **state)
{
    (void)state;
    host h;
    redd_value out = redd_value_undefined();
    redd_op_call_id send = 0;
    char data[60001];
    memset(data, 'x', 60000);
    data[60000] = '\0';
    host_begin_sized(&h, 1000);
    client_put(&h.c, GET, strlen(GET));
    bed_settle(&h.b);
    redd_value events = OP(&h, "op_http_start_events", id(h.request), redd_value_u32(1000));
    int rc = 0;
    while (rc == 0) {
        redd_value args[] = {events, text(&h, ""), text(&h, ""), text(&h, data)};
        rc = call(&h, "op_http_send_event", args, 4, &out, &send);
    }
    assert_int_equal(rc, REDD_OP_PARKED);
    expect_error(OP(&h, "op_http_send_event", events, text(&h, ""), text(&h, ""), text(&h, "x")),
                 UV_EBUSY);
    client_go(&h.c, true);
    assert_true(take_done(&h, send, &out));
    assert_int_equal(out.kind, REDD_ERROR);
    expect_ok(OP(&h, "op_close", events));
    expect_ok(OP(&h, "op_close", id(h.request)));
    host_end(&h);
}

/* --- the rest --- */

static void test_headers_in_one_piece(void **state)
{
    (void)state;
    host h;
    redd_bytes *b;
    host_begin(&h);
    client_text(&h.c, GET);
    static const char flat[] = "A\0001\0B\0002";
    assert_int_equal(
        redd_bytes_copy(redd_worker_allocator(h.b.w), redd_slice_of(flat, sizeof flat), &b), 0);
    expect_ok(OP(&h, "op_http_set_response_headers", id(h.request), redd_value_bytes(b)));
    expect_error(OP(&h, "op_http_set_response_headers", id(h.request), text(&h, "no end")),
                 UV_EINVAL);
    expect_ok(OP(&h, "op_http_set_response_body_text", id(h.request), redd_value_u32(200),
                 text(&h, "ok")));
    expect_ok(OP(&h, "op_close", id(h.request)));
    client_settle(&h.c);
    assert_true(got(&h, "\r\nA: 1\r\nB: 2\r\n"));
    host_end(&h);
}

static void test_limits_and_abort(void **state)
{
    (void)state;
    host h;
    host_begin(&h);
    client_text(&h.c, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello");
    expect_error(OP(&h, "op_http_set_max_request_body", id(h.request), redd_value_i64(-1)),
                 UV_EINVAL);
    expect_ok(OP(&h, "op_http_set_max_request_body", id(h.request), redd_value_i64(5)));
    expect_bytes(OP(&h, "op_http_read_full_request_body", id(h.request), redd_value_i64(100)),
                 "hello");
    redd_value name = OP(&h, "op_http_get_request_id", id(h.request));
    assert_int_equal(redd_bytes_slice(name.as.bytes).len, 32);
    redd_value_drop(&name);
    expect_ok(OP(&h, "op_http_abort_request", id(h.request)));
    expect_error(OP(&h, "op_http_abort_request", id(h.request)), REDD_ECLOSED);
    expect_ok(OP(&h, "op_close", id(h.request)));
    client_settle(&h.c);
    assert_true(h.c.reset);
    host_end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_client_goes),
        cmocka_unit_test(test_routes),
        cmocka_unit_test(test_no_route),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_events_without_a_client),
        cmocka_unit_test(test_headers_in_one_piece),
        cmocka_unit_test(test_limits_and_abort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
