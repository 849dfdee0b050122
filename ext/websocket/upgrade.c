/* SPDX-License-Identifier: MIT */
/* From a request to a connection, or to the refusal. */
#include "ext/websocket/connection.h"
#include "ext/websocket/handshake.h"

#include <uv.h>

/* Sec-WebSocket-Accept, Sec-WebSocket-Protocol and the caller's. */
#define FIELDS_MAX 32
#define OWN_FIELDS 2

/* A refused upgrade closes the connection: what follows on it may be meant for a WebSocket. */
static int respond_refusal(redd_http_request *req, const redd__ws_handshake *h)
{
    redd_http_field fields[4] = {
        {REDD_SLICE("Connection"), REDD_SLICE("close")},
        {REDD_SLICE("Content-Type"), REDD_SLICE("text/plain; charset=utf-8")},
    };
    size_t n = 2;
    if (h->status == 405)
        fields[n++] = (redd_http_field){REDD_SLICE("Allow"), REDD_SLICE("GET")};
    if (h->status == 426) {
        fields[n++] = (redd_http_field){REDD_SLICE("Upgrade"), REDD_SLICE("websocket")};
        fields[n++] = (redd_http_field){REDD_SLICE("Sec-WebSocket-Version"), REDD_SLICE("13")};
    }
    int err = redd_http_respond(req, h->status, fields, n, redd_slice_str(h->why));
    return err ? err : REDD_WS_REFUSED;
}

/* A connection that is about to close is not handed over. A request that was answered already, or
 * whose peer has gone, gets no answer from this either: then the error stays what it was. */
static int respond_closing(redd_http_request *req, int err)
{
    static const redd__ws_handshake closing = {.status = 503, .why = "The server is going away.\n"};
    return respond_refusal(req, &closing) == REDD_WS_REFUSED ? REDD_WS_REFUSED : err;
}

/* Some fields of the 101 are ours alone. */
static bool fields_ok(const redd_ws_options *o)
{
    static const redd_slice prefix = REDD_SLICE("sec-websocket-");
    if (o->n_fields > FIELDS_MAX - OWN_FIELDS)
        return false;
    for (size_t i = 0; i < o->n_fields; i++) {
        redd_slice name = o->fields[i].name;
        if (name.len >= prefix.len &&
            redd_slice_equal_nocase(redd_slice_of(name.data, prefix.len), prefix))
            return false;
    }
    return true;
}

static int switch_protocol(redd_http_request *req, const redd_ws_options *o,
                           const redd__ws_handshake *h, redd_http_upgraded *up)
{
    redd_http_field fields[FIELDS_MAX] = {
        {REDD_SLICE("Sec-WebSocket-Accept"), redd_slice_of(h->accept, REDD__WS_ACCEPT_LEN)},
    };
    size_t n = 1;
    if (h->protocol.len)
        fields[n++] = (redd_http_field){REDD_SLICE("Sec-WebSocket-Protocol"), h->protocol};
    for (size_t i = 0; i < o->n_fields; i++)
        fields[n++] = o->fields[i];
    return redd_http_upgrade(req, "websocket", fields, n, up);
}

static int open_connection(redd__ws_state *st, redd_http_request *req, const redd_ws_options *o,
                           const redd__ws_handshake *h, redd_ws *ws)
{
    redd_http_upgraded up;
    int err = 0;
    if (h->protocol.len)
        err = redd_bytes_copy(st->alloc, h->protocol, &ws->protocol);
    if (!err)
        err = switch_protocol(req, o, h, &up);
    if (!err)
        return redd__ws_start(ws, &up);
    redd_ws_unref(ws);
    return err == REDD_ESTATE || err == REDD_ECLOSED ? respond_closing(req, err) : err;
}

int redd__ws_accept(redd_http_request *req, const redd_ws_options *options,
                    const redd_ws_handlers *handlers, void *user, redd_ws **out)
{
    redd__ws_state *st = redd__ws_state_of(redd_http_worker(req));
    const redd_ws_options *o = options ? options : &st->options;
    redd__ws_handshake h;
    /* There is one version of both so far. */
    if (o->struct_size != sizeof *o || !handlers || handlers->struct_size != sizeof *handlers ||
        !fields_ok(o))
        return UV_EINVAL;
    redd__ws_handshake_judge(req, o, &h);
    if (h.status != 101)
        return respond_refusal(req, &h);
    redd_ws *ws = redd__ws_new(st, o, handlers, user);
    if (!ws)
        return UV_ENOMEM;
    int err = open_connection(st, req, o, &h, ws);
    if (!err)
        *out = ws;
    return err;
}

int redd_ws_upgrade(redd_http_request *req, const redd_ws_options *options,
                    const redd_ws_handlers *handlers, void *user)
{
    redd_ws *ws;
    return redd__ws_accept(req, options, handlers, user, &ws);
}

bool redd_ws_wants_upgrade(const redd_http_request *req)
{
    static const redd_slice token = REDD_SLICE("websocket");
    for (size_t i = 0;; i++) {
        redd_slice field = redd_http_field_get(req, "upgrade", i);
        if (!field.data)
            return false;
        if (redd_slice_has_token(field, token))
            return true;
    }
}
