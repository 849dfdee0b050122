/* SPDX-License-Identifier: MIT */
/* A chat: every path is a room of its own. Run it with
 *
 *     redd serve --parallel examples/chat.c
 *
 * and open the address that it prints in two windows; /kitchen is another room than /.
 *
 * The people in a room are spread over the workers, and a worker's sockets may only be touched on
 * its own thread. So each worker keeps a list of its own members, and who says something posts it
 * to every worker: the text is shared (counted bytes), only a small note is made for each.
 */
#include <redd/redd.h>

static const char page[] =
    "<!doctype html>\n"
    "<html lang='en'>\n"
    "<meta charset='utf-8'>\n"
    "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
    "<link rel='icon' href='data:,'>\n"
    "<title>redd chat</title>\n"
    "<style>\n"
    ":root { color-scheme: light dark; }\n"
    "body { margin: 0 auto; padding: 1rem; max-width: 40rem; height: 100vh;\n"
    "       box-sizing: border-box; display: flex; flex-direction: column; gap: .75rem;\n"
    "       font: 1rem/1.5 system-ui, sans-serif; }\n"
    "h1 { margin: 0; font-size: 1.25rem; }\n"
    "h1 small { font-weight: normal; opacity: .7; }\n"
    "#log { flex: 1; overflow-y: auto; margin: 0; padding: .75rem; list-style: none;\n"
    "       border: 1px solid #8886; border-radius: .5rem; overflow-wrap: anywhere; }\n"
    "form { display: flex; gap: .5rem; }\n"
    "label { display: flex; flex-direction: column; font-size: .8rem; }\n"
    "label:nth-child(2) { flex: 1; }\n"
    "input, button { font: inherit; font-size: 1rem; padding: .5rem; border-radius: .5rem;\n"
    "                border: 1px solid #8886; }\n"
    "#name { width: 8rem; }\n"
    "button { align-self: end; }\n"
    "</style>\n"
    "<h1>Chat <small id='status' role='status'>connecting ...</small></h1>\n"
    "<ul id='log' role='log' aria-label='Messages'></ul>\n"
    "<form id='form'>\n"
    "  <label>Name <input id='name' value='guest' required></label>\n"
    "  <label>Message <input id='text' autocomplete='off' autofocus required></label>\n"
    "  <button>Send</button>\n"
    "</form>\n"
    "<script>\n"
    "'use strict';\n"
    "const el = (id) => document.getElementById(id);\n"
    "let socket;\n"
    "function connect() {\n"
    "  socket = new WebSocket(location.href.replace(/^http/, 'ws').replace(/#.*/, ''));\n"
    "  socket.onopen = () => { el('status').textContent = 'in ' + location.pathname; };\n"
    "  socket.onmessage = (event) => {\n"
    "    const item = document.createElement('li');\n"
    "    item.textContent = event.data;\n"
    "    el('log').append(item);\n"
    "    el('log').scrollTop = el('log').scrollHeight;\n"
    "  };\n"
    "  socket.onclose = () => {\n"
    "    el('status').textContent = 'disconnected, trying again ...';\n"
    "    setTimeout(connect, 1000);\n"
    "  };\n"
    "}\n"
    "el('form').onsubmit = (event) => {\n"
    "  event.preventDefault();\n"
    "  if (socket.readyState !== WebSocket.OPEN) return;\n"
    "  socket.send(el('name').value + ': ' + el('text').value);\n"
    "  el('text').value = '';\n"
    "};\n"
    "connect();\n"
    "</script>\n"
    "</html>\n";

/* --- members: one list per worker, the worker's state --- */

typedef struct member member;

typedef struct hall {
    member *first;
} hall;

struct member {
    hall *hall;
    member *next, *prev;
    redd_ws *ws;
    redd_bytes *room; /* the path */
};

static void enter(member *m, hall *h)
{
    m->hall = h;
    m->next = h->first;
    if (h->first)
        h->first->prev = m;
    h->first = m;
}

static void leave(member *m)
{
    if (!m->hall)
        return; /* its socket ended before it opened */
    if (m->prev)
        m->prev->next = m->next;
    else
        m->hall->first = m->next;
    if (m->next)
        m->next->prev = m->prev;
}

/* Members enter when they open, so a hall is empty once its worker's sockets are closed. */
static int hall_new(redd_worker *w, void *shared, void **state)
{
    (void)shared;
    *state = redd_alloc_zero(redd_worker_allocator(w), sizeof(hall));
    return *state ? 0 : -ENOMEM;
}

static void hall_free(redd_worker *w, void *state)
{
    redd_free(redd_worker_allocator(w), state, sizeof(hall));
}

static hall *hall_of(const redd_worker *w)
{
    return redd_worker_state(w, "chat");
}

/* --- saying something: a note to every worker --- */

typedef struct note {
    redd_bytes *room, *text;
} note;

static void note_free(redd_worker *w, note *n)
{
    redd_bytes_unref(n->room);
    redd_bytes_unref(n->text);
    redd_free(redd_worker_allocator(w), n, sizeof(*n));
}

/* On the receiving worker. */
static void deliver(redd_worker *w, void *user)
{
    note *n = user;
    redd_slice room = redd_bytes_slice(n->room), text = redd_bytes_slice(n->text);
    for (member *m = hall_of(w)->first, *next; m; m = next) {
        next = m->next; /* a send may end in the member's leaving */
        if (!redd_slice_equal(redd_bytes_slice(m->room), room))
            continue;
        int err = redd_ws_send(m->ws, REDD_WS_TEXT, text);
        if (err < 0 && err != REDD_ECLOSED)
            redd_ws_close(m->ws, 1013, redd_slice_str("reads too slowly"));
    }
    note_free(w, n);
}

/* On the worker of the member who said it: takes no lock, since posts are queued for each worker.
 */
static void say(redd_worker *w, redd_bytes *room, redd_bytes *text)
{
    redd_runtime *rt = redd_worker_runtime(w);
    for (unsigned i = 0; i < redd_runtime_workers(rt); i++) {
        note *n = redd_alloc(redd_worker_allocator(w), sizeof(*n));
        if (!n)
            return;
        n->room = redd_bytes_ref(room);
        n->text = redd_bytes_ref(text);
        redd_worker *to = redd_runtime_worker(rt, i);
        if (!to || redd_worker_post(to, deliver, n) != 0)
            note_free(w, n); /* that worker has ended */
    }
}

/* --- WebSocket events --- */

static void on_open(redd_ws *ws, void *user)
{
    member *m = user;
    m->ws = ws;
    enter(m, hall_of(redd_ws_worker(ws)));
}

static void on_message(redd_ws *ws, redd_ws_kind kind, redd_slice data, void *user)
{
    const member *m = user;
    redd_worker *w = redd_ws_worker(ws);
    redd_bytes *text;
    if (kind != REDD_WS_TEXT) {
        redd_ws_close(ws, 1003, redd_slice_str("text only"));
        return;
    }
    if (redd_bytes_copy(redd_worker_allocator(w), data, &text) != 0)
        return;
    say(w, m->room, text);
    redd_bytes_unref(text);
}

static void member_free(redd_worker *w, member *m)
{
    redd_bytes_unref(m->room);
    redd_free(redd_worker_allocator(w), m, sizeof(*m));
}

static void on_close(redd_ws *ws, const redd_ws_close_event *event, void *user)
{
    (void)event;
    leave(user);
    member_free(redd_ws_worker(ws), user);
}

static const redd_ws_handlers handlers = {
    .struct_size = sizeof(redd_ws_handlers),
    .open = on_open,
    .message = on_message,
    .close = on_close,
};

/* --- HTTP --- */

/* The member belongs to the socket up to its close event; a refused handshake leaves it with us. */
static void join(redd_http_request *req)
{
    redd_worker *w = redd_http_worker(req);
    member *m = redd_alloc_zero(redd_worker_allocator(w), sizeof(*m));
    if (!m) {
        redd_http_respond_text(req, 503, "Out of memory\n");
        return;
    }
    if (redd_bytes_copy(redd_worker_allocator(w), redd_http_path(req), &m->room) != 0 ||
        redd_ws_upgrade(req, NULL, &handlers, m) != 0)
        member_free(w, m);
}

static void serve(redd_http_request *req, void *user)
{
    (void)user;
    if (redd_ws_wants_upgrade(req))
        join(req);
    else
        redd_http_respond_typed(req, 200, "text/html; charset=utf-8", redd_slice_str(page));
}

REDD_APP(.name = "chat", .serve = serve, .worker_init = hall_new, .worker_fini = hall_free)
