/* SPDX-License-Identifier: MIT */
/* What proxies and configurations say of addresses. The input's first byte chooses: a PROXY header,
 * judged whole and cut at every byte; fields that forward, one a line; a text of networks. */
#include "ext/http/authority.h"
#include "ext/http/proxy/forwarded.h"
#include "ext/http/proxy/header.h"
#include "ext/http/request.h"

#include <stdio.h>
#include <stdlib.h>

#define MUST(condition)                                                                         \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            (void)fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            abort();                                                                            \
        }                                                                                       \
    } while (0)

#define MAX_FIELDS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void drop_line(redd_log_level level, redd_slice line, void *user)
{
    (void)level;
    (void)line;
    (void)user;
}

static const redd_logger silent = {.write = drop_line};

/* The canonical text of an address is read back as the same one. */
static void address_must_be_one(const redd_address *a)
{
    redd_address again;
    redd__ip ip;
    MUST(redd__ip_parse(redd_slice_str(a->host), &ip));
    redd__ip_to_address(&ip, a->port, &again);
    MUST(strcmp(again.host, a->host) == 0 && again.ipv6 == a->ipv6);
}

/* --- PROXY headers --- */

static void header(redd_slice in)
{
    redd__proxy_header whole, part;
    redd__proxy_parsed is = redd__proxy_parse(in, &whole);
    size_t end = is == REDD__PROXY_DONE ? whole.len : in.len;
    MUST(end <= in.len && end <= REDD__PROXY_BINARY_MAX + (is != REDD__PROXY_DONE) * in.len);
    for (size_t n = 0; n < end; n++) {
        redd__proxy_parsed got = redd__proxy_parse(redd_slice_of(in.data, n), &part);
        MUST(got == REDD__PROXY_MORE || (got == REDD__PROXY_BAD && is == REDD__PROXY_BAD));
    }
    if (is != REDD__PROXY_DONE)
        return;
    MUST(redd__proxy_parse(redd_slice_of(in.data, end), &part) == REDD__PROXY_DONE);
    MUST(part.len == whole.len && part.named == whole.named && part.https == whole.https);
    MUST(strcmp(part.client.host, whole.client.host) == 0 && part.client.port == whole.client.port);
    if (whole.named && !whole.client.local)
        address_must_be_one(&whole.client);
}

/* --- fields that forward --- */

static void add_field(redd_http_request *req, size_t off, size_t len)
{
    const char *line = req->head + off;
    const char *colon = len ? memchr(line, ':', len) : NULL;
    size_t name = colon ? (size_t)(colon - line) : len, skip = colon ? name + 1 : name;
    redd_slice value = redd_slice_trim(redd_slice_of(line + skip, len - skip));
    req->fields[req->n_fields++] = (redd__http_span){
        .name_off = (uint32_t)off,
        .name_len = (uint32_t)name,
        .value_off = (uint32_t)(value.data - req->head),
        .value_len = (uint32_t)value.len,
    };
}

static redd_http_request *request_of(redd_slice in)
{
    redd_http_request *req = calloc(
        1, sizeof *req + MAX_FIELDS * sizeof(redd__http_span)); /* an allocation of its own */
    MUST(req != NULL);
    req->head = in.data;
    req->head_len = (uint32_t)in.len;
    for (size_t off = 0; off < in.len && req->n_fields < MAX_FIELDS;) {
        const char *end = memchr(in.data + off, '\n', in.len - off);
        size_t len = end ? (size_t)(end - in.data) - off : in.len - off;
        add_field(req, off, len);
        off += len + 1;
    }
    return req;
}

static void forwarded(redd_slice in)
{
    redd__networks *trusted;
    MUST(redd__networks_parse(redd_allocator_default(), "10.0.0.0/8, 2001:db8::/32", &silent,
                              &trusted) == 0);
    redd__origin o = {.client = {.host = "10.0.0.1", .port = 1}};
    redd_http_request *req = request_of(in);
    redd__forwarded_read(req, trusted, &o);
    address_must_be_one(&o.client);
    if (o.host.data)
        MUST(redd__http_is_authority(o.host) && o.host.data >= in.data &&
             o.host.data + o.host.len <= in.data + in.len);
    free(req);
    redd__networks_free(trusted);
}

/* --- networks --- */

static void networks(redd_slice in)
{
    static const redd_address local = {.local = true}, unknown = {.host = ""};
    redd__networks *n;
    char *text = redd_alloc_string(redd_allocator_default(), in.data, in.len);
    MUST(text != NULL);
    int rc = redd__networks_parse(redd_allocator_default(), text, &silent, &n);
    MUST(rc == 0 || n == NULL);
    MUST(!redd__networks_have_address(n, &unknown));
    if (redd__networks_have_address(n, &local))
        MUST(strstr(text, "unix") != NULL);
    redd__networks_free(n);
    redd_free(redd_allocator_default(), text, in.len + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const modes[])(redd_slice in) = {header, forwarded, networks};
    if (size < 1 || size > 8192)
        return 0;
    modes[data[0] % 3](redd_slice_of(data + 1, size - 1));
    return 0;
}
