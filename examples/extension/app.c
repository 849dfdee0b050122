/* SPDX-License-Identifier: MIT */
/* An app that calls the ops of an extension. It knows their names, and nothing else of it:
 *
 *     redd serve --ext examples/extension/greet.c examples/extension/app.c
 *
 *     curl http://127.0.0.1:8000/now?Ada       ends inside the call
 *     curl http://127.0.0.1:8000/later?Ada     is answered when the op completes
 */
#include <redd/redd.h>

/* A request whose op is still in work. */
typedef struct waiting {
    struct waiting *next;
    redd_op_call_id call;
    redd_http_request *req;
} waiting;

/* One per worker. Names are resolved once; ids are the same in every worker. */
typedef struct app {
    redd_op_id greet, greet_later;
    waiting *first;
} app;

static void answer(redd_http_request *req, const redd_value *result)
{
    if (result->kind == REDD_STRING)
        redd_http_respond_typed(req, 200, "text/plain; charset=utf-8",
                                redd_bytes_slice(result->as.bytes));
    else
        redd_http_respond_text(req, 500, redd_error_text(result->as.i32));
}

/* --- parked calls --- */

/* Takes the call out of the list; NULL when its request has ended before. */
static waiting *take(app *a, redd_op_call_id call)
{
    for (waiting **at = &a->first; *at; at = &(*at)->next) {
        waiting *found = *at;
        if (found->call == call) {
            *at = found->next;
            return found;
        }
    }
    return NULL;
}

static void release(redd_worker *w, waiting *entry)
{
    redd_http_request_unref(entry->req);
    redd_free(redd_worker_allocator(w), entry, sizeof(*entry));
}

/* All calls of this loop turn that have ended, in one batch. */
static void completed(redd_worker *w, const redd_op_call_id *calls, redd_value *values, size_t n,
                      void *user)
{
    for (size_t i = 0; i < n; i++) {
        waiting *entry = take(user, calls[i]);
        if (entry) {
            answer(entry->req, &values[i]);
            release(w, entry);
        }
        redd_value_drop(&values[i]);
    }
}

/* The client may go before the op has ended: then nobody wants its result any more. */
static void request_ended(redd_http_request *req, int status, void *user)
{
    (void)status;
    app *a = user;
    redd_worker *w = redd_http_worker(req);
    waiting *entry = a->first;
    while (entry && entry->req != req)
        entry = entry->next;
    if (!entry)
        return;
    (void)redd_op_cancel(w, entry->call);
    release(w, take(a, entry->call));
}

static void wait_for(app *a, redd_http_request *req, redd_op_call_id call)
{
    redd_worker *w = redd_http_worker(req);
    waiting *entry = redd_alloc(redd_worker_allocator(w), sizeof(*entry));
    if (!entry) {
        (void)redd_op_cancel(w, call);
        redd_http_respond_text(req, 503, "Out of memory\n");
        return;
    }
    *entry = (waiting){.next = a->first, .call = call, .req = redd_http_request_ref(req)};
    a->first = entry;
    redd_http_on_end(req, request_ended, a);
}

/* --- requests --- */

static void call(app *a, redd_http_request *req, redd_op_id op)
{
    redd_worker *w = redd_http_worker(req);
    redd_bytes *name;
    if (redd_bytes_copy(redd_worker_allocator(w), redd_http_query(req), &name) != 0) {
        redd_http_respond_text(req, 503, "Out of memory\n");
        return;
    }
    redd_value argument = redd_value_string(name), result = redd_value_undefined();
    redd_op_call_id id;
    int status = redd_op_call(w, op, &argument, 1, &result, &id);
    if (status == REDD_OP_PARKED) {
        wait_for(a, req, id);
    } else {
        if (status < 0)
            result = redd_value_error(status);
        answer(req, &result);
        redd_value_drop(&result);
    }
    redd_value_drop(&argument);
}

static void serve(redd_http_request *req, void *user)
{
    app *a = user;
    redd_slice path = redd_http_path(req);
    if (redd_slice_equal(path, redd_slice_str("/now")))
        call(a, req, a->greet);
    else if (redd_slice_equal(path, redd_slice_str("/later")))
        call(a, req, a->greet_later);
    else
        redd_http_respond_text(req, 404, "Try /now?NAME or /later?NAME\n");
}

/* --- life --- */

static int begin(redd_worker *w, void *shared, void **state)
{
    (void)shared;
    const redd_runtime *rt = redd_worker_runtime(w);
    app *a = redd_alloc_zero(redd_worker_allocator(w), sizeof(*a));
    if (!a)
        return -ENOMEM;
    a->greet = redd_op_find(rt, "op_greet");
    a->greet_later = redd_op_find(rt, "op_greet_later");
    if (!a->greet || !a->greet_later) {
        redd_log(redd_worker_logger(w), REDD_LOG_ERROR, "app.c needs --ext greet.c");
        redd_free(redd_worker_allocator(w), a, sizeof(*a));
        return REDD_EOP;
    }
    redd_op_on_completion(w, completed, a);
    *state = a;
    return 0;
}

static void end(redd_worker *w, void *state)
{
    redd_op_on_completion(w, NULL, NULL);
    redd_free(redd_worker_allocator(w), state, sizeof(app));
}

REDD_APP(.name = "greetings", .serve = serve, .worker_init = begin, .worker_fini = end)
