/* SPDX-License-Identifier: MIT */
#include "runtime/cli/serve_listen.h"

#include "runtime/cli/activation.h"

#include <redd/error.h>

#include <stdio.h>
#include <stdlib.h>
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

static int open_tcp(redd_runtime *rt, const redd_listen_options *o, redd_listener **out,
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
                         redd__sentence *why)
{
    int passed = redd__activation_take();
    if (passed < 0)
        return redd__sentence_set(why, REDD_EVALUE, "LISTEN_FDS: expected a number of sockets");
    bool elsewhere = passed > 0 || o->unix_paths.n > 0;
    bool tcp = o->address_given || !elsewhere;
    int err = allocate(l, (size_t)passed + o->unix_paths.n + 1, why);
    if (!err && tcp) {
        err = open_tcp(rt, &o->listen, &l->at[l->n], why);
        l->n += !err;
    }
    for (size_t i = 0; !err && i < o->unix_paths.n; i++) {
        err = open_unix(rt, o, o->unix_paths.at[i], &l->at[l->n], why);
        l->n += !err;
    }
    for (int i = 0; !err && i < passed; i++) {
        err = adopt(rt, REDD__ACTIVATION_FIRST + i, &l->at[l->n], why);
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

int redd__listener_open_at(redd_runtime *rt, const char *flag, const char *address,
                           redd_listener **out, redd__sentence *why)
{
    char host[256];
    redd_listen_options o = REDD_LISTEN_OPTIONS_INIT;
    const char *colon = strrchr(address, ':');
    size_t n = colon ? (size_t)(colon - address) : 0;
    bool brackets = n > 2 && address[0] == '[' && address[n - 1] == ']';
    char *end = NULL;
    unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;
    if (n == 0 || n >= sizeof(host) || colon[1] < '0' || colon[1] > '9' || *end ||
        port > UINT16_MAX)
        return redd__sentence_set(why, REDD_EVALUE, "%s=%s: expected HOST:PORT", flag, address);
    memcpy(host, address + brackets, n - 2 * (size_t)brackets);
    host[n - 2 * (size_t)brackets] = '\0';
    o.host = host;
    o.port = (uint16_t)port;
    return open_tcp(rt, &o, out, why);
}
