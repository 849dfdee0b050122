/* SPDX-License-Identifier: MIT */
/* Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
#include "ext/http/request.h"

#include <redd/http_events.h>

#include <uv.h>

#define HEARTBEAT_MS 15000
#define SMALL_EVENT  1024 /* bytes that are put together on the stack */

struct redd_http_events {
    redd__http_watch watch; /* first */
    redd_http_request *req;
    redd_http_events_options options;
    redd_timer heartbeat;
    uint64_t sent_at;
    bool drain_owed; /* somebody was told to wait */
};

static void on_end(redd__http_watch *w, int status)
{
    redd_http_events *e = (redd_http_events *)w;
    redd_http_request *req = e->req;
    redd_timer_stop(&e->heartbeat);
    if (e->options.on_end)
        e->options.on_end(e, status, e->options.user);
    redd_free(redd_worker_allocator(redd_http_worker(req)), e, sizeof *e);
    redd_http_request_unref(req);
}

/* A heartbeat that was refused is owed to nobody. */
static void on_drain(redd_http_request *req, void *user)
{
    redd_http_events *e = user;
    (void)req;
    if (!e->drain_owed)
        return;
    e->drain_owed = false;
    if (e->options.on_drain)
        e->options.on_drain(e, e->options.user);
}

/* --- silence --- */

static void beat(redd_http_events *e)
{
    e->sent_at = redd_timers_now(e->heartbeat.timers);
    redd_timer_start(&e->heartbeat, e->options.heartbeat_ms);
    /* While output waits the line is not silent, and a comment would only add to it. */
    if (!e->drain_owed)
        (void)redd_http_write(e->req, redd_slice_str(":\n\n")); /* may have ended it */
}

static void on_silence(redd_timer *t, void *user)
{
    redd_http_events *e = user;
    uint64_t silence = redd_timers_now(t->timers) - e->sent_at;
    if (silence >= e->options.heartbeat_ms)
        beat(e);
    else
        redd_timer_start(t, e->options.heartbeat_ms - silence);
}

/* A peer that has gone answers what is sent to it with a reset; one that has only ended its side
 * takes it for what it is. */
static void on_hangup(redd__http_watch *w)
{
    beat((redd_http_events *)w);
}

/* --- the start --- */

static redd_http_events *events_new(redd_http_request *req, const redd_http_events_options *options)
{
    redd_worker *w = redd_http_worker(req);
    redd_http_events *e = redd_alloc_zero(redd_worker_allocator(w), sizeof *e);
    if (!e)
        return NULL;
    e->watch.end = on_end;
    e->watch.hangup = on_hangup;
    e->req = req;
    e->options = *options;
    if (e->options.heartbeat_ms == 0)
        e->options.heartbeat_ms = HEARTBEAT_MS;
    redd_timer_init(&e->heartbeat, redd_worker_timers(w), on_silence, e);
    return e;
}

static int tell_retry(redd_http_request *req, uint64_t ms)
{
    char line[40];
    int n = snprintf(line, sizeof line, "retry: %llu\n\n", (unsigned long long)ms);
    int rc = ms > 0 ? redd_http_write(req, redd_slice_of(line, (size_t)n)) : 0;
    return rc < 0 ? rc : 0;
}

static int start(redd_http_request *req, uint64_t retry_ms)
{
    static const redd_http_field fields[] = {
        {REDD_SLICE("Content-Type"), REDD_SLICE("text/event-stream")},
        {REDD_SLICE("Cache-Control"), REDD_SLICE("no-store")},
    };
    int rc = redd_http_start(req, 200, fields, sizeof fields / sizeof *fields, -1);
    if (rc)
        return rc;
    rc = tell_retry(req, retry_ms);
    if (rc)
        (void)redd_http_finish(req); /* the client will come again */
    return rc;
}

int redd_http_events_start(redd_http_request *req, const redd_http_events_options *options,
                           redd_http_events **out)
{
    if (options->struct_size != sizeof *options)
        return UV_EINVAL;
    redd_http_events *e = events_new(req, options);
    if (!e)
        return UV_ENOMEM;
    int rc = start(req, options->retry_ms);
    if (rc) {
        redd_free(redd_worker_allocator(redd_http_worker(req)), e, sizeof *e);
        return rc;
    }
    (void)redd_http_request_ref(req);
    redd__http_watch_add(req, &e->watch);
    redd_http_on_drain(req, on_drain, e);
    e->sent_at = redd_timers_now(e->heartbeat.timers);
    redd_timer_start(&e->heartbeat, e->options.heartbeat_ms);
    *out = e;
    if (req->is_head) /* it has had all that it asked for */
        redd_http_events_close(e);
    return 0;
}

/* --- events --- */

static bool is_one_line(redd_slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.data[i] == '\r' || s.data[i] == '\n' || s.data[i] == '\0')
            return false;
    return true;
}

static size_t line_length(redd_slice s)
{
    size_t n = 0;
    while (n < s.len && s.data[n] != '\r' && s.data[n] != '\n')
        n++;
    return n;
}

static char *put_line(char *p, const char *name, redd_slice value)
{
    size_t n = strlen(name);
    memcpy(p, name, n);
    p += n;
    if (value.len > 0)
        memcpy(p, value.data, value.len);
    p += value.len;
    *p++ = '\n';
    return p;
}

/* A field for each line: what ends one in the middle would end the field too. */
static char *put_data(char *p, redd_slice data)
{
    for (;;) {
        size_t n = line_length(data);
        p = put_line(p, "data: ", redd_slice_of(data.data, n));
        if (n == data.len)
            return p;
        n += n + 1 < data.len && data.data[n] == '\r' && data.data[n + 1] == '\n' ? 2 : 1;
        data = redd_slice_of(data.data + n, data.len - n);
    }
}

static char *put_event(char *p, redd_slice type, redd_slice id, redd_slice data)
{
    if (type.len > 0)
        p = put_line(p, "event: ", type);
    if (id.len > 0)
        p = put_line(p, "id: ", id);
    p = put_data(p, data);
    *p++ = '\n';
    return p;
}

static size_t event_size(redd_slice type, redd_slice id, redd_slice data)
{
    size_t lines = 1;
    for (size_t i = 0; i < data.len; i++)
        lines += data.data[i] == '\r' || data.data[i] == '\n';
    size_t names = sizeof "event: \nid: \n\n" - 1 + lines * (sizeof "data: \n" - 1);
    return names + type.len + id.len + data.len;
}

int redd_http_events_send(redd_http_events *events, redd_slice type, redd_slice id, redd_slice data)
{
    char small[SMALL_EVENT], *piece = small;
    const redd_allocator *a = redd_worker_allocator(redd_http_worker(events->req));
    if (!is_one_line(type) || !is_one_line(id))
        return UV_EINVAL;
    size_t size = event_size(type, id, data);
    if (size > sizeof small && !(piece = redd_alloc(a, size)))
        return UV_ENOMEM;
    size_t len = (size_t)(put_event(piece, type, id, data) - piece);
    int rc = redd_http_write(events->req, redd_slice_of(piece, len));
    if (piece != small)
        redd_free(a, piece, size);
    if (rc < 0 && rc != REDD_ELIMIT)
        return rc; /* it may have ended with that */
    events->sent_at = redd_timers_now(events->heartbeat.timers);
    events->drain_owed |= rc != 0;
    return rc;
}

void redd_http_events_close(redd_http_events *events)
{
    redd_timer_stop(&events->heartbeat);
    events->watch.hangup = NULL;
    (void)redd_http_finish(events->req);
}

redd_http_request *redd_http_events_request(redd_http_events *events)
{
    return events->req;
}

redd_slice redd_http_last_event_id(const redd_http_request *req)
{
    return redd_http_field_get(req, "last-event-id", 0);
}
