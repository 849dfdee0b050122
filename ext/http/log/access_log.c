/* SPDX-License-Identifier: MIT */
/* A log has a lane on each worker: lines gather there, and leave by one write. */
#include "ext/http/log/file.h"
#include "ext/http/log/lane.h"
#include "ext/http/log/line.h"
#include "ext/http/request.h"
#include "ext/http/server.h"

#include <assert.h>
#include <uv.h>

#define BUFFER_SIZE (64U << 10)
#define FLUSH_MS    1000 /* that a line waits at most */
#define QUIET_MS    1000 /* between two sentences on lines that are lost */
#define LAST_MS     1000 /* that the last lines of a worker wait for room */

static_assert(REDD__LOG_LINE_MAX < BUFFER_SIZE, "every line has room in an empty buffer");

struct redd_access_log {
    redd_runtime *rt;
    redd_access_log_format format;
    redd__log_file file;
    _Atomic uint64_t lost;
    _Atomic uint64_t quiet_until; /* on the workers' clock */
};

typedef struct lane {
    redd__list link; /* of state->log_lanes */
    redd_access_log *log;
    redd__http_state *state;
    redd_timer timer; /* runs while lines wait */
    redd__stamp stamp;
    bool torn; /* the file ends within a line */
    size_t len;
    char lines[BUFFER_SIZE];
} lane;

int redd_access_log_open(redd_runtime *rt, const char *path, redd_access_log_format format,
                         redd_access_log **out)
{
    const redd_allocator *a = redd_runtime_allocator(rt);
    redd_access_log *log = redd_alloc_zero(a, sizeof *log);
    if (!log)
        return UV_ENOMEM;
    log->rt = rt;
    log->format = format;
    int rc = redd__log_file_open(&log->file, a, path);
    if (rc)
        redd_free(a, log, sizeof *log);
    else
        *out = log;
    return rc;
}

void redd_access_log_close(redd_access_log *log)
{
    if (!log)
        return;
    redd__log_file_close(&log->file);
    redd_free(redd_runtime_allocator(log->rt), log, sizeof *log);
}

int redd_access_log_reopen(redd_access_log *log)
{
    return redd__log_file_reopen(&log->file);
}

uint64_t redd_access_log_lost(const redd_access_log *log)
{
    return atomic_load(&log->lost);
}

/* --- a lane --- */

/* One sentence a second for all workers; the first is said at once. */
static void lose(lane *l, uint64_t lines, int why)
{
    redd_access_log *log = l->log;
    atomic_fetch_add(&log->lost, lines);
    uint64_t now = redd_timers_now(l->state->timers), until = atomic_load(&log->quiet_until);
    if (now >= until && atomic_compare_exchange_strong(&log->quiet_until, &until, now + QUIET_MS))
        redd_log(redd_runtime_logger(log->rt), REDD_LOG_WARN,
                 "http: lines of the access log are lost: %s", redd_error_text(why));
}

static uint64_t count_lines(const char *data, size_t len)
{
    uint64_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += data[i] == '\n';
    return n;
}

static void drop_lines(lane *l, int why)
{
    lose(l, count_lines(l->lines, l->len), why);
    l->len = 0;
}

/* What has no room now is kept for the next time. */
static void flush(lane *l)
{
    int error;
    size_t written = redd__log_file_write(&l->log->file, l->lines, l->len, &error);
    if (written > 0) {
        l->torn = l->lines[written - 1] != '\n';
        l->len -= written;
        memmove(l->lines, l->lines + written, l->len);
    }
    if (error && error != UV_EAGAIN)
        drop_lines(l, error);
}

static void on_timer(redd_timer *t, void *user)
{
    lane *l = user;
    flush(l);
    if (l->len > 0)
        redd_timer_start(t, FLUSH_MS);
}

static void append(lane *l, const redd__log_entry *e)
{
    size_t bound = redd__log_line_bound(e) + 1;
    if (BUFFER_SIZE - l->len < bound)
        flush(l);
    if (BUFFER_SIZE - l->len < bound) {
        lose(l, 1, UV_EAGAIN);
        return;
    }
    redd__stamp_set(&l->stamp, redd_timers_unix_ms(l->state->timers));
    char *p = l->lines + l->len;
    if (l->torn && l->len == 0)
        *p++ = '\n'; /* the rest of that line is lost: this one stays whole */
    p = redd__log_line_put(p, l->log->format, e, &l->stamp);
    l->len = (size_t)(p - l->lines);
    if (!redd_timer_active(&l->timer))
        redd_timer_start(&l->timer, FLUSH_MS);
}

/* --- what it is told --- */

/* NULL for what is empty because it was not understood. */
static redd_slice understood(redd_slice s)
{
    return redd_slice_of(s.len > 0 ? s.data : NULL, s.len);
}

static redd_slice client_text(const redd_address *client)
{
    static const redd_slice local = REDD_SLICE("unix");
    return client->local ? local : understood(redd_slice_str(client->host));
}

/* Of a head that was refused, too: as it stands behind the target. */
static int minor_version(const redd_http_request *req)
{
    static const redd_slice http = REDD_SLICE(" HTTP/1.");
    uint32_t at = req->target_off + req->target_len;
    redd_slice s = redd__http_in_head(req, at, (uint32_t)http.len + 1);
    if (s.len == 0 || !redd_slice_equal(redd_slice_of(s.data, http.len), http))
        return -1;
    char digit = s.data[http.len];
    return digit == '0' || digit == '1' ? digit - '0' : -1;
}

static void note(redd_slice name, const char *wanted, redd_slice value, redd_slice *slot)
{
    if (!slot->data && redd_slice_equal_nocase(name, redd_slice_str(wanted)))
        *slot = value;
}

/* Both in one go, told apart by their length first. */
static void find_fields(const redd_http_request *req, redd__log_entry *e)
{
    for (size_t i = 0; i < req->n_fields; i++) {
        redd_slice name = redd__http_name(req, i);
        if (name.len == 7)
            note(name, "referer", redd__http_value(req, i), &e->referer);
        else if (name.len == 10)
            note(name, "user-agent", redd__http_value(req, i), &e->user_agent);
    }
}

static void on_exchange(redd_http_request *req, int status, void *user)
{
    lane *l = user;
    redd_address client;
    redd_http_client(req, &client);
    redd__log_entry e = {
        .client = client_text(&client),
        .method = understood(redd_http_method(req)),
        .target = understood(redd_http_target(req)),
        .minor = minor_version(req),
        .status = redd_http_status(req),
        .bytes_sent = redd_http_bytes_sent(req),
    };
    if (l->log->format != REDD_ACCESS_LOG_COMMON)
        find_fields(req, &e);
    if (l->log->format == REDD_ACCESS_LOG_JSON) {
        e.host = understood(redd_http_host(req));
        e.request_id = redd_http_id(req);
        e.bytes_received = redd_http_bytes_received(req);
        e.duration_ms = redd_http_duration_ms(req);
        e.outcome = redd_slice_str(redd__http_end_name(status));
    }
    append(l, &e);
}

static lane *lane_find(const redd__http_state *st, const redd_access_log *log)
{
    for (redd__list *i = st->log_lanes.next; i != &st->log_lanes; i = i->next) {
        lane *l = REDD__LIST_ITEM(i, lane, link);
        if (l->log == log)
            return l;
    }
    return NULL;
}

static lane *lane_new(redd__http_state *st, redd_access_log *log)
{
    lane *l = redd_alloc(st->alloc, sizeof *l);
    if (!l)
        return NULL;
    l->log = log;
    l->state = st;
    l->torn = false;
    l->len = 0;
    redd__stamp_init(&l->stamp);
    redd_timer_init(&l->timer, st->timers, on_timer, l);
    redd__list_append(&st->log_lanes, &l->link);
    return l;
}

int redd_access_log_attach(redd_access_log *log, redd_http_server *server)
{
    redd__http_state *st = server->state;
    lane *l = lane_find(st, log);
    if (!l && !(l = lane_new(st, log)))
        return UV_ENOMEM;
    server->logged = true;
    redd_http_server_on_exchange(server, on_exchange, l);
    return 0;
}

/* The last chance: a pipe gets a moment to make room. */
static void lane_free(lane *l)
{
    size_t before = SIZE_MAX;
    flush(l);
    while (l->len > 0 && l->len < before && redd__log_file_wait(&l->log->file, LAST_MS)) {
        before = l->len;
        flush(l);
    }
    if (l->len > 0)
        drop_lines(l, UV_EAGAIN);
    redd_timer_stop(&l->timer);
    redd__list_remove(&l->link);
    redd_free(l->state->alloc, l, sizeof *l);
}

void redd__log_lanes_release(redd__http_state *st)
{
    while (!redd__list_empty(&st->log_lanes))
        lane_free(REDD__LIST_ITEM(redd__list_first(&st->log_lanes), lane, link));
}
