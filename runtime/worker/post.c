/* SPDX-License-Identifier: MIT */
/** What any thread may ask of a worker. */
#include "runtime/worker/worker.h"

typedef struct post {
    redd__note note;
    redd_worker *worker;
    redd_post_fn fn;
    void *user;
} post;

/** The worker no longer has to wait for one post. */
static void settle(redd_worker *w)
{
    atomic_fetch_sub(&w->posts, 2);
    redd__runtime_rest(w->rt);
}

static void deliver(redd__note *note)
{
    post p = *(post *)note;
    redd_worker *w = p.worker;
    redd_free(w->alloc, note, sizeof(p));
    redd__worker_wake(w);
    if (!w->finishing) /* unless its start has failed */
        p.fn(w, p.user);
    settle(w);
    if (w->stopping)
        redd__worker_poke(w);
}

int redd_worker_post(redd_worker *w, redd_post_fn fn, void *user)
{
    post *p = redd_alloc(w->alloc, sizeof(*p));
    if (!p)
        return UV_ENOMEM;
    *p = (post){.note.deliver = deliver, .worker = w, .fn = fn, .user = user};
    atomic_fetch_add(&w->rt->busy, 1);
    bool open = (atomic_fetch_add(&w->posts, 2) & 1) == 0;
    /* The worker cannot go while a post is under way to it. */
    if (open && redd__inbox_post(redd__executor_inbox(w->inner), &p->note) == 0)
        return 0;
    settle(w);
    redd_free(w->alloc, p, sizeof(*p));
    return REDD_ECLOSED;
}
