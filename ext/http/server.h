/* SPDX-License-Identifier: MIT */
/** A server: a handler, its options and its connections on one worker. */
#ifndef REDD_HTTP_SERVER_H
#define REDD_HTTP_SERVER_H

#include "ext/http/proxy/networks.h"
#include "ext/http/state.h"

struct redd_http_server {
    redd_future future; /* the accepting task, where there is a listener */
    redd__list link;    /* of state->servers */
    redd__http_state *state;
    redd_http_options options;
    redd_http_handler_fn handler;
    void *user;
    redd_acceptor *acceptor;
    redd_waker *waker;
    redd__list connections;
    size_t n_connections;
    uint32_t refs; /* the owner's, the accepting task's, one per connection */
    bool closing;
    bool owned;              /* not closed yet by its owner */
    bool logged;             /* where connections come from will be asked */
    redd__networks *trusted; /* of options.trusted */
    redd_http_exchange_fn exchange_fn;
    void *exchange_user;
    void (*end_fn)(void *user);
    void *end_user;
};

void redd__http_server_unref(redd_http_server *s);
/** A server of the worker that is not closing, or NULL. Closing one may close or free any other. */
redd_http_server *redd__http_server_open(redd__http_state *st);
/** Gives up the owner's reference of every server of the worker. */
void redd__http_servers_release(redd__http_state *st);

#endif
