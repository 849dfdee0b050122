/* SPDX-License-Identifier: MIT */
/** Where `redd serve` listens: at an address, at paths, on sockets that were passed. */
#ifndef REDD_CLI_SERVE_LISTEN_H
#define REDD_CLI_SERVE_LISTEN_H

#include "runtime/cli/serve_options.h"

typedef struct redd__listeners {
    redd_listener **at;
    size_t n, capacity;
} redd__listeners;

/** Opens all that the command line names, and what the service manager has passed. A negative error
 *  and the sentence; fini is due either way. */
int redd__listeners_open(redd__listeners *l, redd_runtime *rt, const redd__serve_options *o,
                         unsigned passed, redd__sentence *why);
void redd__listeners_fini(redd__listeners *l);
/** "http://127.0.0.1:8000/" or "unix:/run/app.socket". */
void redd__listener_text(const redd_listener *l, char *buf, size_t size);
/** Opens one at an address. A negative error and the sentence. */
int redd__listener_open(redd_runtime *rt, const redd_listen_options *o, redd_listener **out,
                        redd__sentence *why);

#endif
