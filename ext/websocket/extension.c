/* SPDX-License-Identifier: MIT */
#include "ext/websocket/connection.h"

#include <uv.h>

#define KEEP_SOCKETS 4096 /* free connections that a worker keeps for reuse */
#define KEEP_PONGS   64

static const redd_option options[] = {
    {"ws.max_message", "size of a message", REDD_UNIT_BYTES, 16 << 20, 1, UINT64_C(1) << 40},
    {"ws.max_fragments", "number of frames of one message", REDD_UNIT_COUNT, 16384, 1, UINT32_MAX},
    {"ws.max_queued", "output that may wait per connection before a message is refused",
     REDD_UNIT_BYTES, 16 << 20, 1 << 10, UINT64_C(1) << 40},
    {"ws.idle_timeout", "silence after which a connection is closed; half of it brings a ping",
     REDD_UNIT_MILLIS, 120000, 0, 86400000},
    {"ws.message_timeout",
     "time from a message's first byte to its last; each byte that comes brings a millisecond more",
     REDD_UNIT_MILLIS, 120000, 0, 86400000},
    {"ws.close_timeout", "time from our Close to the end of the connection", REDD_UNIT_MILLIS, 5000,
     1, 86400000},
};

static const redd_metric metrics[] = {
    {.name = "redd_websocket_connections", .help = "Connections that became WebSockets."},
    {.name = "redd_websocket_open",
     .help = "WebSockets that have not ended.",
     .kind = REDD_METRIC_GAUGE},
};

static const redd_dependency deps[] = {{"http", NULL}};

redd__ws_state *redd__ws_state_of(const redd_worker *w)
{
    return redd_worker_state(w, redd_websocket_extension.name);
}

void redd_ws_options_init(const redd_worker *w, redd_ws_options *out)
{
    *out = redd__ws_state_of(w)->options;
}

size_t redd_ws_count(const redd_worker *w)
{
    return (size_t)redd_metric_value(&redd__ws_state_of(w)->meters->open);
}

static int worker_init(redd_worker *w, void *shared, void **state)
{
    (void)shared; /* there is none */
    const redd_allocator *a = redd_worker_allocator(w);
    const redd_runtime *rt = redd_worker_runtime(w);
    redd__ws_state *st = redd_alloc_zero(a, sizeof *st);
    if (!st)
        return UV_ENOMEM;
    st->worker = w;
    st->executor = redd_worker_executor(w);
    st->timers = redd_worker_timers(w);
    st->alloc = a;
    st->meters = (redd__ws_meters *)(void *)redd_worker_metric(w, metrics[0].name);
    st->read_buffer = redd_read_buffer(w, &st->read_size);
    st->options = (redd_ws_options){
        .struct_size = sizeof st->options,
        .max_message = redd_runtime_option(rt, "ws.max_message"),
        .max_fragments = redd_runtime_option(rt, "ws.max_fragments"),
        .max_queued = redd_runtime_option(rt, "ws.max_queued"),
        .idle_timeout_ms = redd_runtime_option(rt, "ws.idle_timeout"),
        .message_timeout_ms = redd_runtime_option(rt, "ws.message_timeout"),
        .close_timeout_ms = redd_runtime_option(rt, "ws.close_timeout"),
    };
    redd_pool_init(&st->sockets, a, sizeof(redd_ws), KEEP_SOCKETS);
    redd_pool_init(&st->pongs, a, sizeof(redd__ws_pong), KEEP_PONGS);
    redd__list_init(&st->open);
    redd__ws_spare_init(&st->spare, a);
    *state = st;
    return 0;
}

static void worker_stop(redd_worker *w, void *state, redd_stop_mode mode)
{
    static const redd_slice reason = REDD_SLICE("server shutting down");
    redd__ws_state *st = state;
    (void)w; /* known to the state */
    if (mode == REDD_STOP_FORCED)
        return; /* the executor drops the connections themselves */
    for (redd__list *l = st->open.next; l != &st->open; l = l->next) {
        redd_ws *ws = REDD__LIST_ITEM(l, redd_ws, link);
        if (!redd__ws_can_send(ws))
            continue;
        int err = redd__ws_begin_close(ws, REDD__WS_GOING_AWAY, reason, 0);
        if (err)
            redd__ws_lost(ws, err);
    }
}

static void worker_fini(redd_worker *w, void *state)
{
    redd__ws_state *st = state;
    (void)w; /* known to the state */
    redd__ws_lanes_free(st);
    redd__ws_spare_release(&st->spare);
    redd_pool_fini(&st->pongs);
    redd_pool_fini(&st->sockets);
    redd_free(st->alloc, st, sizeof *st);
}

const redd_extension redd_websocket_extension = {
    REDD_EXTENSION_HEAD,
    .name = "websocket",
    .version = REDD_VERSION,
    .deps = deps,
    .n_deps = sizeof deps / sizeof *deps,
    .ops = redd__ws_ops,
    .n_ops = REDD__WS_N_OPS,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .metrics = metrics,
    .n_metrics = sizeof metrics / sizeof *metrics,
    .worker_init = worker_init,
    .worker_stop = worker_stop,
    .worker_fini = worker_fini,
};
