/* SPDX-License-Identifier: MIT */
/* libredd inside a program that has a libuv loop of its own. The program ticks once in a while;
 * redd answers HTTP on the same loop and thread, between the ticks. It ends at INT or TERM:
 *
 *     embed [PORT]
 *     curl http://127.0.0.1:8080/
 */
#include <redd/redd.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

typedef struct program {
    uv_loop_t loop;
    uv_timer_t ticker;
    uv_signal_t interrupt, terminate;
    uint64_t ticks, requests;

    redd_runtime *rt;
    redd_listener *listener;
    redd_worker *worker; /* NULL once it is detached */
} program;

/* --- what redd does for the program --- */

static void serve(redd_http_request *req, void *user)
{
    program *p = user;
    char text[64];
    p->requests++;
    (void)snprintf(text, sizeof(text), "%" PRIu64 " ticks so far\n", p->ticks);
    redd_http_respond_text(req, 200, text);
}

static int begin_service(program *p, uint16_t port)
{
    redd_http_server *server;
    redd_listen_options where = REDD_LISTEN_OPTIONS_INIT;
    where.host = "127.0.0.1";
    where.port = port;
    int err = redd_runtime_new(NULL, &p->rt);
    if (!err)
        err = redd_runtime_add(p->rt, &redd_net_extension);
    if (!err)
        err = redd_runtime_add(p->rt, &redd_http_extension);
    if (!err)
        err = redd_runtime_attach(p->rt, &p->loop, &p->worker);
    if (!err)
        err = redd_listener_bind(p->rt, &where, &p->listener);
    if (!err)
        err = redd_http_serve(p->worker, p->listener, NULL, serve, p, &server);
    if (!err) {
        redd_address address;
        redd_listener_address(p->listener, &address);
        (void)fprintf(stderr, "embed: Listening on http://%s:%u/\n", address.host, address.port);
    }
    return err;
}

/* Nothing of redd is left on the loop now. */
static void detached(void *user)
{
    program *p = user;
    p->worker = NULL;
    uv_close((uv_handle_t *)&p->ticker, NULL);
    uv_close((uv_handle_t *)&p->interrupt, NULL);
    uv_close((uv_handle_t *)&p->terminate, NULL);
}

/* --- the program itself --- */

static void tick(uv_timer_t *timer)
{
    program *p = timer->data;
    p->ticks++;
}

/* The first signal lets requests in hand finish, the second does not. */
static void stop(uv_signal_t *handle, int number)
{
    (void)number;
    program *p = handle->data;
    redd_stop_mode mode = redd_worker_stopping(p->worker) ? REDD_STOP_FORCED : REDD_STOP_GRACEFUL;
    redd_worker_detach(p->worker, mode, detached, p);
}

static void begin_program(program *p)
{
    (void)uv_loop_init(&p->loop);
    (void)uv_timer_init(&p->loop, &p->ticker);
    (void)uv_signal_init(&p->loop, &p->interrupt);
    (void)uv_signal_init(&p->loop, &p->terminate);
    p->ticker.data = p->interrupt.data = p->terminate.data = p;
    (void)uv_timer_start(&p->ticker, tick, 10, 10);
}

int main(int argc, char **argv)
{
    program p = {.rt = NULL};
    uint16_t port = argc > 1 ? (uint16_t)strtoul(argv[1], NULL, 10) : 8080;
    begin_program(&p);
    int err = begin_service(&p, port);
    if (err)
        (void)fprintf(stderr, "embed: %s %s\n", redd_error_text(err),
                      p.rt ? redd_runtime_message(p.rt) : "");
    if (!err) {
        (void)uv_signal_start(&p.interrupt, stop, SIGINT);
        (void)uv_signal_start(&p.terminate, stop, SIGTERM);
    } else if (p.worker) {
        redd_worker_detach(p.worker, REDD_STOP_FORCED, detached, &p);
    } else {
        detached(&p);
    }
    (void)uv_run(&p.loop, UV_RUN_DEFAULT);
    redd_listener_free(p.listener);
    redd_runtime_free(p.rt);
    (void)fprintf(stderr, "embed: %" PRIu64 " requests\n", p.requests);
    return uv_loop_close(&p.loop) == 0 && !err ? EXIT_SUCCESS : EXIT_FAILURE;
}
