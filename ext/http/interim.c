/* SPDX-License-Identifier: MIT */
/* Heads that no body follows: interim responses, and those that turn the connection into something
 * else. */
#include "ext/http/fields.h"
#include "ext/http/put.h"
#include "ext/http/response.h"

#include <uv.h>

/* Connection and what goes with it are the server's own here. */
static int check(const redd_http_field *fields, size_t n, redd__http_field_facts *facts)
{
    int rc = redd__http_fields_check(fields, n, facts);
    return rc || !(facts->close || facts->upgrade) ? rc : UV_EINVAL;
}

/* Room for a status line, `extra` bytes and the fields. */
static char *begin(redd_http_request *req, const redd__http_field_facts *facts, size_t extra)
{
    redd_output *o = &req->conn->output;
    redd_output_cork(o);
    return redd_output_reserve(o, REDD__HTTP_HEAD_MAX + facts->size + extra);
}

static void end(redd_http_request *req, char *start, char *p, const redd_http_field *fields,
                size_t n)
{
    p = redd__http_fields_write(p, fields, n);
    p = REDD__PUT(p, "\r\n");
    redd_output_commit(&req->conn->output, (size_t)(p - start));
}

int redd_http_inform(redd_http_request *req, unsigned status, const redd_http_field *fields,
                     size_t n)
{
    redd__http_field_facts facts;
    if (status < 102 || status > 199)
        return UV_EINVAL;
    int rc = check(fields, n, &facts);
    if (rc)
        return rc;
    if (!req->conn)
        return REDD_ECLOSED;
    if (req->answer != REDD__HTTP_UNANSWERED)
        return REDD_ESTATE;
    if (req->minor == 0)
        return 0; /* it would take it for the response (RFC 9110 15.2) */
    char *start = begin(req, &facts, 0);
    if (!start)
        return redd__http_output_failed(req);
    end(req, start, redd__http_put_status_line(start, status), fields, n);
    redd__http_meters_interim(req->state->meters);
    redd__http_connection_wake(req->conn);
    return 0;
}

int redd__http_write_switch(redd_http_request *req, const char *protocol,
                            const redd_http_field *fields, size_t n)
{
    redd__http_field_facts facts;
    redd_slice name = redd_slice_str(protocol);
    int rc = check(fields, n, &facts);
    if (rc)
        return rc;
    if (name.len == 0 || !redd__http_is_value(name))
        return UV_EINVAL;
    char *start = begin(req, &facts, name.len);
    if (!start)
        return redd__http_output_failed(req);
    char *p = redd__http_put_status_line(start, 101);
    p = REDD__PUT(p, "Connection: Upgrade\r\nUpgrade: ");
    p = redd__put_slice(p, name);
    p = REDD__PUT(p, "\r\n");
    if (redd__http_tells_id(req->conn) && !facts.id)
        p = redd__http_id_put_line(p, req);
    req->status = 101;
    end(req, start, p, fields, n);
    return 0;
}

int redd__http_write_tunnel(redd_http_request *req, const redd_http_field *fields, size_t n)
{
    redd__http_field_facts facts;
    int rc = check(fields, n, &facts);
    if (rc)
        return rc;
    char *start = begin(req, &facts, 0);
    if (!start)
        return redd__http_output_failed(req);
    char *p = redd__http_put_status_line(start, 200);
    if (redd__http_tells_id(req->conn) && !facts.id)
        p = redd__http_id_put_line(p, req);
    req->status = 200;
    end(req, start, p, fields, n);
    return 0;
}
