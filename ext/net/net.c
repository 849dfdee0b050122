/* SPDX-License-Identifier: MIT */
#include "ext/net/net.h"
#include "ext/net/tcp.h"

#include <assert.h>

static const redd_metric metrics[] = {
    {.name = "redd_net_accepted", .help = "Connections accepted.", .by_worker = true},
    {.name = "redd_net_accept_failures",
     .help = "Tries to accept that failed for want of descriptors or memory."},
    {.name = "redd_net_received_bytes", .help = "Bytes read from sockets.", .unit = "bytes"},
    {.name = "redd_net_sent_bytes", .help = "Bytes written to sockets.", .unit = "bytes"},
};
enum { N_METRICS = sizeof(metrics) / sizeof(metrics[0]) };

static_assert(sizeof(redd__net_meters) == N_METRICS * sizeof(redd_metric_cell), "a cell each");

/** Free stream blocks that are kept for the next connections. */
enum { STREAMS_KEPT = 1024 };

static int worker_init(redd_worker *w, void *shared, void **state)
{
    (void)shared;
    const redd_allocator *alloc = redd_worker_allocator(w);
    redd__net *net = redd_alloc(alloc, sizeof(*net));
    if (!net)
        return UV_ENOMEM;
    int rc = redd__poller_init(&net->poller, redd_worker_loop(w));
    if (rc) {
        redd_free(alloc, net, sizeof(*net));
        return rc;
    }
    net->alloc = alloc;
    net->timers = redd_worker_timers(w);
    net->meters = (redd__net_meters *)(void *)redd_worker_metric(w, metrics[0].name);
    redd_pool_init(&net->streams, alloc, sizeof(redd__tcp), STREAMS_KEPT);
    redd__cork_init(&net->cork, alloc);
    *state = net;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    redd__net *net = handle->data;
    redd_free(net->alloc, net, sizeof(*net));
}

static void worker_fini(redd_worker *w, void *state)
{
    (void)w;
    redd__net *net = state;
    redd_pool_fini(&net->streams);
    redd__cork_fini(&net->cork);
    net->poller.handle.data = net;
    redd__poller_close(&net->poller, on_closed);
}

redd__net *redd__net_of(const redd_worker *w)
{
    redd__net *net = redd_worker_state(w, redd_net_extension.name);
    assert(net);
    return net;
}

char *redd_read_buffer(redd_worker *w, size_t *size)
{
    *size = REDD__READ_BUFFER_SIZE;
    return redd__net_of(w)->read_buffer;
}

const redd_extension redd_net_extension = {
    REDD_EXTENSION_HEAD,        .name = "net",          .version = REDD_VERSION,
    .metrics = metrics,         .n_metrics = N_METRICS, .worker_init = worker_init,
    .worker_fini = worker_fini,
};
