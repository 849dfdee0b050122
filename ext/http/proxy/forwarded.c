/* SPDX-License-Identifier: MIT */
#include "ext/http/proxy/forwarded.h"

#include "ext/http/authority.h"
#include "ext/http/fields.h"

/* --- lists, from their end --- */

/* Cuts the last element off. From the end it cannot be misread, whatever the client has written
 * before it: a quote there that is never closed, for instance. */
static bool take_last(redd_slice *list, redd_slice *element)
{
    bool quoted = false;
    size_t i = list->len;
    if (i == 0)
        return false;
    for (; i > 0 && (quoted || list->data[i - 1] != ','); i--) {
        bool escaped = quoted && i > 1 && list->data[i - 2] == '\\';
        if (list->data[i - 1] == '"' && !escaped)
            quoted = !quoted;
    }
    *element = redd_slice_trim(redd_slice_of(list->data + i, list->len - i));
    list->len = i > 0 ? i - 1 : 0;
    return true;
}

/* All fields of a name are one list (RFC 9110 5.3). */
typedef struct cursor {
    const redd_http_request *req;
    redd_slice name;
    size_t field; /* those before it are still to come */
    redd_slice rest;
} cursor;

static cursor cursor_of(const redd_http_request *req, const char *name)
{
    return (cursor){req, redd_slice_str(name), redd_http_field_count(req), redd_slice_of(NULL, 0)};
}

static bool previous_field(cursor *c)
{
    while (c->field > 0) {
        redd_http_field f = redd_http_field_at(c->req, --c->field);
        c->rest = f.value;
        if (redd_slice_equal_nocase(f.name, c->name))
            return true;
    }
    return false;
}

/* The element before; empty ones are none. */
static bool previous(cursor *c, redd_slice *element)
{
    do {
        while (take_last(&c->rest, element))
            if (element->len > 0)
                return true;
    } while (previous_field(c));
    return false;
}

/* --- nodes (RFC 7239 6) --- */

typedef struct node {
    redd__ip ip;
    uint16_t port;
} node;

/* ":port" or nothing. A port that hides itself is none. */
static bool parse_port(redd_slice text, node *out)
{
    out->port = 0;
    if (text.len == 0)
        return true;
    redd_slice port = redd_slice_of(text.data + 1, text.len - 1);
    if (text.data[0] != ':' || port.len == 0)
        return false;
    return port.data[0] == '_' || redd__port_parse(port, &out->port);
}

/* "192.0.2.1", "192.0.2.1:80", "[2001:db8::1]" and "[2001:db8::1]:80". False for the malformed, and
 * for nodes that do not tell who they are. */
static bool parse_node(redd_slice text, node *out)
{
    if (text.len > 0 && text.data[0] == '[') {
        const char *end = memchr(text.data, ']', text.len);
        if (!end)
            return false;
        size_t len = (size_t)(end - text.data);
        return redd__ip_parse(redd_slice_of(text.data + 1, len - 1), &out->ip) &&
               memchr(text.data, ':', len) &&
               parse_port(redd_slice_of(end + 1, text.len - len - 1), out);
    }
    const char *colon = text.len ? memchr(text.data, ':', text.len) : NULL;
    size_t len = colon ? (size_t)(colon - text.data) : text.len;
    return redd__ip_parse(redd_slice_of(text.data, len), &out->ip) &&
           parse_port(redd_slice_of(text.data + len, text.len - len), out);
}

/* X-Forwarded-For has IPv6 addresses without brackets too. */
static bool parse_loose_node(redd_slice text, node *out)
{
    out->port = 0;
    return redd__ip_parse(text, &out->ip) || parse_node(text, out);
}

/* What is neither is not told. */
static void note_scheme(redd_slice text, redd__origin *o)
{
    static const redd_slice http = REDD_SLICE("http"), https = REDD_SLICE("https");
    if (redd_slice_equal_nocase(text, https))
        o->https = true;
    else if (redd_slice_equal_nocase(text, http))
        o->https = false;
}

static void note_host(redd_slice text, redd__origin *o)
{
    if (redd__http_is_authority(text))
        o->host = text;
}

/* --- Forwarded --- */

typedef struct element {
    redd_slice node, host, proto; /* data NULL: not there */
} element;

/* Length of the quoted string that `s` begins with, quotes included; 0: it has no end. */
static size_t quoted_length(redd_slice s)
{
    for (size_t i = 1; i < s.len; i++) {
        if (s.data[i] == '"')
            return i + 1;
        i += s.data[i] == '\\';
    }
    return 0;
}

/* A token or a quoted string. Escapes are kept: no address, host or scheme has a backslash. */
static bool take_value(redd_slice *rest, redd_slice *value)
{
    size_t n = 0;
    if (rest->len > 0 && rest->data[0] == '"') {
        n = quoted_length(*rest);
        if (n == 0)
            return false;
        *value = redd_slice_of(rest->data + 1, n - 2);
    } else {
        while (n < rest->len && rest->data[n] != ';')
            n++;
        *value = redd_slice_trim(redd_slice_of(rest->data, n));
        if (!redd__http_is_token(*value))
            return false;
    }
    *rest = redd_slice_trim(redd_slice_of(rest->data + n, rest->len - n));
    return true;
}

static redd_slice *slot_of(element *e, redd_slice name)
{
    static const redd_slice who = REDD_SLICE("for"), host = REDD_SLICE("host"),
                            proto = REDD_SLICE("proto");
    if (redd_slice_equal_nocase(name, who))
        return &e->node;
    if (redd_slice_equal_nocase(name, host))
        return &e->host;
    return redd_slice_equal_nocase(name, proto) ? &e->proto : NULL;
}

/* name "=" value, the name once in an element. */
static bool take_pair(redd_slice *rest, element *e)
{
    redd_slice value;
    const char *equals = memchr(rest->data, '=', rest->len);
    if (!equals)
        return false;
    redd_slice name = redd_slice_of(rest->data, (size_t)(equals - rest->data));
    *rest = redd_slice_of(equals + 1, rest->len - name.len - 1);
    if (!redd__http_is_token(name) || !take_value(rest, &value))
        return false;
    redd_slice *slot = slot_of(e, name);
    if (slot && slot->data)
        return false;
    if (slot)
        *slot = value;
    return rest->len == 0 || rest->data[0] == ';';
}

/* [ pair ] *( ";" [ pair ] ) (RFC 7239 4), with blanks around the semicolons. */
static bool parse_element(redd_slice text, element *e)
{
    *e = (element){.node = {NULL, 0}};
    while (text.len > 0) {
        if (text.data[0] == ';')
            text = redd_slice_trim(redd_slice_of(text.data + 1, text.len - 1));
        else if (!take_pair(&text, e))
            return false;
    }
    return true;
}
static void read_forwarded(const redd_http_request *req, const redd__networks *trusted,
                           redd__origin *o)
{
    redd_slice text;
    element e;
    node n;
    for (cursor c = cursor_of(req, "forwarded"); previous(&c, &text);) {
        if (!parse_element(text, &e))
            return;
        note_scheme(e.proto, o);
        note_host(e.host, o);
        if (!parse_node(e.node, &n))
            return;
        redd__ip_to_address(&n.ip, n.port, &o->client);
        if (!redd__networks_have(trusted, &n.ip))
            return;
    }
}

/* --- X-Forwarded --- */

/* Returns the number of addresses that were walked. */
static size_t read_x_for(const redd_http_request *req, const redd__networks *trusted,
                         redd__origin *o)
{
    redd_slice text;
    node n;
    size_t walked = 0;
    for (cursor c = cursor_of(req, "x-forwarded-for"); previous(&c, &text);) {
        if (!parse_loose_node(text, &n))
            break;
        walked++;
        redd__ip_to_address(&n.ip, n.port, &o->client);
        if (!redd__networks_have(trusted, &n.ip))
            break;
    }
    return walked;
}

/* The other two have one value, or one for each address: the client's is as far from the end as its
 * address. */
static redd_slice x_value(const redd_http_request *req, const char *name, size_t walked)
{
    redd_slice text, found = {NULL, 0};
    size_t wanted = walked > 0 ? walked : 1;
    for (cursor c = cursor_of(req, name); wanted > 0 && previous(&c, &text); wanted--)
        found = text;
    return found;
}

/* --- both --- */

static bool has(const redd_http_request *req, const char *name)
{
    return redd_http_field_get(req, name, 0).data != NULL;
}

void redd__forwarded_read(const redd_http_request *req, const redd__networks *trusted,
                          redd__origin *o)
{
    bool standard = has(req, "forwarded");
    bool x = has(req, "x-forwarded-for") || has(req, "x-forwarded-proto") ||
             has(req, "x-forwarded-host");
    if (standard && !x)
        read_forwarded(req, trusted, o);
    if (x && !standard) {
        size_t walked = read_x_for(req, trusted, o);
        note_scheme(x_value(req, "x-forwarded-proto", walked), o);
        note_host(x_value(req, "x-forwarded-host", walked), o);
    }
}
