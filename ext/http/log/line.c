/* SPDX-License-Identifier: MIT */
#include "ext/http/log/line.h"

#include "ext/http/put.h"

#include <assert.h>

/* The most that a text becomes when it is written. Together with the frame they make up the longest
 * line. */
#define CLIENT_MAX     64U
#define METHOD_MAX     128U
#define TARGET_MAX     (8U << 10)
#define HOST_MAX       512U
#define REFERER_MAX    (4U << 10)
#define USER_AGENT_MAX (2U << 10)
#define ID_MAX         256U
#define FRAME_MAX      512U /* names, numbers and time */

static_assert(CLIENT_MAX + METHOD_MAX + TARGET_MAX + HOST_MAX + REFERER_MAX + USER_AGENT_MAX +
                      ID_MAX + FRAME_MAX <=
                  REDD__LOG_LINE_MAX,
              "the longest line");

#define ESCAPE_MAX 6 /* "\u00HH" */

static const char cut[] = "...";
#define CUT_LEN (sizeof cut - 1)

/* All in bytes and without an early exit, so that the compiler can take many at a time. */
static bool all_plain(redd_slice s)
{
    uint8_t bad = 0;
    for (size_t i = 0; i < s.len; i++) {
        uint8_t ch = (uint8_t)s.data[i], above = (uint8_t)(ch - 0x20);
        bad |= (uint8_t)((above > 0x7e - 0x20) | (ch == '"') | (ch == '\\'));
    }
    return bad == 0;
}

static char *put_byte(char *p, char c, redd_slice escape)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char ch = (unsigned char)c;
    if (all_plain(redd_slice_of(&c, 1))) {
        *p++ = c;
        return p;
    }
    p = redd__put_slice(p, escape);
    *p++ = hex[ch >> 4];
    *p++ = hex[ch & 15];
    return p;
}

/* Byte by byte, up to `max` bytes and never a part of an escape. */
static char *put_cut(char *p, redd_slice s, size_t max, redd_slice escape)
{
    const char *end = p + max;
    char *keep = p; /* the longest whole part that leaves room for the mark */
    size_t i = 0;
    for (; i < s.len && end - p >= ESCAPE_MAX; i++) {
        p = put_byte(p, s.data[i], escape);
        if ((size_t)(end - p) >= CUT_LEN)
            keep = p;
    }
    return i == s.len ? p : redd__put(keep, cut, CUT_LEN);
}

static char *put_text(char *p, redd_slice s, size_t max, redd_slice escape)
{
    if (s.len <= max && all_plain(s))
        return redd__put_slice(p, s);
    return put_cut(p, s, max, escape);
}

static size_t text_bound(redd_slice s, size_t max)
{
    return s.len < max / ESCAPE_MAX ? s.len * ESCAPE_MAX + CUT_LEN : max;
}

size_t redd__log_line_bound(const redd__log_entry *e)
{
    return FRAME_MAX + text_bound(e->client, CLIENT_MAX) + text_bound(e->method, METHOD_MAX) +
           text_bound(e->target, TARGET_MAX) + text_bound(e->host, HOST_MAX) +
           text_bound(e->referer, REFERER_MAX) + text_bound(e->user_agent, USER_AGENT_MAX) +
           text_bound(e->request_id, ID_MAX);
}

/* --- common and combined --- */

static char *put_dashed(char *p, redd_slice s, size_t max)
{
    static const redd_slice escape = REDD_SLICE("\\x");
    if (s.len > 0)
        return put_text(p, s, max, escape);
    *p++ = '-';
    return p;
}

static char *put_request(char *p, const redd__log_entry *e)
{
    p = put_dashed(p, e->method, METHOD_MAX);
    if (e->method.len == 0 && e->target.len == 0 && e->minor < 0)
        return p;
    *p++ = ' ';
    p = put_dashed(p, e->target, TARGET_MAX);
    if (e->minor < 0)
        return REDD__PUT(p, " -");
    p = REDD__PUT(p, " HTTP/1.");
    return redd__put_padded(p, (unsigned)e->minor, 1);
}

static char *put_common(char *p, const redd__log_entry *e, const redd__stamp *now)
{
    p = put_dashed(p, e->client, CLIENT_MAX);
    p = REDD__PUT(p, " - - [");
    p = redd__put(p, now->common, sizeof now->common);
    p = REDD__PUT(p, "] \"");
    p = put_request(p, e);
    p = REDD__PUT(p, "\" ");
    p = redd__put_padded(p, e->status, 3);
    *p++ = ' ';
    return redd__put_number(p, e->bytes_sent);
}

static char *put_combined(char *p, const redd__log_entry *e, const redd__stamp *now)
{
    p = put_common(p, e, now);
    p = REDD__PUT(p, " \"");
    p = put_dashed(p, e->referer, REFERER_MAX);
    p = REDD__PUT(p, "\" \"");
    p = put_dashed(p, e->user_agent, USER_AGENT_MAX);
    *p++ = '"';
    return p;
}

/* --- JSON --- */

/* Bytes above 0x7e become the characters of the same number: what was sent can be had back, and
 * is valid JSON whatever it was. */
static char *put_json(char *p, redd_slice s, size_t max)
{
    static const redd_slice escape = REDD_SLICE("\\u00");
    if (!s.data)
        return REDD__PUT(p, "null");
    *p++ = '"';
    p = put_text(p, s, max, escape);
    *p++ = '"';
    return p;
}

static char *put_json_line(char *p, const redd__log_entry *e, const redd__stamp *now)
{
    p = REDD__PUT(p, "{\"time\":\"");
    p = redd__put(p, now->rfc3339, sizeof now->rfc3339);
    p = REDD__PUT(p, "\",\"client\":");
    p = put_json(p, e->client, CLIENT_MAX);
    p = REDD__PUT(p, ",\"method\":");
    p = put_json(p, e->method, METHOD_MAX);
    p = REDD__PUT(p, ",\"target\":");
    p = put_json(p, e->target, TARGET_MAX);
    p = REDD__PUT(p, ",\"version\":");
    p = e->minor < 0 ? REDD__PUT(p, "null") : REDD__PUT(p, "\"1.0\"");
    if (e->minor > 0)
        p[-2] = (char)('0' + e->minor);
    p = REDD__PUT(p, ",\"status\":");
    p = redd__put_number(p, e->status);
    p = REDD__PUT(p, ",\"bytes_sent\":");
    p = redd__put_number(p, e->bytes_sent);
    p = REDD__PUT(p, ",\"bytes_received\":");
    p = redd__put_number(p, e->bytes_received);
    p = REDD__PUT(p, ",\"duration_ms\":");
    p = redd__put_number(p, e->duration_ms);
    p = REDD__PUT(p, ",\"host\":");
    p = put_json(p, e->host, HOST_MAX);
    p = REDD__PUT(p, ",\"referer\":");
    p = put_json(p, e->referer, REFERER_MAX);
    p = REDD__PUT(p, ",\"user_agent\":");
    p = put_json(p, e->user_agent, USER_AGENT_MAX);
    p = REDD__PUT(p, ",\"request_id\":");
    p = put_json(p, e->request_id, ID_MAX);
    p = REDD__PUT(p, ",\"outcome\":\"");
    p = redd__put_slice(p, e->outcome);
    return REDD__PUT(p, "\"}");
}

char *redd__log_line_put(char *p, redd_access_log_format format, const redd__log_entry *e,
                         const redd__stamp *now)
{
    switch (format) {
    case REDD_ACCESS_LOG_COMBINED:
        p = put_combined(p, e, now);
        break;
    case REDD_ACCESS_LOG_JSON:
        p = put_json_line(p, e, now);
        break;
    default:
        p = put_common(p, e, now);
        break;
    }
    *p++ = '\n';
    return p;
}
