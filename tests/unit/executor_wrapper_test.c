/* SPDX-License-Identifier: MIT */
/** An embedder's executor around the default one sees every task of the extensions: there is no
 *  other way for one to run. And a worker with all of them comes and goes without a trace. */
#include "tests/unit/gate.h"

#include <redd/websocket.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- an executor that counts --- */

typedef struct tally {
    const char *name; /* the future's or the job's */
    unsigned n;
} tally;

typedef struct counting {
    redd_executor base;
    redd_executor *inner;
    tally tallies[16];
    unsigned total;
    size_t live; /* what came through here and has not been dropped */
} counting;

/** Stands for a future, or a job, that was given to the executor. */
typedef struct stand_in {
    redd_future future;
    redd_job job;
    redd_future_vt future_vt;
    redd_job_vt job_vt;
    counting *c;
    redd_future *inner_future;
    redd_job *inner_job;
} stand_in;

static stand_in *of_job(redd_job *j)
{
    return (stand_in *)(void *)((char *)j - offsetof(stand_in, job));
}

static redd_poll stand_in_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    return redd_future_poll(((stand_in *)f)->inner_future, waker, out);
}

static void release(stand_in *s)
{
    s->c->live--;
    free(s);
}

static void stand_in_drop(redd_future *f)
{
    stand_in *s = (stand_in *)f;
    redd_future_drop(s->inner_future);
    release(s);
}

static redd_value stand_in_run(redd_job *j)
{
    redd_job *inner = of_job(j)->inner_job;
    return inner->vt->run(inner);
}

static void stand_in_drop_job(redd_job *j)
{
    stand_in *s = of_job(j);
    s->inner_job->vt->drop(s->inner_job);
    release(s);
}

static stand_in *count_in(counting *c, const char *name)
{
    stand_in *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    s->c = c;
    s->future_vt = (redd_future_vt){name, stand_in_poll, stand_in_drop};
    s->job_vt = (redd_job_vt){name, stand_in_run, stand_in_drop_job};
    s->future.vt = &s->future_vt;
    s->job.vt = &s->job_vt;
    size_t i = 0;
    while (c->tallies[i].name && strcmp(c->tallies[i].name, name) != 0)
        assert_true(++i < 16);
    c->tallies[i].name = name;
    c->tallies[i].n++;
    c->total++;
    c->live++;
    return s;
}

/** A refused one stays its owner's. */
static int settle(stand_in *s, int rc)
{
    if (rc < 0)
        release(s);
    return rc;
}

static int counting_spawn(redd_executor *ex, redd_future *f, redd_join **join)
{
    counting *c = (counting *)ex;
    stand_in *s = count_in(c, f->vt->name);
    s->inner_future = f;
    return settle(s, redd_spawn(c->inner, &s->future, join));
}

static int counting_start(redd_executor *ex, redd_future *f, redd_value *out, redd_join **join)
{
    counting *c = (counting *)ex;
    stand_in *s = count_in(c, f->vt->name);
    s->inner_future = f;
    return settle(s, redd_spawn_now(c->inner, &s->future, out, join));
}

static int counting_blocking(redd_executor *ex, redd_job *j, redd_join **join)
{
    counting *c = (counting *)ex;
    stand_in *s = count_in(c, j->vt->name);
    s->inner_job = j;
    return settle(s, redd_spawn_blocking(c->inner, &s->job, join));
}

static size_t counting_live(const redd_executor *ex)
{
    const redd_executor *inner = ((const counting *)ex)->inner;
    return inner->vt->live(inner);
}

static redd_executor *wrap(redd_worker *w, redd_executor *inner, void *user)
{
    (void)w;
    static const redd_executor_vt vt = {"counting", counting_spawn, counting_start,
                                        counting_blocking, counting_live};
    counting *c = user;
    c->base.vt = &vt;
    c->inner = inner;
    return &c->base;
}

static unsigned counted(const counting *c, const char *name)
{
    for (size_t i = 0; i < 16 && c->tallies[i].name; i++)
        if (strcmp(c->tallies[i].name, name) == 0)
            return c->tallies[i].n;
    return 0;
}

/* --- a server with HTTP and WebSocket --- */

typedef struct site {
    fixture *f;
    counting counting;
    redd_http_server *server;
    redd_listener *listener;
    unsigned opened, closed;
} site;

static void on_open(redd_ws *ws, void *user)
{
    (void)ws;
    ((site *)user)->opened++;
}

static void on_message(redd_ws *ws, redd_ws_kind kind, redd_slice data, void *user)
{
    (void)user;
    assert_int_equal(redd_ws_send(ws, kind, data), 0);
}

static void on_close(redd_ws *ws, const redd_ws_close_event *event, void *user)
{
    (void)ws;
    (void)event;
    ((site *)user)->closed++;
}

static const redd_ws_handlers handlers = {
    .struct_size = sizeof(handlers),
    .open = on_open,
    .message = on_message,
    .close = on_close,
};

static void on_request(redd_http_request *req, void *user)
{
    if (redd_ws_wants_upgrade(req))
        assert_int_equal(redd_ws_upgrade(req, NULL, &handlers, user), 0);
    else
        assert_int_equal(redd_http_respond_text(req, 200, "hello"), 0);
}

static void site_open(site *s, fixture *f)
{
    s->f = f;
    const redd_extension *const all[] = {&redd_net_extension, &redd_http_extension,
                                         &redd_websocket_extension, &gate_extension};
    assert_int_equal(redd_runtime_new(&f->options, &f->rt), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(redd_runtime_add(f->rt, all[i]), 0);
    assert_int_equal(redd_runtime_attach(f->rt, &f->loop, &f->w), 0);
}

static void site_serve(site *s, redd_listener *listener)
{
    assert_int_equal(redd_http_serve(s->f->w, listener, NULL, on_request, s, &s->server), 0);
}

static void site_turns(site *s, int n)
{
    while (n-- > 0) {
        fixture_turn(s->f);
        if (s->counting.inner) /* nothing runs there that did not come through here */
            assert_int_equal(counting_live(&s->counting.base), s->counting.live);
    }
}

static redd_stream *connect_in_memory(site *s)
{
    redd_stream *ends[2];
    assert_int_equal(redd_stream_pair(s->f->w, 4096, ends), 0);
    assert_int_equal(redd_http_serve_stream(s->server, ends[1]), 0);
    redd_stream_interest(ends[0], REDD_STREAM_READ);
    return ends[0];
}

/** Sends, and finds `begin` at the beginning of the answer. */
static void talk(site *s, redd_stream *client, const char *text, size_t len, const char *begin)
{
    char got[1024];
    redd_slice out = redd_slice_of(text, len);
    size_t n;
    assert_int_equal(redd_stream_write(client, &out, 1, &n), 0);
    assert_int_equal(n, len);
    site_turns(s, 5);
    assert_int_equal(redd_stream_read(client, got, sizeof(got), &n), 0);
    assert_true(n >= strlen(begin));
    assert_memory_equal(got, begin, strlen(begin));
}

#define GET "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
#define HANDSHAKE                                          \
    "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"  \
    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
#define MASKED_HI                    "\x81\x82\0\0\0\0hi"
#define TALK(s, client, text, begin) talk((s), (client), text, sizeof(text) - 1, (begin))

/** One request over the listener. */
static void talk_over_tcp(site *s)
{
    redd_address at;
    char got[1024];
    redd_listener_address(s->listener, &at);
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_port = htons(at.port),
                               .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    assert_int_equal(write(fd, GET, sizeof(GET) - 1), sizeof(GET) - 1);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    ssize_t n;
    do
        site_turns(s, 1);
    while ((n = read(fd, got, sizeof(got))) < 0 && errno == EAGAIN);
    assert_true(n > 15);
    assert_memory_equal(got, "HTTP/1.1 200 OK", 15);
    assert_int_equal(close(fd), 0);
}

static void count_results(redd_worker *w, const redd_op_call_id *calls, redd_value *values,
                          size_t n, void *user)
{
    (void)w;
    (void)calls;
    (void)values; /* plain numbers */
    *(size_t *)user += n;
}

/** An op that parks, and one that runs on the blocking pool. */
static void call_ops(site *s)
{
    fixture *f = s->f;
    size_t results = 0;
    redd_op_on_completion(f->w, count_results, &results);
    assert_int_equal(call_wait(f, 0, redd_value_u32(1), NULL), REDD_OP_PARKED);
    redd_bytes *text;
    assert_int_equal(redd_bytes_copy(f->options.allocator, redd_slice_str("four"), &text), 0);
    redd_value arg = redd_value_bytes(text);
    redd_value out;
    redd_op_id measure = redd_op_find(f->rt, "op_gate_measure");
    assert_int_equal(redd_op_call(f->w, measure, &arg, 1, &out, NULL), REDD_OP_PARKED);
    redd_value_drop(&arg);
    site_turns(s, 2);
    gate_open(redd_worker_state(f->w, "gate"), 0);
    while (results < 2)
        site_turns(s, 1);
    redd_op_on_completion(f->w, NULL, NULL);
}

static void no_task_escapes(void **state)
{
    fixture *f = *state;
    site s = {0};
    f->options.wrap_executor = wrap;
    f->options.wrap_user = &s.counting;
    site_open(&s, f);
    redd_listen_options o = REDD_LISTEN_OPTIONS_INIT;
    o.host = "127.0.0.1";
    assert_int_equal(redd_listener_bind(f->rt, &o, &s.listener), 0);
    site_serve(&s, s.listener);
    assert_int_equal(counted(&s.counting, "http.accept"), 1);
    talk_over_tcp(&s);
    assert_int_equal(counted(&s.counting, "http.connection"), 1);
    redd_stream *plain = connect_in_memory(&s);
    TALK(&s, plain, GET, "HTTP/1.1 200 OK");
    assert_int_equal(counted(&s.counting, "http.connection"), 2);
    redd_stream *socket = connect_in_memory(&s);
    TALK(&s, socket, HANDSHAKE, "HTTP/1.1 101 ");
    assert_int_equal(counted(&s.counting, "http.connection"), 3);
    assert_int_equal(counted(&s.counting, "websocket connection"), 1);
    TALK(&s, socket, MASKED_HI, "\x81\x02hi");
    call_ops(&s);
    assert_int_equal(counted(&s.counting, "op"), 2);
    assert_int_equal(counted(&s.counting, "blocking op"), 1);
    assert_int_equal(s.counting.total, 8); /* and there was no other */
    redd_stream_close(plain, false);
    redd_stream_close(socket, true);
    site_turns(&s, 5);
    fixture_detach(f, REDD_STOP_GRACEFUL);
    redd_listener_free(s.listener);
    assert_int_equal(s.counting.live, 0);
    assert_int_equal(s.opened, 1);
    assert_int_equal(s.closed, 1);
}

/* --- coming and going --- */

static void count_handle(uv_handle_t *handle, void *count)
{
    (void)handle;
    (*(unsigned *)count)++;
}

/** With a connection that the worker's end finds open: idle, upgraded, or with half a request. */
static void come_and_go(fixture *f, unsigned round)
{
    site s = {0};
    f->done = 0;
    site_open(&s, f);
    site_serve(&s, NULL);
    redd_stream *client = connect_in_memory(&s);
    if (round % 3 == 0)
        TALK(&s, client, GET, "HTTP/1.1 200 OK");
    else if (round % 3 == 1)
        TALK(&s, client, HANDSHAKE, "HTTP/1.1 101 ");
    redd_worker_detach(f->w, round % 2 ? REDD_STOP_GRACEFUL : REDD_STOP_FORCED, fixture_done, f);
    redd_stream_close(client, true); /* the server has not noticed when the stop comes */
    (void)uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(f->done, 1);
    assert_int_equal(s.opened, s.closed);
    f->w = NULL;
    redd_runtime_free(f->rt);
}

static void thousand_times(void **state)
{
    fixture *f = *state;
    f->options.clock = NULL; /* the timers' handles are in use */
    for (unsigned round = 0; round < 1000; round++) {
        come_and_go(f, round);
        unsigned handles = 0;
        uv_walk(&f->loop, count_handle, &handles);
        assert_int_equal(handles, 1); /* the fixture's own */
        assert_int_equal(uv_loop_alive(&f->loop), 0);
        assert_int_equal(fixture_memory(f).blocks, 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_task_escapes),
        TEST(thousand_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
