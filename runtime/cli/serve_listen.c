/* SPDX-License-Identifier: MIT */
#include "runtime/cli/serve_listen.h"

#include "runtime/cli/activation.h"

#include <redd/error.h>

#include <stdio.h>
#include <string.h>

void redd__listener_text(const redd_listener *l, char *buf, size_t size)
{
    redd_address a;
    redd_listener_address(l, &a);
    if (a.local)
        (void)snprintf(buf, size, "unix:%s", redd_listener_path(l));
    else
        (void)snprintf(buf, size, a.ipv6 ? "http://[%s]:%u/" : "http://%s:%u/", a.host, a.port);
}

int redd__listener_open(redd_runtime *rt, const redd_listen_options *o, redd_listener **out,
                        redd__sentence *why)
{
    int err = redd_listener_bind(rt, o, out);
    if (!err)
        return 0;
    const char *host = o->host ? o->host : "0.0.0.0";
    return redd__sentence_set(
        why, err, strchr(host, ':') ? "cannot listen on [%s]:%u: %s" : "cannot listen on %s:%u: %s",
        host, o->port, redd_error_text(err));
}

static int open_unix(redd_runtime *rt, const redd__serve_options *o, const char *path,
                     redd_listener **out, redd__sentence *why)
{
    redd_listen_options options = REDD_LISTEN_OPTIONS_INIT;
    options.path = path;
    options.mode = o->unix_mode;
    int err = redd_listener_bind(rt, &options, out);
    if (!err)
        return 0;
    return redd__sentence_set(why, err, "cannot listen on unix:%s: %s", path, redd_error_text(err));
}

static int adopt(redd_runtime *rt, int fd, redd_listener **out, redd__sentence *why)
{
    int err = redd_listener_adopt(rt, fd, out);
    if (!err)
        return 0;
    return redd__sentence_set(why, err,
                              "LISTEN_FDS: descriptor %d is no listening stream socket: %s", fd,
                              redd_error_text(err));
}

static int allocate(redd__listeners *l, size_t n, redd__sentence *why)
{
    l->at = redd_alloc_zero(redd_allocator_default(), n * sizeof(redd_listener *));
    if (!l->at)
        return redd__sentence_set(why, REDD_ELIMIT, "out of memory");
    l->capacity = n;
    return 0;
}

int redd__listeners_open(redd__listeners *l, redd_runtime *rt, const redd__serve_options *o,
                         unsigned passed, redd__sentence *why)
{
    bool elsewhere = passed > 0 || o->unix_paths.n > 0;
    bool tcp = o->address_given || !elsewhere;
    int err = allocate(l, passed + o->unix_paths.n + 1, why);
    if (!err && tcp) {
        err = redd__listener_open(rt, &o->listen, &l->at[l->n], why);
        l->n += !err;
    }
    for (size_t i = 0; !err && i < o->unix_paths.n; i++) {
        err = open_unix(rt, o, o->unix_paths.at[i], &l->at[l->n], why);
        l->n += !err;
    }
    for (unsigned i = 0; !err && i < passed; i++) {
        err = adopt(rt, REDD__ACTIVATION_FIRST + (int)i, &l->at[l->n], why);
        l->n += !err;
    }
    return err;
}

void redd__listeners_fini(redd__listeners *l)
{
    for (size_t i = 0; i < l->n; i++)
        redd_listener_free(l->at[i]);
    redd_free(redd_allocator_default(), l->at, l->capacity * sizeof(redd_listener *));
    l->at = NULL;
    l->n = l->capacity = 0;
}
