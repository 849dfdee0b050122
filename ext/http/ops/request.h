/* SPDX-License-Identifier: MIT */
/** A request as guests hold it, with the fields that they have set for its response. */
#ifndef REDD_HTTP_OPS_REQUEST_H
#define REDD_HTTP_OPS_REQUEST_H

#include <redd/http.h>

#define REDD__HTTP_GUEST_FIELDS   64
#define REDD__HTTP_GUEST_TRAILERS 16

typedef struct redd__http_guest_field {
    redd_bytes *name, *value;
} redd__http_guest_field;

typedef struct redd__http_guest_request {
    redd_resource resource;
    const redd_allocator *alloc;
    redd_http_request *req; /* a reference */
    redd_resource *router;  /* a reference to the one whose route it took, for its parameters */
    size_t n_fields, n_trailers;
    redd__http_guest_field fields[REDD__HTTP_GUEST_FIELDS];
    redd__http_guest_field trailers[REDD__HTTP_GUEST_TRAILERS];
} redd__http_guest_request;

/** Borrowed until the id is closed. REDD_ERESOURCE. */
int redd__http_guest_get(redd_worker *w, const redd_value *rid, redd__http_guest_request **out);

/** Text as C has it. UV_EINVAL: empty, or with a NUL inside; REDD_ELIMIT: longer than `size` - 1.
 */
int redd__http_terminated(const redd_value *text, char *buf, size_t size);

/** A copy as a value of kind STRING. UV_ENOMEM. */
int redd__http_give_string(const redd_allocator *a, redd_slice s, redd_value *out);
/** A copy as a value of kind BYTES, null where `s.data` is NULL. UV_ENOMEM. */
int redd__http_give_bytes(const redd_allocator *a, redd_slice s, redd_value *out);

#endif
