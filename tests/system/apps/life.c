/* SPDX-License-Identifier: MIT */
/* Tells on stderr when each function of its life runs; answers with its worker's number. */
#include <redd/redd.h>

#include <stdio.h>

static int shared_state;

static int init(redd_runtime *rt, void **shared)
{
    (void)rt;
    *shared = &shared_state;
    (void)fprintf(stderr, "life: init\n");
    return 0;
}

static int worker_init(redd_worker *w, void *shared, void **state)
{
    if (shared != &shared_state)
        return -EINVAL;
    unsigned *index = redd_alloc(redd_worker_allocator(w), sizeof(*index));
    if (!index)
        return -ENOMEM;
    *index = redd_worker_index(w);
    *state = index;
    (void)fprintf(stderr, "life: worker_init %u\n", *index);
    return 0;
}

static void worker_stop(redd_worker *w, void *state, redd_stop_mode mode)
{
    (void)w;
    const unsigned *index = state;
    (void)fprintf(stderr, "life: worker_stop %u %s\n", *index,
                  mode == REDD_STOP_GRACEFUL ? "graceful" : "forced");
}

static void worker_fini(redd_worker *w, void *state)
{
    unsigned *index = state;
    (void)fprintf(stderr, "life: worker_fini %u\n", *index);
    redd_free(redd_worker_allocator(w), index, sizeof(*index));
}

static void fini(redd_runtime *rt, void *shared)
{
    (void)rt;
    (void)fprintf(stderr, "life: fini %d\n", shared == &shared_state);
}

static void serve(redd_http_request *req, void *user)
{
    const unsigned *index = user;
    char text[16];
    (void)snprintf(text, sizeof(text), "%u", *index);
    redd_http_respond_text(req, 200, text);
}

REDD_APP(.name = "life", .serve = serve, .init = init, .worker_init = worker_init,
         .worker_stop = worker_stop, .worker_fini = worker_fini, .fini = fini)
