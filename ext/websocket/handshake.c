/* SPDX-License-Identifier: MIT */
#include "ext/websocket/handshake.h"
#include "ext/websocket/origin.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#define KEY_LEN 24 /* 16 bytes in base64 */
/* More subprotocols than this are refused: each is compared with all others. */
#define PROTOCOLS_MAX 64

static void refuse(redd__ws_handshake *h, unsigned status, const char *why)
{
    h->status = status;
    h->why = why;
}

static bool present(const redd_http_request *req, const char *name, size_t nth)
{
    return redd_http_field_get(req, name, nth).data != NULL;
}

/* --- key --- */

static bool base64_char(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
}

/* Exactly 16 bytes: 22 characters, of which the last carries 2 bits, and the padding. */
static bool key_valid(redd_slice key)
{
    static const redd_slice last = REDD_SLICE("AQgw");
    if (key.len != KEY_LEN)
        return false;
    for (size_t i = 0; i < KEY_LEN - 2; i++)
        if (!base64_char(key.data[i]))
            return false;
    return memchr(last.data, key.data[KEY_LEN - 3], last.len) && key.data[KEY_LEN - 2] == '=' &&
           key.data[KEY_LEN - 1] == '=';
}

static void make_accept(redd_slice key, char out[REDD__WS_ACCEPT_LEN + 1])
{
    static const redd_slice guid = REDD_SLICE("258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    unsigned char text[KEY_LEN + 36];
    unsigned char digest[SHA_DIGEST_LENGTH];
    memcpy(text, key.data, KEY_LEN);
    memcpy(text + KEY_LEN, guid.data, guid.len);
    (void)SHA1(text, sizeof text, digest);
    (void)EVP_EncodeBlock((unsigned char *)out, digest, sizeof digest);
}

static bool judge_key(const redd_http_request *req, redd__ws_handshake *h)
{
    redd_slice key = redd_http_field_get(req, "sec-websocket-key", 0);
    if (!key_valid(key) || present(req, "sec-websocket-key", 1)) {
        refuse(h, 400, "Sec-WebSocket-Key must be there once: 16 bytes in base64.\n");
        return false;
    }
    make_accept(key, h->accept);
    return true;
}

/* --- version --- */

/* "1*2DIGIT" without a leading zero, up to 255 (RFC 6455 4.1, 11.6). */
static bool version_number(redd_slice s, unsigned *number)
{
    *number = 0;
    if (s.len == 0 || s.len > 3 || (s.len > 1 && s.data[0] == '0'))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] < '0' || s.data[i] > '9')
            return false;
        *number = *number * 10 + (unsigned)(s.data[i] - '0');
    }
    return *number <= 255;
}

static bool judge_version(const redd_http_request *req, redd__ws_handshake *h)
{
    redd_slice field = redd_http_field_get(req, "sec-websocket-version", 0);
    unsigned number = 0;
    if (field.data && (!version_number(field, &number) || present(req, "sec-websocket-version", 1)))
        refuse(h, 400, "Sec-WebSocket-Version must be one number.\n");
    else if (number != 13)
        refuse(h, 426, "This server speaks version 13 of the WebSocket protocol.\n");
    return h->status == 101;
}

/* --- subprotocols --- */

static bool token_char(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(redd_slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!token_char((unsigned char)s.data[i]))
            return false;
    return s.len > 0;
}

typedef struct offers {
    redd_slice list[PROTOCOLS_MAX];
    size_t n;
} offers;

static bool add_offer(offers *o, redd_slice name)
{
    if (!is_token(name) || o->n == PROTOCOLS_MAX)
        return false;
    for (size_t i = 0; i < o->n; i++)
        if (redd_slice_equal(o->list[i], name))
            return false;
    o->list[o->n++] = name;
    return true;
}

/* One field line; unlike other lists this one may have no empty items (RFC 6455 4.3). */
static bool add_offers(offers *o, redd_slice line)
{
    while (line.len > 0) {
        const char *comma = memchr(line.data, ',', line.len);
        size_t n = comma ? (size_t)(comma - line.data) : line.len;
        if (!add_offer(o, redd_slice_trim(redd_slice_of(line.data, n))))
            return false;
        if (!comma)
            return true;
        line = redd_slice_of(comma + 1, line.len - n - 1);
    }
    return false; /* empty, or it ends in a comma */
}

static bool judge_protocols(const redd_http_request *req, const redd_ws_options *options,
                            redd__ws_handshake *h)
{
    offers offered;
    offered.n = 0;
    for (size_t i = 0; present(req, "sec-websocket-protocol", i); i++) {
        if (!add_offers(&offered, redd_http_field_get(req, "sec-websocket-protocol", i))) {
            refuse(h, 400, "Sec-WebSocket-Protocol must be a list of different tokens.\n");
            return false;
        }
    }
    for (const char *const *p = options->protocols; p && *p; p++) {
        for (size_t i = 0; i < offered.n; i++) {
            if (redd_slice_equal(offered.list[i], redd_slice_str(*p))) {
                h->protocol = redd_slice_str(*p);
                return true;
            }
        }
    }
    return true;
}

/* --- the whole --- */

static bool judge_origin(const redd_http_request *req, const redd_ws_options *options,
                         redd__ws_handshake *h)
{
    redd_slice origin = redd_http_field_get(req, "origin", 0);
    if (present(req, "origin", 1))
        refuse(h, 400, "There may be one Origin.\n");
    else if (origin.data && !redd__ws_origin_allowed(options, origin, redd_http_host(req)))
        refuse(h, 403, "This origin may not open a WebSocket here.\n");
    return h->status == 101;
}

static bool judge_request(const redd_http_request *req, redd__ws_handshake *h)
{
    static const redd_slice get = REDD_SLICE("GET");
    if (!redd_slice_equal(redd_http_method(req), get))
        refuse(h, 405, "A WebSocket is opened with GET.\n");
    else if (redd_http_minor_version(req) == 0)
        refuse(h, 400, "A WebSocket is opened with HTTP/1.1.\n");
    else if (redd_http_body_length(req) != 0)
        refuse(h, 400, "A WebSocket handshake has no body.\n");
    else if (!redd_http_wants_upgrade(req, "websocket"))
        refuse(h, 426, "This resource is a WebSocket: Upgrade and Connection must say so.\n");
    return h->status == 101;
}

void redd__ws_handshake_judge(const redd_http_request *req, const redd_ws_options *options,
                              redd__ws_handshake *out)
{
    memset(out, 0, sizeof *out);
    out->status = 101;
    if (redd_worker_stopping(redd_http_worker(req)))
        refuse(out, 503, "The server is going away.\n");
    else if (judge_request(req, out) && judge_version(req, out) && judge_key(req, out) &&
             judge_origin(req, options, out))
        (void)judge_protocols(req, options, out);
}
