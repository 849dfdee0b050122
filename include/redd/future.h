/* SPDX-License-Identifier: MIT */
/** Futures and wakers: work that is polled until it is ready. */
#ifndef REDD_FUTURE_H
#define REDD_FUTURE_H

#include <redd/value.h>

REDD_BEGIN_DECLS

typedef enum redd_poll { REDD_PENDING = 0, REDD_READY = 1 } redd_poll;

typedef struct redd_future redd_future;
typedef struct redd_waker redd_waker;
typedef struct redd_remote_waker redd_remote_waker;

typedef struct redd_future_vt {
    const char *name; /* for logs and task lists */
    /** Makes progress without blocking. PENDING: a reference to `waker` is kept (and any older one
     *  dropped) by whatever will wake it. READY: `*out` (undefined on entry) holds the result; the
     *  next call is drop. */
    redd_poll (*poll)(redd_future *f, redd_waker *waker, redd_value *out);
    /** Frees the future and cancels what it still had in work. Called exactly once by its owner:
     *  before the first poll, between polls or after READY, never inside its own poll. */
    void (*drop)(redd_future *f);
} redd_future_vt;

/** First member of every concrete future. */
struct redd_future {
    const redd_future_vt *vt;
};

static inline redd_poll redd_future_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    return f->vt->poll(f, waker, out);
}
static inline void redd_future_drop(redd_future *f)
{
    f->vt->drop(f);
}

typedef struct redd_waker_vt {
    void (*wake)(redd_waker *w);
    void (*ref)(redd_waker *w);
    void (*unref)(redd_waker *w);
    int (*remote)(redd_waker *w, redd_remote_waker **out);
} redd_waker_vt;

/** Made by executors: says that a task wants to be polled again. Counted, not atomically. */
struct redd_waker {
    const redd_waker_vt *vt;
};

/** Schedules the task; any number of wakes before the next poll are one. A finished task is left
 *  alone. Never polls inline. */
static inline void redd_waker_wake(redd_waker *w)
{
    w->vt->wake(w);
}
static inline redd_waker *redd_waker_ref(redd_waker *w)
{
    w->vt->ref(w);
    return w;
}
static inline void redd_waker_unref(redd_waker *w)
{
    if (w)
        w->vt->unref(w);
}

/** Replaces the reference in `*slot` (may be NULL) by one to `w`; what a future does with its waker
 *  on PENDING. */
static inline void redd_waker_keep(redd_waker **slot, redd_waker *w)
{
    if (*slot == w)
        return;
    if (w)
        (void)redd_waker_ref(w);
    redd_waker_unref(*slot);
    *slot = w;
}
/** Wakes and drops the reference in `*slot`, if there is one. */
static inline void redd_waker_fire(redd_waker **slot)
{
    redd_waker *w = *slot;
    *slot = NULL;
    if (w) {
        redd_waker_wake(w);
        redd_waker_unref(w);
    }
}

/** A handle through which other threads wake the task; it may outlive the task and the worker.
 *  UV_ENOMEM. The handle's reference is the caller's. */
static inline int redd_waker_remote(redd_waker *w, redd_remote_waker **out)
{
    return w->vt->remote(w, out);
}
/** Any thread. */
REDD_API void redd_remote_waker_wake(redd_remote_waker *r);
/** Any thread. */
REDD_API redd_remote_waker *redd_remote_waker_ref(redd_remote_waker *r);
/** Any thread; NULL is allowed. */
REDD_API void redd_remote_waker_unref(redd_remote_waker *r);

REDD_END_DECLS

#endif
