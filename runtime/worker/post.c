/* SPDX-License-Identifier: MIT */
/** What any thread may ask of a worker. */
#include "runtime/worker/worker.h"

#include <assert.h>

typedef struct post {
    redd__note note;
    redd_worker *worker;
    redd_post_fn fn;
    void *user;
} post;

static void deliver(redd__note *note)
{
    post p = *(post *)note;
    redd_worker *w = p.worker;
    redd_free(w->alloc, note, sizeof(p));
    redd__worker_wake(w);
    p.fn(w, p.user);
    redd__runtime_rest(w->rt);
    atomic_fetch_sub(&w->posts, 2);
    if (w->stopping)
        redd__worker_poke(w);
}

static int new_post(const redd_allocator *a, redd_post_fn fn, void *user, post **out)
{
    post *p = redd_alloc(a, sizeof(*p));
    if (!p)
        return UV_ENOMEM;
    *p = (post){.note.deliver = deliver, .fn = fn, .user = user};
    *out = p;
    return 0;
}

/** Takes a place among the posts. From then on the worker cannot go before the post was
 *  delivered. A refusal leaves no trace, since the worker may be gone right after it. */
static int reserve(redd_worker *w)
{
    size_t posts = atomic_load(&w->posts);
    do {
        if (posts & 1)
            return REDD_ECLOSED;
        if (posts / 2 >= w->rt->options.max_posts)
            return UV_EBUSY;
    } while (!atomic_compare_exchange_weak(&w->posts, &posts, posts + 2));
    return 0;
}

/** After reserve. The worker may be gone when this returns. */
static void post_reserved(redd_worker *w, post *p)
{
    p->worker = w;
    atomic_fetch_add(&w->rt->busy, 1);
    int rc = redd__inbox_post(redd__executor_inbox(w->inner), &p->note);
    assert(rc == 0); /* it closes when the worker ends */
    (void)rc;
}

int redd_worker_post(redd_worker *w, redd_post_fn fn, void *user)
{
    post *p;
    const redd_allocator *alloc = w->alloc;
    int rc = new_post(alloc, fn, user, &p);
    if (rc < 0)
        return rc;
    rc = reserve(w);
    if (rc == 0)
        post_reserved(w, p);
    else
        redd_free(alloc, p, sizeof(*p));
    return rc;
}

int redd_runtime_post(redd_runtime *rt, unsigned worker, redd_post_fn fn, void *user)
{
    post *p;
    int rc = new_post(rt->alloc, fn, user, &p);
    if (rc < 0)
        return rc;
    (void)pthread_mutex_lock(&rt->lock); /* a worker leaves the table before it is freed */
    redd_worker *w = rt->workers && worker < rt->n_workers ? rt->workers[worker] : NULL;
    rc = w ? reserve(w) : REDD_ECLOSED;
    (void)pthread_mutex_unlock(&rt->lock);
    if (rc == 0)
        post_reserved(w, p);
    else
        redd_free(rt->alloc, p, sizeof(*p));
    return rc;
}
