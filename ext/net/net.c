/* SPDX-License-Identifier: MIT */
#include "ext/net/net.h"
#include "ext/net/tcp.h"

#include <assert.h>

/** Free stream blocks that are kept for the next connections: some 200 KiB at most. */
enum { STREAMS_KEPT = 1024 };

static int worker_init(redd_worker *w, void *shared, void **state)
{
    (void)shared;
    const redd_allocator *alloc = redd_worker_allocator(w);
    redd__net *net = redd_alloc(alloc, sizeof(*net));
    if (!net)
        return UV_ENOMEM;
    net->alloc = alloc;
    net->loop = redd_worker_loop(w);
    net->timers = redd_worker_timers(w);
    net->refs = 1;
    redd_pool_init(&net->streams, alloc, sizeof(redd__tcp), STREAMS_KEPT);
    redd__cork_init(&net->cork, alloc);
    *state = net;
    return 0;
}

static void worker_fini(redd_worker *w, void *state)
{
    (void)w;
    redd__net_unref(state);
}

redd__net *redd__net_of(const redd_worker *w)
{
    redd__net *net = redd_worker_state(w, redd_net_extension.name);
    assert(net);
    return net;
}

redd__net *redd__net_ref(redd__net *net)
{
    net->refs++;
    return net;
}

void redd__net_unref(redd__net *net)
{
    if (--net->refs > 0)
        return;
    redd_pool_fini(&net->streams);
    redd__cork_fini(&net->cork);
    redd_free(net->alloc, net, sizeof(*net));
}

char *redd_read_buffer(redd_worker *w, size_t *size)
{
    *size = REDD__READ_BUFFER_SIZE;
    return redd__net_of(w)->read_buffer;
}

const redd_extension redd_net_extension = {
    REDD_EXTENSION_HEAD,        .name = "net", .version = REDD_VERSION, .worker_init = worker_init,
    .worker_fini = worker_fini,
};
