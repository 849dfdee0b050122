/* SPDX-License-Identifier: MIT */
/* The ops: the C functions for guests, values only. */
#include "ext/websocket/guest.h"

#include <uv.h>

static redd_slice text_or_empty(const redd_value *v)
{
    return v->kind == REDD_STRING ? redd_bytes_slice(v->as.bytes) : redd_slice_of(NULL, 0);
}

/* Null when the handshake was refused; the refusal is answered then. */
static int op_upgrade(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                      redd_future **pending)
{
    redd_http_request *req;
    redd_rid rid = 0;
    (void)pending; /* ends at once */
    int err = redd_http_request_from_resource(w, argv[0].as.rid, &req);
    if (!err)
        err = redd__ws_guest_upgrade(state, req, text_or_empty(&argv[1]), &rid);
    if (err < 0)
        return err;
    *out = err == REDD_WS_REFUSED ? redd_value_null() : redd_value_resource(rid);
    return 0;
}

static int op_next_event(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                         redd_future **pending)
{
    redd__ws_guest *g;
    (void)state; /* known to the guest */
    int err = redd__ws_guest_get(w, argv[0].as.rid, &g);
    if (err)
        return err;
    if (g->waiting)
        return REDD_ESTATE;
    if (!redd__ws_guest_next(g, out))
        return redd__ws_guest_wait(g, pending);
    return out->kind == REDD_ERROR ? out->as.i32 : 0;
}

/* Moves the last event's payload out; null when there is none. Only that of a text event is known
 * to be UTF-8, and so fit to be a string. */
static int give_buffer(redd_worker *w, redd_rid rid, bool as_text, redd_value *out)
{
    redd__ws_guest *g;
    int err = redd__ws_guest_get(w, rid, &g);
    if (err)
        return err;
    if (g->buffer && as_text && !g->buffer_is_text)
        return UV_EINVAL;
    *out = !g->buffer ? redd_value_null()
           : as_text  ? redd_value_string(g->buffer)
                      : redd_value_bytes(g->buffer);
    g->buffer = NULL;
    return 0;
}

static int op_get_buffer(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                         redd_future **pending)
{
    (void)state;   /* known to the guest */
    (void)pending; /* ends at once */
    return give_buffer(w, argv[0].as.rid, false, out);
}

static int op_get_buffer_as_string(redd_worker *w, void *state, const redd_value *argv,
                                   redd_value *out, redd_future **pending)
{
    (void)state;   /* known to the guest */
    (void)pending; /* ends at once */
    return give_buffer(w, argv[0].as.rid, true, out);
}

/* After an error event what went wrong, after a close code the peer's reason. */
static int op_get_error(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                        redd_future **pending)
{
    redd__ws_guest *g;
    redd__ws_state *st = state;
    redd_bytes *text;
    (void)pending; /* ends at once */
    int err = redd__ws_guest_get(w, argv[0].as.rid, &g);
    if (err)
        return err;
    if (!g->error && g->reason) {
        *out = redd_value_string(redd_bytes_ref(g->reason));
        return 0;
    }
    err = redd_bytes_copy(st->alloc, redd_slice_str(g->error), &text);
    if (err)
        return err;
    g->error = NULL;
    *out = redd_value_string(text);
    return 0;
}

static int give_sent(int result, redd_value *out)
{
    if (result < 0)
        return result;
    *out = redd_value_bool(result == 0);
    return 0;
}

/* Sends give true, or false when the guest had better wait for op_ws_get_buffered_amount to fall.
 */
static int op_send_text(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                        redd_future **pending)
{
    redd__ws_guest *g;
    (void)state;   /* known to the guest */
    (void)pending; /* ends at once */
    int err = redd__ws_guest_get(w, argv[0].as.rid, &g);
    if (err)
        return err;
    return give_sent(redd_ws_send(g->ws, REDD_WS_TEXT, redd_bytes_slice(argv[1].as.bytes)), out);
}

static int op_send_binary(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                          redd_future **pending)
{
    redd__ws_guest *g;
    (void)state;   /* known to the guest */
    (void)pending; /* ends at once */
    int err = redd__ws_guest_get(w, argv[0].as.rid, &g);
    if (err)
        return err;
    return give_sent(redd_ws_send(g->ws, REDD_WS_BINARY, redd_bytes_slice(argv[1].as.bytes)), out);
}

static int op_send_ping(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                        redd_future **pending)
{
    redd__ws_guest *g;
    (void)state;   /* known to the guest */
    (void)pending; /* ends at once */
    int err = redd__ws_guest_get(w, argv[0].as.rid, &g);
    if (err)
        return err;
    return give_sent(redd_ws_ping(g->ws, redd_slice_of(NULL, 0)), out);
}

/* Without a code a Close without one. */
static int op_close(redd_worker *w, void *state, const redd_value *argv, redd_value *out,
                    redd_future **pending)
{
    redd__ws_guest *g;
    (void)state;   /* known to the guest */
    (void)out;     /* undefined */
    (void)pending; /* ends at once */
    int err = redd__ws_guest_get(w, argv[0].as.rid, &g);
    if (err)
        return err;
    uint32_t code = argv[1].kind == REDD_U32 ? argv[1].as.u32 : 0;
    if (code > UINT16_MAX)
        return UV_EINVAL;
    return redd_ws_close(g->ws, (uint16_t)code, text_or_empty(&argv[2]));
}

static int op_get_buffered_amount(redd_worker *w, void *state, const redd_value *argv,
                                  redd_value *out, redd_future **pending)
{
    redd__ws_guest *g;
    (void)state;   /* known to the guest */
    (void)pending; /* ends at once */
    int err = redd__ws_guest_get(w, argv[0].as.rid, &g);
    if (!err)
        *out = redd_value_f64((double)redd_ws_queued(g->ws));
    return err;
}

#define OP(op_name, op_flags, count, function, ...)                                              \
    {                                                                                            \
        .struct_size = sizeof(redd_op), .flags = (op_flags), .argc = (count), .name = (op_name), \
        .call = (function), .args = {                                                            \
            __VA_ARGS__                                                                          \
        }                                                                                        \
    }
#define ARG(arg_name, kind)           \
    {                                 \
        (arg_name), REDD_ACCEPT(kind) \
    }
#define OPTIONAL(arg_name, kind)                                                             \
    {                                                                                        \
        (arg_name), REDD_ACCEPT(kind) | REDD_ACCEPT(REDD_UNDEFINED) | REDD_ACCEPT(REDD_NULL) \
    }
#define SOCKET ARG("socket", REDD_RESOURCE)
#define FAST   (REDD_OP_SYNC | REDD_OP_FAST)

const redd_op redd__ws_ops[REDD__WS_N_OPS] = {
    OP("op_http_upgrade_websocket", REDD_OP_SYNC, 2, op_upgrade, ARG("request", REDD_RESOURCE),
       OPTIONAL("protocol", REDD_STRING)),
    OP("op_ws_next_event", REDD_OP_ASYNC, 1, op_next_event, SOCKET),
    OP("op_ws_get_buffer", FAST, 1, op_get_buffer, SOCKET),
    OP("op_ws_get_buffer_as_string", FAST, 1, op_get_buffer_as_string, SOCKET),
    OP("op_ws_get_error", FAST, 1, op_get_error, SOCKET),
    OP("op_ws_send_text", FAST, 2, op_send_text, SOCKET, ARG("text", REDD_STRING)),
    OP("op_ws_send_binary", FAST, 2, op_send_binary, SOCKET, ARG("bytes", REDD_BYTES)),
    OP("op_ws_send_ping", FAST, 1, op_send_ping, SOCKET),
    OP("op_ws_close", FAST, 3, op_close, SOCKET, OPTIONAL("code", REDD_U32),
       OPTIONAL("reason", REDD_STRING)),
    OP("op_ws_get_buffered_amount", FAST, 1, op_get_buffered_amount, SOCKET),
};
