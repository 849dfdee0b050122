/* SPDX-License-Identifier: MIT */
#include "runtime/base/list.h"

#include <redd/error.h>
#include <redd/task.h>

#include <uv.h>

/** One future of the set. It is the future that the executor gets, so that any executor will do; it
 *  lives until both the executor has dropped it and the set has no more use for it. */
typedef struct member {
    redd_future base;
    redd_future *inner;
    redd_join_set *set; /* NULL once the set has no use for it */
    redd_join *join;
    redd_value result; /* owned once `ended`, until taken */
    redd__list link;   /* in the set's running or ended */
    const redd_allocator *alloc;
    bool ended;
    bool dropped; /* the executor is done with it */
} member;

struct redd_join_set {
    redd_executor *ex;
    const redd_allocator *alloc;
    redd__list running, ended;
    size_t len;
    redd_waker *waker;
};

int redd_join_set_new(redd_executor *ex, const redd_allocator *a, redd_join_set **out)
{
    redd_join_set *s = redd_alloc(a, sizeof(*s));
    if (!s)
        return UV_ENOMEM;
    s->ex = ex;
    s->alloc = a;
    redd__list_init(&s->running);
    redd__list_init(&s->ended);
    s->len = 0;
    s->waker = NULL;
    *out = s;
    return 0;
}

/* --- members --- */

static void free_member(member *m)
{
    redd_free(m->alloc, m, sizeof(*m));
}

static void end_member(member *m, redd_value result)
{
    redd_join_set *s = m->set;
    m->ended = true;
    if (!s) {
        redd_value_drop(&result);
        return;
    }
    m->result = result;
    redd__list_remove(&m->link);
    redd__list_append(&s->ended, &m->link);
    redd_waker_fire(&s->waker);
}

static redd_poll member_poll(redd_future *f, redd_waker *waker, redd_value *out)
{
    member *m = (member *)f;
    if (redd_future_poll(m->inner, waker, out) == REDD_PENDING)
        return REDD_PENDING;
    redd_value result = *out;
    *out = redd_value_undefined();
    end_member(m, result);
    return REDD_READY;
}

static void member_drop(redd_future *f)
{
    member *m = (member *)f;
    redd_future_drop(m->inner);
    if (!m->ended)
        end_member(m, redd_value_error(UV_ECANCELED));
    m->dropped = true;
    if (!m->set)
        free_member(m);
}

static const redd_future_vt member_vt = {"join_set", member_poll, member_drop};

/** Takes it out of the set. */
static void release_member(member *m)
{
    redd__list_remove(&m->link);
    redd_join_detach(m->join);
    m->set = NULL;
    if (m->dropped)
        free_member(m);
}

/* --- the set --- */

int redd_join_set_spawn(redd_join_set *s, redd_future *f)
{
    member *m = redd_alloc_zero(s->alloc, sizeof(*m));
    if (!m)
        return UV_ENOMEM;
    m->base.vt = &member_vt;
    m->inner = f;
    m->set = s;
    m->alloc = s->alloc;
    redd__list_append(&s->running, &m->link);
    int rc = redd_spawn(s->ex, &m->base, &m->join);
    if (rc < 0) {
        redd__list_remove(&m->link);
        free_member(m);
        return rc;
    }
    s->len++;
    if (s->len == 1)
        redd_waker_fire(&s->waker); /* whoever found the set empty */
    return 0;
}

redd_poll redd_join_set_poll_next(redd_join_set *s, redd_waker *waker, redd_value *out)
{
    redd__list *link = redd__list_first(&s->ended);
    if (!link) {
        redd_waker_keep(&s->waker, waker);
        return REDD_PENDING;
    }
    member *m = REDD__LIST_ITEM(link, member, link);
    *out = m->result;
    s->len--;
    release_member(m);
    return REDD_READY;
}

size_t redd_join_set_len(const redd_join_set *s)
{
    return s->len;
}

void redd_join_set_abort_all(redd_join_set *s)
{
    /* Aborts are carried out later, so the list stays as it is meanwhile. */
    for (redd__list *link = s->running.next; link != &s->running; link = link->next)
        redd_join_abort(REDD__LIST_ITEM(link, member, link)->join);
}

void redd_join_set_free(redd_join_set *s)
{
    if (!s)
        return;
    redd_waker_keep(&s->waker, NULL);
    redd_join_set_abort_all(s);
    redd__list *link;
    while ((link = redd__list_first(&s->running)))
        release_member(REDD__LIST_ITEM(link, member, link));
    while ((link = redd__list_first(&s->ended))) {
        member *m = REDD__LIST_ITEM(link, member, link);
        redd_value_drop(&m->result);
        release_member(m);
    }
    redd_free(s->alloc, s, sizeof(*s));
}
