/* SPDX-License-Identifier: MIT */
/** The fields of responses: which a handler may set, and how large they are. */
#ifndef REDD_HTTP_FIELDS_H
#define REDD_HTTP_FIELDS_H

#include <redd/http.h>

typedef struct redd__http_field_facts {
    size_t size; /* of all lines */
    bool close;  /* Connection: close */
    bool upgrade;
    bool date;
    bool id; /* X-Request-Id */
} redd__http_field_facts;

/** UV_EINVAL for a name that is no token, a control byte in a value (RFC 9110 5.5), or a field that
 * the server sets itself. */
int redd__http_fields_check(const redd_http_field *fields, size_t n, redd__http_field_facts *facts);

/** A tchar of RFC 9110 5.6.2. */
bool redd__http_is_token_char(char c);

/** At least one tchar and nothing else (RFC 9110 5.6.2). */
bool redd__http_is_token(redd_slice s);

/** No control byte but HTAB. */
bool redd__http_is_value(redd_slice s);

/** As redd__http_fields_check for trailers, with the size of their lines; UV_EINVAL also for fields
 *  that matter before the body or to the connection (RFC 9110 6.5.1). */
int redd__http_trailers_check(const redd_http_field *fields, size_t n, size_t *size);

/** Writes the lines, but not Connection, which the server joins with its own; returns the end. */
char *redd__http_fields_write(char *p, const redd_http_field *fields, size_t n);

/** The reason phrase of RFC 9110 15 and its registry; "" for an unknown status. */
redd_slice redd__http_reason(unsigned status);

#endif
