/* SPDX-License-Identifier: MIT */
/* An echo server, as a page, for WebSocket clients and for POST. Run it with
 *
 *     redd serve --parallel examples/echo.c
 *
 * and open the address that it prints. Every path takes WebSockets:
 *
 *     websocat ws://127.0.0.1:8000/
 *     curl --data hello http://127.0.0.1:8000/
 */
#include <redd/redd.h>

/* It measures a round trip from send() to the echo's message event. Echoes come in the order in
 * which they were sent, so a queue of starting times is all that is needed. */
static const char page[] =
    "<!doctype html>\n"
    "<html lang='en'>\n"
    "<meta charset='utf-8'>\n"
    "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
    "<link rel='icon' href='data:,'>\n"
    "<title>redd echo</title>\n"
    "<style>\n"
    ":root { color-scheme: light dark; --back: #f6f4f1; --card: #fff; --ink: #23211f;\n"
    "        --soft: #6b6560; --line: #ddd8d2; --accent: #b3391f; --good: #2c6e49; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  :root { --back: #1b1918; --card: #262321; --ink: #efeae4; --soft: #a59d95;\n"
    "          --line: #3b3633; --accent: #f08a6c; --good: #7cc79b; } }\n"
    "* { box-sizing: border-box; }\n"
    "body { margin: 0; padding: 2rem 1rem; background: var(--back); color: var(--ink);\n"
    "       font: 1rem/1.5 system-ui, sans-serif; }\n"
    "main { max-width: 40rem; margin: 0 auto; }\n"
    "h1 { margin: 0; font-size: 1.5rem; }\n"
    "p { margin: .25rem 0 1.25rem; color: var(--soft); }\n"
    "#status[data-open] { color: var(--good); }\n"
    "form { display: flex; gap: .5rem; margin-bottom: 1rem; }\n"
    "label { position: absolute; width: 1px; height: 1px; overflow: hidden;\n"
    "        clip-path: inset(50%); }\n"
    "input, button { font: inherit; padding: .6rem .8rem; border-radius: .5rem;\n"
    "                border: 1px solid var(--line); background: var(--card); color: inherit; }\n"
    "input { flex: 1; min-width: 0; }\n"
    "button { border-color: var(--accent); color: var(--accent); font-weight: 600;\n"
    "         cursor: pointer; }\n"
    "button:disabled { opacity: .5; cursor: default; }\n"
    ":focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }\n"
    "dl { display: flex; gap: 2rem; margin: 0 0 1rem; }\n"
    "dt { font-size: .8rem; color: var(--soft); }\n"
    "dd { margin: 0; font-size: 1.25rem; font-variant-numeric: tabular-nums; }\n"
    "ol { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }\n"
    "li { display: flex; justify-content: space-between; gap: 1rem; padding: .5rem 0;\n"
    "     border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }\n"
    "li time { color: var(--soft); white-space: nowrap; font-variant-numeric: tabular-nums; }\n"
    "</style>\n"
    "<main>\n"
    "<h1>redd echo</h1>\n"
    "<p id='status' role='status'>connecting ...</p>\n"
    "<form id='form'>\n"
    "  <label for='text'>Message</label>\n"
    "  <input id='text' placeholder='Say something' autocomplete='off' autofocus>\n"
    "  <button id='send' disabled>Send</button>\n"
    "</form>\n"
    "<dl>\n"
    "  <div><dt>last</dt><dd id='last'>-</dd></div>\n"
    "  <div><dt>median</dt><dd id='median'>-</dd></div>\n"
    "  <div><dt>echoes</dt><dd id='count'>0</dd></div>\n"
    "</dl>\n"
    "<ol id='log' role='log' aria-label='Echoes' reversed></ol>\n"
    "</main>\n"
    "<script>\n"
    "'use strict';\n"
    "const el = (id) => document.getElementById(id);\n"
    "const times = [];\n"
    "let socket, sent = [], wait = 500;\n"
    "\n"
    "function state(text, open) {\n"
    "  el('status').textContent = text;\n"
    "  el('status').toggleAttribute('data-open', open);\n"
    "  el('send').disabled = !open;\n"
    "}\n"
    "\n"
    "function show(text, ms) {\n"
    "  const item = document.createElement('li'), time = document.createElement('time');\n"
    "  item.append(text, time);\n"
    "  time.textContent = ms.toFixed(2) + ' ms';\n"
    "  el('log').prepend(item);\n"
    "  while (el('log').children.length > 100) el('log').lastChild.remove();\n"
    "  times.push(ms);\n"
    "  if (times.length > 1000) times.shift();\n"
    "  const sorted = times.slice().sort((a, b) => a - b);\n"
    "  el('last').textContent = ms.toFixed(2) + ' ms';\n"
    "  el('median').textContent = sorted[sorted.length >> 1].toFixed(2) + ' ms';\n"
    "  el('count').textContent = Number(el('count').textContent) + 1;\n"
    "}\n"
    "\n"
    "function connect() {\n"
    "  socket = new WebSocket(location.href.replace(/^http/, 'ws').replace(/#.*/, ''));\n"
    "  socket.onopen = () => {\n"
    "    sent = [];\n"
    "    wait = 500;\n"
    "    state('connected to ' + location.host, true);\n"
    "  };\n"
    "  socket.onmessage = (event) => show(event.data, performance.now() - sent.shift());\n"
    "  socket.onclose = (event) => {\n"
    "    state('disconnected (' + event.code + '), trying again ...', false);\n"
    "    setTimeout(connect, wait);\n"
    "    wait = Math.min(wait * 2, 8000);\n"
    "  };\n"
    "}\n"
    "\n"
    "el('form').onsubmit = (event) => {\n"
    "  event.preventDefault();\n"
    "  if (socket.readyState !== WebSocket.OPEN) return;\n"
    "  sent.push(performance.now());\n"
    "  socket.send(el('text').value);\n"
    "  el('text').value = '';\n"
    "  el('text').focus();\n"
    "};\n"
    "connect();\n"
    "</script>\n"
    "</html>\n";

/* --- WebSocket --- */

static void echo_message(redd_ws *ws, redd_ws_kind kind, redd_slice data, void *user)
{
    (void)user;
    int err = redd_ws_send(ws, kind, data);
    /* An echo that leaves messages out is none: who does not read is told so and closed. */
    if (err < 0 && err != REDD_ECLOSED)
        redd_ws_close(ws, 1013, redd_slice_str("reads too slowly"));
}

static const redd_ws_handlers echo_handlers = {
    .struct_size = sizeof(redd_ws_handlers),
    .message = echo_message,
};

/* --- HTTP --- */

static void echo_body(redd_http_request *req, int status, redd_slice body, bool last, void *user)
{
    (void)last, (void)user;
    if (status != 0)
        return; /* the client is gone, or the server has answered the fault */
    redd_slice type = redd_http_field_get(req, "Content-Type", 0);
    redd_http_field fields[] = {
        {REDD_SLICE("Content-Type"),
         type.len > 0 ? type : redd_slice_str("application/octet-stream")},
        {REDD_SLICE("X-Content-Type-Options"), REDD_SLICE("nosniff")},
    };
    redd_http_respond(req, 200, fields, 2, body);
}

static bool method_is(const redd_http_request *req, const char *method)
{
    return redd_slice_equal(redd_http_method(req), redd_slice_str(method));
}

static void serve(redd_http_request *req, void *user)
{
    bool at_root = redd_slice_equal(redd_http_path(req), redd_slice_str("/"));
    if (redd_ws_wants_upgrade(req))
        redd_ws_upgrade(req, NULL, &echo_handlers, user);
    else if (method_is(req, "POST"))
        redd_http_read_all(req, 0, echo_body, NULL);
    else if (at_root && (method_is(req, "GET") || method_is(req, "HEAD")))
        redd_http_respond_typed(req, 200, "text/html; charset=utf-8", redd_slice_str(page));
    else
        redd_http_respond_text(req, 404, "Not Found\n");
}

REDD_SERVE(serve)
