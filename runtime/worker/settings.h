/* SPDX-License-Identifier: MIT */
/** The values of the extensions' options. */
#ifndef REDD_WORKER_SETTINGS_H
#define REDD_WORKER_SETTINGS_H

#include "runtime/worker/message.h"

#include <redd/extension.h>

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

/** Whether its unit is one, and its default within its range. */
bool redd__option_valid(const redd_option *o);
/** Text to value, range included; of a TEXT, to its length. REDD_EVALUE. */
int redd__option_parse(const redd_option *o, const char *text, uint64_t *out);
/** What redd__option_parse takes: "a size from 1k to 16m, such as 64k". */
void redd__option_expected(const redd_option *o, char *buf, size_t size);

#endif
