/* SPDX-License-Identifier: MIT */
/** What `redd serve` puts in front of an app: its access log, metrics and health. */
#ifndef REDD_CLI_SERVE_FRONT_H
#define REDD_CLI_SERVE_FRONT_H

#include "runtime/cli/serve_options.h"

#include <redd/access_log.h>

/** Two paths, and where requests for others go. */
typedef struct redd__front_seat {
    redd_slice metrics, health; /* empty: none */
    redd_http_handler_fn handler;
    void *user;
} redd__front_seat;

typedef struct redd__front {
    redd_access_log *log;            /* NULL: none */
    redd_listener *metrics_listener; /* NULL: none */
    redd__front_seat own;            /* of that listener */
    redd__front_seat *seats;         /* [n_seats], one per worker */
    unsigned n_seats;
} redd__front;

/** Opens what the command line names. A negative error and the sentence; fini is due either way. */
int redd__front_open(redd__front *f, redd_runtime *rt, const redd__serve_options *o,
                     redd__sentence *why);
/** Before the runtime is freed, after its run. */
void redd__front_fini(redd__front *f);
/** What this worker answers by, behind the front: before it serves. */
void redd__front_set_handler(redd__front *f, redd_worker *w, redd_http_handler_fn handler,
                             void *user);
/** Serves the listener on this worker. UV_E*. */
int redd__front_serve(redd__front *f, redd_worker *w, redd_listener *listener);
/** Serves the listener of its own, if there is one, on this worker. UV_E*. */
int redd__front_serve_metrics(redd__front *f, redd_worker *w);

#endif
