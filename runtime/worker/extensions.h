/* SPDX-License-Identifier: MIT */
/** The set of extensions of a runtime. */
#ifndef REDD_WORKER_EXTENSIONS_H
#define REDD_WORKER_EXTENSIONS_H

#include "runtime/worker/message.h"

#include <redd/extension.h>

/** Caller's memory; zeroed but for `alloc`, it is empty. */
typedef struct redd__extensions {
    const redd_allocator *alloc;
    const redd_extension **items; /* [n] */
    void **shared;                /* [n], what each init stored; once sealed */
    size_t n, cap;
} redd__extensions;

void redd__extensions_fini(redd__extensions *e);
/** Room for one more. UV_ENOMEM. */
int redd__extensions_reserve(redd__extensions *e);
/** After reserve. */
void redd__extensions_append(redd__extensions *e, const redd_extension *extension);
/** Index, or `n` when there is none of that name. */
size_t redd__extensions_find(const redd__extensions *e, const char *name);

/** Whether this redd can use it at all: ABI, sizes, names, kinds. `label` names it as long as its
 *  own name cannot be trusted. REDD_EABI, UV_EINVAL. */
int redd__extension_check(const redd_extension *x, const char *label, redd__message *m);
/** Whether its name and its ops' names are free. REDD_EDUPLICATE. */
int redd__extensions_check_names(const redd__extensions *e, const redd_extension *x,
                                 redd__message *m);

/** Puts every extension behind those that it needs, else leaves the order of addition.
 *  REDD_EDEPENDENCY, REDD_ECYCLE. */
int redd__extensions_sort(redd__extensions *e, redd__message *m);

/** The extension of a shared object, which stays mapped whatever comes of it. UV_ENOENT; UV_EINVAL:
 * it is no shared object, or cannot be linked; REDD_ESYMBOL. */
int redd__module_open(const char *path, const redd_extension **out, redd__message *m);
/** The part of a path behind its last slash. */
const char *redd__module_label(const char *path);

#endif
