/* SPDX-License-Identifier: MIT */
/* Routes, forms that are told back line by line, and events that count. */
#include <redd/redd.h>

#include <stdio.h>

/* --- GET / for browsers, /users/:id, /files/ and a rest --- */

static void give_page(redd_http_request *req, void *user)
{
    redd_http_respond_typed(req, 200, "text/html; charset=utf-8", redd_slice_str(user));
}

static void tell_route(redd_http_request *req, void *user)
{
    char text[512];
    redd_slice value = redd_http_param(req, user);
    (void)snprintf(text, sizeof(text), "%s %.*s\n", redd_http_route_pattern(req), (int)value.len,
                   value.data);
    redd_http_respond_text(req, 200, text);
}

/* --- POST /form: "name|filename|type|bytes|adler32" for each part, names in hexadecimal --- */

typedef struct report {
    redd_buffer text;
    uint32_t a, b; /* of Adler-32 (RFC 1950 8.2) */
    unsigned long long bytes;
} report;

static void append(report *r, const char *text)
{
    (void)redd_buffer_append(&r->text, text, strlen(text));
}

static void append_hex(report *r, redd_slice s)
{
    char digits[3];
    for (size_t i = 0; i < s.len; i++) {
        (void)snprintf(digits, sizeof(digits), "%02x", (unsigned char)s.data[i]);
        append(r, digits);
    }
}

static bool on_part(redd_http_form *form, const redd_http_part *part, void *user)
{
    report *r = user;
    (void)form;
    append_hex(r, part->name);
    append(r, "|");
    if (part->filename.data)
        append_hex(r, part->filename);
    else
        append(r, "-");
    append(r, "|");
    (void)redd_buffer_append(&r->text, part->type.data, part->type.len);
    r->a = 1;
    r->b = 0;
    r->bytes = 0;
    return true;
}

static bool on_data(redd_http_form *form, redd_slice data, bool last, void *user)
{
    report *r = user;
    char line[64];
    (void)form;
    for (size_t i = 0; i < data.len; i++) {
        r->a = (r->a + (unsigned char)data.data[i]) % 65521;
        r->b = (r->b + r->a) % 65521;
    }
    r->bytes += data.len;
    if (last) {
        (void)snprintf(line, sizeof(line), "|%llu|%08x\n", r->bytes, (unsigned)(r->b << 16 | r->a));
        append(r, line);
    }
    return true;
}

static void on_end(redd_http_form *form, int status, void *user)
{
    report *r = user;
    redd_http_request *req = redd_http_form_request(form);
    if (status)
        redd_http_respond_text(req, 400, redd_error_name(status));
    else
        redd_http_respond_typed(req, 200, "text/plain", redd_buffer_slice(&r->text));
    redd_buffer_release(&r->text);
    redd_free(redd_worker_allocator(redd_http_worker(req)), r, sizeof(*r));
}

static void read_form(redd_http_request *req, void *user)
{
    const redd_allocator *a = redd_worker_allocator(redd_http_worker(req));
    report *r = redd_alloc_zero(a, sizeof(*r));
    redd_http_form_options options = REDD_HTTP_FORM_OPTIONS_INIT;
    redd_http_form *form;
    (void)user;
    if (!r)
        return;
    redd_buffer_init(&r->text, a, 1 << 20);
    options.on_part = on_part;
    options.on_data = on_data;
    options.on_end = on_end;
    options.user = r;
    int rc = redd_http_form_read(req, &options, &form);
    if (rc) {
        redd_free(a, r, sizeof(*r));
        redd_http_respond_text(req, 415, redd_error_name(rc));
    }
}

/* --- GET /events: three, from the one behind Last-Event-ID on; /silence: none --- */

static void count(redd_http_request *req, void *user)
{
    redd_http_events_options options = REDD_HTTP_EVENTS_OPTIONS_INIT;
    redd_http_events *events;
    redd_slice last = redd_http_last_event_id(req);
    char id[2] = {last.len == 1 ? last.data[0] : '0', '\0'};
    options.retry_ms = 20;
    (void)user;
    if (redd_http_events_start(req, &options, &events) != 0)
        return;
    for (int i = 0; i < 3; i++) {
        id[0]++;
        (void)redd_http_events_send(events, redd_slice_str("tick"), redd_slice_str(id),
                                    redd_slice_str("line 1\nline 2"));
    }
    redd_http_events_close(events);
}

static void on_silence_end(redd_http_events *events, int status, void *user)
{
    (void)events;
    (void)user;
    (void)fprintf(stderr, "silence ended: %s\n", redd_error_name(status));
}

static void be_silent(redd_http_request *req, void *user)
{
    redd_http_events_options options = REDD_HTTP_EVENTS_OPTIONS_INIT;
    redd_http_events *events;
    options.heartbeat_ms = redd_slice_equal(redd_http_query(req), redd_slice_str("beat")) ? 50 : 0;
    options.on_end = on_silence_end;
    (void)user;
    (void)redd_http_events_start(req, &options, &events);
}

/* --- the router: one for all workers --- */

static bool guard(redd_http_request *req, void *user)
{
    (void)user;
    redd_http_respond_text(req, 403, "guarded\n");
    return false;
}

static int build(redd_runtime *rt, void **shared)
{
    static char page[] = "<!doctype html><link rel='icon' href='data:,'>";
    static const redd_http_route_options few = {.struct_size = sizeof(few), .max_body = 1000};
    redd_http_router *r;
    (void)rt;
    int rc = redd_http_router_new(redd_allocator_default(), &r);
    if (rc)
        return rc;
    *shared = r;
    if ((rc = redd_http_route(r, "GET", "/", NULL, give_page, page)) ||
        (rc = redd_http_route(r, "GET", "/users/:id", NULL, tell_route, "id")) ||
        (rc = redd_http_route(r, "GET", "/files/*path", NULL, tell_route, "path")) ||
        (rc = redd_http_route(r, "GET", "/secret/door", NULL, tell_route, "none")) ||
        (rc = redd_http_route(r, "POST", "/form", NULL, read_form, NULL)) ||
        (rc = redd_http_route(r, "POST", "/few", &few, read_form, NULL)) ||
        (rc = redd_http_route(r, "GET", "/events", NULL, count, NULL)) ||
        (rc = redd_http_route(r, "GET", "/silence", NULL, be_silent, NULL)) ||
        (rc = redd_http_router_use(r, "/secret", guard, NULL)))
        redd_http_router_free(r);
    return rc;
}

static int share(redd_worker *w, void *shared, void **state)
{
    (void)w;
    *state = shared;
    return 0;
}

static void unbuild(redd_runtime *rt, void *shared)
{
    (void)rt;
    redd_http_router_free(shared);
}

REDD_APP(.init = build, .worker_init = share, .serve = redd_http_router_handler, .fini = unbuild)
