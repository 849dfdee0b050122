/* SPDX-License-Identifier: MIT */
/* A host without a script engine: what a language runtime does with redd. It knows no extension's C
 * functions. It lists the ops, resolves the names that its "script" uses to ids once, and from then
 * on calls by id, with plain values. The script here serves one HTTP request and ends:
 *
 *     host [PORT]
 *     curl http://127.0.0.1:8080/hello
 */
#include <redd/redd.h>

#include <stdio.h>
#include <stdlib.h>

/* --- binding: names to ids, once --- */

enum { SERVE, SERVER_PORT, NEXT_REQUEST, METHOD, URL, SET_HEADER, RESPOND, CLOSE, N_OPS };

static const char *const names[N_OPS] = {
    [SERVE] = "op_http_serve",
    [SERVER_PORT] = "op_http_server_port",
    [NEXT_REQUEST] = "op_http_next_request",
    [METHOD] = "op_http_get_request_method",
    [URL] = "op_http_get_request_url",
    [SET_HEADER] = "op_http_set_response_header",
    [RESPOND] = "op_http_set_response_body_text",
    [CLOSE] = "op_close",
};

typedef struct host {
    redd_op_id ops[N_OPS];
    uint16_t port;
    redd_rid server;
    redd_op_call_id next; /* the parked call for the next request */
} host;

static void list_ops(const redd_runtime *rt)
{
    for (unsigned id = 1; id <= redd_op_count(rt); id++) {
        const char *extension;
        const redd_op *op = redd_op_info(rt, (redd_op_id)id, &extension);
        (void)printf("%3u %-12s %s/%u\n", id, extension, op->name, op->argc);
    }
    (void)fflush(stdout);
}

static int bind_ops(host *h, const redd_runtime *rt)
{
    for (size_t i = 0; i < N_OPS; i++) {
        h->ops[i] = redd_op_find(rt, names[i]);
        if (!h->ops[i]) {
            (void)fprintf(stderr, "host: no op is named %s\n", names[i]);
            return REDD_EOP;
        }
    }
    return 0;
}

/* --- calling --- */

/* A call that must end at once; drops its arguments. An engine would throw where this complains. */
static int call(redd_worker *w, const host *h, int op, redd_value *argv, size_t argc,
                redd_value *out)
{
    redd_op_call_id parked;
    int status = redd_op_call(w, h->ops[op], argv, argc, out, &parked);
    for (size_t i = 0; i < argc; i++)
        redd_value_drop(&argv[i]);
    if (status == REDD_OP_PARKED) {
        (void)redd_op_cancel(w, parked);
        status = REDD_ESTATE;
    }
    if (status < 0)
        (void)fprintf(stderr, "host: %s: %s\n", names[op], redd_error_text(status));
    return status;
}

/* A string of the host's as a value. NULL bytes never reach an op: it refuses the kind first. */
static redd_value string(redd_worker *w, const char *text)
{
    redd_bytes *bytes;
    int err = redd_bytes_copy(redd_worker_allocator(w), redd_slice_str(text), &bytes);
    return err ? redd_value_null() : redd_value_string(bytes);
}

/* --- the script --- */

static void print_value(const char *label, const redd_value *v)
{
    redd_slice text = redd_bytes_slice(v->as.bytes);
    (void)printf("%s: %.*s\n", label, (int)text.len, text.data);
    (void)fflush(stdout);
}

static void describe(redd_worker *w, const host *h, redd_rid request)
{
    redd_value argument = redd_value_resource(request), method, url;
    if (call(w, h, METHOD, &argument, 1, &method) == 0) {
        print_value("method", &method);
        redd_value_drop(&method);
    }
    argument = redd_value_resource(request);
    if (call(w, h, URL, &argument, 1, &url) == 0) {
        print_value("url", &url);
        redd_value_drop(&url);
    }
}

static void respond(redd_worker *w, const host *h, redd_rid request)
{
    redd_value ignored = redd_value_undefined();
    redd_value header[] = {redd_value_resource(request), string(w, "Content-Type"),
                           string(w, "text/plain")};
    redd_value body[] = {redd_value_resource(request), redd_value_u32(200),
                         string(w, "Hello from ops\n")};
    redd_value close[] = {redd_value_resource(request)};
    (void)call(w, h, SET_HEADER, header, 3, &ignored);
    (void)call(w, h, RESPOND, body, 3, &ignored);
    (void)call(w, h, CLOSE, close, 1, &ignored);
}

static void close_server(redd_worker *w, const host *h)
{
    redd_value server = redd_value_resource(h->server), ignored = redd_value_undefined();
    (void)call(w, h, CLOSE, &server, 1, &ignored);
}

/* An engine would resolve promises here; all that ended in this loop turn come in one batch. */
static void completed(redd_worker *w, const redd_op_call_id *calls, redd_value *values, size_t n,
                      void *user)
{
    host *h = user;
    for (size_t i = 0; i < n; i++) {
        if (calls[i] == h->next && values[i].kind == REDD_RESOURCE) {
            describe(w, h, values[i].as.rid);
            respond(w, h, values[i].as.rid);
            close_server(w, h); /* one request was enough: nothing is left to do, so the run ends */
        }
        redd_value_drop(&values[i]);
    }
}

static int serve(redd_worker *w, host *h)
{
    redd_value where[] = {string(w, "127.0.0.1"), redd_value_u32(h->port)};
    redd_value server, port;
    int err = call(w, h, SERVE, where, 2, &server);
    if (err)
        return err;
    h->server = server.as.rid;
    redd_value argument = server;
    err = call(w, h, SERVER_PORT, &argument, 1, &port);
    if (!err)
        (void)fprintf(stderr, "host: Listening on http://127.0.0.1:%u/\n", port.as.u32);
    return err;
}

/* Runs on the worker when every extension is there: an engine would load the user's program now. */
static int run_script(redd_worker *w, void *user)
{
    host *h = user;
    redd_value result = redd_value_undefined();
    redd_op_on_completion(w, completed, h);
    int err = bind_ops(h, redd_worker_runtime(w));
    if (!err)
        err = serve(w, h);
    if (err)
        return err;
    redd_value server = redd_value_resource(h->server);
    int status = redd_op_call(w, h->ops[NEXT_REQUEST], &server, 1, &result, &h->next);
    return status < 0 ? status : 0; /* parked: nobody has connected yet */
}

int main(int argc, char **argv)
{
    host h = {.port = argc > 1 ? (uint16_t)strtoul(argv[1], NULL, 10) : 8080};
    redd_runtime_options options = REDD_RUNTIME_OPTIONS_INIT;
    redd_runtime *rt = NULL;
    options.workers = 1;
    int err = redd_runtime_new(&options, &rt);
    if (!err)
        err = redd_runtime_add(rt, &redd_net_extension);
    if (!err)
        err = redd_runtime_add(rt, &redd_http_extension);
    if (!err)
        err = redd_runtime_seal(rt);
    if (!err) {
        list_ops(rt);
        err = redd_runtime_run(rt, run_script, NULL, &h);
    }
    if (err)
        (void)fprintf(stderr, "host: %s\n", rt ? redd_runtime_message(rt) : redd_error_text(err));
    redd_runtime_free(rt);
    return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
