/* SPDX-License-Identifier: MIT */
#include "ext/http/coding/response.h"
#include "ext/http/connection.h"

#include <uv.h>

redd_http_request *redd__http_request_new(redd__http_connection *conn)
{
    redd__http_state *st = conn->server->state;
    redd_http_request *req = redd_pool_get(&st->requests);
    if (!req)
        return NULL;
    /* The head's inline memory and the fields are written before they are read. */
    memset(req, 0, offsetof(redd_http_request, inline_head));
    req->conn = conn;
    req->state = st;
    req->refs = 1;
    redd_metric_add(&st->meters->requests_in_flight, 1);
    return req;
}

redd_http_request *redd_http_request_ref(redd_http_request *req)
{
    req->refs++;
    return req;
}

void redd_http_request_unref(redd_http_request *req)
{
    if (!req)
        return;
    req->refs--;
    if (req->refs == 1 && req->conn && req->answer != REDD__HTTP_ANSWERED)
        redd__http_connection_wake(req->conn); /* perhaps nobody can answer any more */
    redd__http_request_settle(req);
}

void redd__http_request_settle(redd_http_request *req)
{
    if (req->refs > 0)
        return;
    if (req->own)
        redd_free(req->state->alloc, req->own, req->head_len);
    if (req->trailers.data)
        redd_buffer_release(&req->trailers);
    redd_pool_put(&req->state->requests, req);
}

/* What cannot be kept must not be looked at any more: its memory belongs to the next connection. */
static int forget_head(redd_http_request *req)
{
    req->head = req->inline_head;
    req->method_len = req->target_off = req->target_len = req->host_off = req->host_len = 0;
    req->head_len = req->n_fields = req->n_lines = 0;
    return UV_ENOMEM;
}

int redd__http_request_retain(redd_http_request *req)
{
    if (!req->head || req->own || req->head == req->inline_head)
        return 0;
    char *memory = req->inline_head;
    if (req->head_len > sizeof req->inline_head) {
        memory = redd_alloc(req->state->alloc, req->head_len);
        if (!memory)
            return forget_head(req);
        req->own = memory;
    }
    memcpy(memory, req->head, req->head_len);
    req->head = memory;
    return 0;
}

bool redd__http_request_expected(const redd_http_request *req)
{
    return req->refs > 1 || req->end_fn || (req->full && req->drain_fn) || req->read_fn;
}

void redd__http_request_end(redd_http_request *req, int status)
{
    redd_http_read_fn read_fn = req->read_fn;
    redd_http_end_fn end_fn = req->end_fn;
    bool seen = req->refs > 1 || end_fn || read_fn || req->conn->server->exchange_fn;
    if (seen)
        redd__http_origin_keep(req);
    redd__http_connection *c = req->conn;
    if (c->request == req)
        c->request = NULL;
    req->conn = NULL;
    req->read_fn = NULL;
    req->end_fn = NULL;
    req->ended_at = redd_timers_now(req->state->timers);
    redd__http_meters_end(req->state->meters, req->status, status, req->ended_at - req->began_at);
    if (c->server->exchange_fn)
        c->server->exchange_fn(req, status, c->server->exchange_user);
    if (read_fn)
        read_fn(req, status ? status : UV_ECANCELED, redd_slice_of(NULL, 0), true, req->read_user);
    for (redd__http_watch *w; (w = req->watches);) {
        req->watches = w->next;
        w->end(w, status);
    }
    if (end_fn)
        end_fn(req, status, req->end_user);
    if (req->body.data)
        redd_buffer_release(&req->body);
    if (req->encoder || req->decoding)
        redd__http_coding_end(req);
    if (req->refs > 1) /* somebody may have taken a reference only now */
        (void)redd__http_request_retain(req);
    redd_http_request_unref(req);
}

/* --- watches --- */

void redd__http_watch_add(redd_http_request *req, redd__http_watch *w)
{
    w->next = req->watches;
    req->watches = w;
}

void redd__http_watch_remove(redd_http_request *req, redd__http_watch *w)
{
    for (redd__http_watch **slot = &req->watches; *slot; slot = &(*slot)->next)
        if (*slot == w) {
            *slot = w->next;
            return;
        }
}

void redd__http_watch_hangup(redd_http_request *req)
{
    redd__http_watch *w = redd__http_hangup_watch(req);
    void (*hangup)(redd__http_watch *) = w->hangup;
    w->hangup = NULL;
    hangup(w);
}

void redd_http_on_drain(redd_http_request *req, redd_http_event_fn fn, void *user)
{
    req->drain_fn = fn;
    req->drain_user = user;
}

void redd_http_on_end(redd_http_request *req, redd_http_end_fn fn, void *user)
{
    req->end_fn = fn;
    req->end_user = user;
}

/* --- getters --- */

redd_slice redd_http_method(const redd_http_request *req)
{
    return redd_slice_of(req->head, req->method_len);
}

redd_slice redd_http_target(const redd_http_request *req)
{
    return redd_slice_of(req->head + req->target_off, req->target_len);
}

/* The target from the start of its path: an absolute one has scheme and authority before it. */
static redd_slice path_and_query(const redd_http_request *req)
{
    redd_slice t = redd_http_target(req);
    if (t.len == 0 || t.data[0] == '/' || t.data[0] == '*')
        return t;
    size_t start = req->host_off + req->host_len - req->target_off;
    return redd_slice_of(t.data + start, t.len - start);
}

redd_slice redd_http_path(const redd_http_request *req)
{
    static const redd_slice root = REDD_SLICE("/");
    redd_slice t = path_and_query(req);
    const char *mark = t.len ? memchr(t.data, '?', t.len) : NULL;
    if (mark)
        t.len = (size_t)(mark - t.data);
    return t.len ? t : root;
}

redd_slice redd_http_query(const redd_http_request *req)
{
    redd_slice t = path_and_query(req);
    const char *mark = t.len ? memchr(t.data, '?', t.len) : NULL;
    if (!mark)
        return redd_slice_of(t.data + t.len, 0);
    return redd_slice_of(mark + 1, t.len - (size_t)(mark + 1 - t.data));
}

unsigned redd_http_minor_version(const redd_http_request *req)
{
    return req->minor;
}

redd_slice redd_http_host(const redd_http_request *req)
{
    return redd_slice_of(req->head + req->host_off, req->host_len);
}

redd_slice redd_http_field_get(const redd_http_request *req, const char *name, size_t nth)
{
    redd_slice wanted = redd_slice_str(name);
    for (uint32_t i = 0; i < req->n_fields; i++)
        if (redd_slice_equal_nocase(redd__http_name(req, i), wanted) && nth-- == 0)
            return redd__http_value(req, i);
    return redd_slice_of(NULL, 0);
}

size_t redd_http_field_count(const redd_http_request *req)
{
    return req->n_fields;
}

redd_http_field redd_http_field_at(const redd_http_request *req, size_t i)
{
    return (redd_http_field){redd__http_name(req, i), redd__http_value(req, i)};
}

int64_t redd_http_body_length(const redd_http_request *req)
{
    return req->body_length;
}

void redd_http_peer(const redd_http_request *req, redd_address *out)
{
    *out = req->conn ? redd__http_source_of(req->conn)->peer : req->peer;
}

redd_worker *redd_http_worker(const redd_http_request *req)
{
    return req->state->worker;
}

void *redd_http_data(const redd_http_request *req)
{
    return req->data;
}

void redd_http_set_data(redd_http_request *req, void *data)
{
    req->data = data;
}

unsigned redd_http_status(const redd_http_request *req)
{
    return req->status;
}

uint64_t redd_http_bytes_sent(const redd_http_request *req)
{
    return req->sent;
}

uint64_t redd_http_bytes_received(const redd_http_request *req)
{
    return req->body_received;
}

uint64_t redd_http_duration_ms(const redd_http_request *req)
{
    uint64_t end = req->conn ? redd_timers_now(req->state->timers) : req->ended_at;
    return end - req->began_at;
}
