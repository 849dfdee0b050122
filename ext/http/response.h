/* SPDX-License-Identifier: MIT */
/** What the writers of responses share. */
#ifndef REDD_HTTP_RESPONSE_H
#define REDD_HTTP_RESPONSE_H

#include "ext/http/coding/codec.h"
#include "ext/http/connection.h"

/** Status line, Connection, framing, Date and the request's id are at most this long. */
#define REDD__HTTP_HEAD_MAX (256 + REDD__HTTP_ID_LINE_MAX)

/** Responses of the connection's server have X-Request-Id. */
static inline bool redd__http_tells_id(const redd__http_connection *c)
{
    return c->server->options.request_id;
}

/** "HTTP/1.1 200 OK" CRLF; returns the end. */
char *redd__http_put_status_line(char *p, unsigned status);
/** The size line of a chunk; returns the end. */
char *redd__http_put_chunk_size(char *p, uint64_t n);
/** Codes a piece of a body with the request's encoder and sends what comes of it. An error breaks
 *  the connection. */
int redd__http_write_coded(redd_http_request *req, redd_slice piece, redd__http_flush flush);
/** Why there was no room: UV_ENOMEM, or REDD_ECLOSED when the stream has failed, which ends the
 *  connection. */
int redd__http_output_failed(redd_http_request *req);
/** A drain event is owed as soon as a piece of `refused` bytes (0: none was) would be taken. */
void redd__http_owe_drain(redd_http_request *req, size_t refused);

#endif
