/* SPDX-License-Identifier: MIT */
/** The values of the extensions' options. */
#ifndef REDD_WORKER_SETTINGS_H
#define REDD_WORKER_SETTINGS_H

#include "runtime/worker/message.h"
#include "runtime/worker/option.h"

typedef struct redd__setting {
    const redd_option *option;
    const redd_extension *owner;
    uint64_t value; /* of a TEXT: its length */
    char *text;     /* of a TEXT that was set; else NULL */
} redd__setting;

/** Caller's memory; zeroed but for `alloc`, it is empty. */
typedef struct redd__settings {
    const redd_allocator *alloc;
    redd__setting *items; /* [n] */
    size_t n;
} redd__settings;

void redd__settings_fini(redd__settings *s);
/** Adds the extension's options with their defaults. UV_ENOMEM. */
int redd__settings_declare(redd__settings *s, const redd_extension *extension);
/** NULL when there is none of that name. */
redd__setting *redd__settings_find(const redd__settings *s, const char *name);
/** REDD_EOPTION, REDD_EVALUE, UV_ENOMEM. */
int redd__settings_set(redd__settings *s, const char *name, const char *value, redd__message *m);

#endif
