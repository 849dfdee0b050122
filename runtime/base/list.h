/* SPDX-License-Identifier: MIT */
/** Intrusive doubly linked list: a ring through a head. Header only. */
#ifndef REDD_BASE_LIST_H
#define REDD_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/** Head or link. A link in no list points at itself once it was initialised or removed. */
typedef struct redd__list {
    struct redd__list *next, *prev;
} redd__list;

/** The struct of `type` whose member `member` is `link`. */
#define REDD__LIST_ITEM(link, type, member) \
    ((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void redd__list_init(redd__list *l)
{
    l->next = l;
    l->prev = l;
}

/** For a head: no links. For a link: in no list. */
static inline bool redd__list_empty(const redd__list *l)
{
    return l->next == l;
}

/** `link` must be in no list. */
static inline void redd__list_append(redd__list *head, redd__list *link)
{
    link->next = head;
    link->prev = head->prev;
    head->prev->next = link;
    head->prev = link;
}

/** Harmless on a link that is in no list. */
static inline void redd__list_remove(redd__list *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    redd__list_init(link);
}

/** The first link, or NULL; stays in the list. */
static inline redd__list *redd__list_first(const redd__list *head)
{
    return head->next == head ? NULL : head->next;
}

/** Takes the first link out, or NULL. */
static inline redd__list *redd__list_pop(redd__list *head)
{
    redd__list *link = redd__list_first(head);
    if (link)
        redd__list_remove(link);
    return link;
}

/** Moves all links of `from` to the end of `to`. */
static inline void redd__list_splice(redd__list *to, redd__list *from)
{
    if (redd__list_empty(from))
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    redd__list_init(from);
}

#endif
