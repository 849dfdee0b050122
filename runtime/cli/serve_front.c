/* SPDX-License-Identifier: MIT */
#include "runtime/cli/serve_front.h"

#include "runtime/cli/serve_listen.h"
#include "runtime/cli/signals.h"

#include <redd/error.h>
#include <redd/http_metrics.h>

#include <uv.h>

static void reopen(void *user)
{
    redd_access_log *log = user;
    int err = redd_access_log_reopen(log);
    if (err)
        redd__say("redd serve", "the access log cannot be opened again, and goes on as it was: %s",
                  redd_error_text(err));
}

static int open_log(redd__front *f, redd_runtime *rt, const redd__serve_options *o,
                    redd__sentence *why)
{
    int err = redd_access_log_open(rt, o->access_log, o->access_log_format, &f->log);
    if (err)
        return redd__sentence_set(why, err, "--access-log=%s: %s", o->access_log,
                                  redd_error_text(err));
    redd__signals_on_reopen(reopen, f->log);
    return 0;
}

/* Metrics that have a listener of their own are nowhere else: it is there to keep them from those
 * who can reach the app. Health is for both. */
static int make_seats(redd__front *f, const redd__serve_options *o, unsigned n, redd__sentence *why)
{
    f->seats = redd_alloc_zero(redd_allocator_default(), n * sizeof(redd__front_seat));
    if (!f->seats)
        return redd__sentence_set(why, UV_ENOMEM, "out of memory");
    f->n_seats = n;
    for (unsigned i = 0; i < n; i++) {
        f->seats[i].metrics = redd_slice_str(*o->metrics_host ? NULL : o->metrics_path);
        f->seats[i].health = redd_slice_str(o->health_path);
    }
    return 0;
}

static void not_found(redd_http_request *req, void *user)
{
    (void)user;
    (void)redd_http_respond_text(req, 404, "Not Found\n");
}

static int open_own(redd__front *f, redd_runtime *rt, const redd__serve_options *o,
                    redd__sentence *why)
{
    redd_listen_options at = REDD_LISTEN_OPTIONS_INIT;
    at.host = o->metrics_host;
    at.port = o->metrics_port;
    f->own = (redd__front_seat){
        .metrics = redd_slice_str(redd__serve_metrics_path(o)),
        .health = redd_slice_str(redd__serve_health_path(o)),
        .handler = not_found,
    };
    return redd__listener_open(rt, &at, &f->metrics_listener, why);
}

int redd__front_open(redd__front *f, redd_runtime *rt, const redd__serve_options *o,
                     redd__sentence *why)
{
    int err = make_seats(f, o, redd_runtime_workers(rt), why);
    if (!err && o->access_log)
        err = open_log(f, rt, o, why);
    if (!err && *o->metrics_host)
        err = open_own(f, rt, o, why);
    return err;
}

void redd__front_fini(redd__front *f)
{
    redd__signals_on_reopen(NULL, NULL);
    redd_access_log_close(f->log);
    redd_listener_free(f->metrics_listener);
    redd_free(redd_allocator_default(), f->seats, f->n_seats * sizeof(redd__front_seat));
    *f = (redd__front){.n_seats = 0};
}

static bool is_at(redd_slice path, redd_slice place)
{
    return place.len > 0 && redd_slice_equal(path, place);
}

/* Only where there is a path to look at; else the app's handler is called by the server itself. */
static void handle(redd_http_request *req, void *user)
{
    const redd__front_seat *seat = user;
    redd_slice path = redd_http_path(req);
    if (is_at(path, seat->metrics))
        redd_http_metrics_handler(req, NULL);
    else if (is_at(path, seat->health))
        redd_http_health_handler(req, NULL);
    else
        seat->handler(req, seat->user);
}

void redd__front_set_handler(redd__front *f, redd_worker *w, redd_http_handler_fn handler,
                             void *user)
{
    redd__front_seat *seat = &f->seats[redd_worker_index(w)];
    seat->handler = handler;
    seat->user = user;
}

int redd__front_serve(redd__front *f, redd_worker *w, redd_listener *listener)
{
    redd_http_server *server;
    redd__front_seat *seat = &f->seats[redd_worker_index(w)];
    bool plain = seat->metrics.len == 0 && seat->health.len == 0;
    int err = plain ? redd_http_serve(w, listener, NULL, seat->handler, seat->user, &server)
                    : redd_http_serve(w, listener, NULL, handle, seat, &server);
    if (!err && f->log)
        err = redd_access_log_attach(f->log, server);
    return err;
}

int redd__front_serve_metrics(redd__front *f, redd_worker *w)
{
    redd_http_server *server;
    if (!f->metrics_listener)
        return 0;
    return redd_http_serve(w, f->metrics_listener, NULL, handle, &f->own, &server);
}
