/* SPDX-License-Identifier: MIT */
#include "ext/http/proxy/id.h"

#include "ext/http/connection.h"
#include "ext/http/fields.h"
#include "ext/http/put.h"

#include <assert.h>
#include <uv.h>

static_assert(REDD__HTTP_ID_MAX <= UINT8_MAX, "a length fits the request's id_len");

static void put_hex(char *p, uint64_t n)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 16; i-- > 0; n >>= 4)
        p[i] = hex[n & 15];
}

/* The numbers of a worker begin anywhere, so that an id does not tell how many there were. */
int redd__http_ids_init(redd__http_ids *ids)
{
    uint64_t random[2];
    int rc = uv_random(NULL, NULL, random, sizeof random, 0, NULL);
    if (rc)
        return rc;
    put_hex(ids->prefix, random[0]);
    ids->next = random[1];
    return 0;
}

static bool take_over(redd_http_request *req)
{
    if (!req->conn || !req->head || !redd__http_source_of(req->conn)->trusted ||
        redd_http_field_get(req, "x-request-id", 1).data)
        return false;
    redd_slice id = redd_http_field_get(req, "x-request-id", 0);
    if (id.len > REDD__HTTP_ID_MAX || !redd__http_is_token(id))
        return false;
    req->id_off = (uint32_t)(id.data - req->head);
    req->id_len = (uint8_t)id.len;
    return true;
}

static void make(redd_http_request *req)
{
    redd__http_ids *ids = &req->state->ids;
    memcpy(req->id, ids->prefix, sizeof ids->prefix);
    put_hex(req->id + sizeof ids->prefix, ids->next++);
    req->id_off = 0;
    req->id_len = REDD__HTTP_ID_LEN;
}

redd_slice redd_http_id(redd_http_request *req)
{
    /* A head that was lost for want of memory has taken the peer's id with it. */
    bool lost = req->id_off > 0 && redd__http_in_head(req, req->id_off, req->id_len).len == 0;
    if ((req->id_len == 0 && !take_over(req)) || lost)
        make(req);
    return req->id_off > 0 ? redd__http_in_head(req, req->id_off, req->id_len)
                           : redd_slice_of(req->id, req->id_len);
}

char *redd__http_id_put_line(char *p, redd_http_request *req)
{
    p = REDD__PUT(p, "X-Request-Id: ");
    p = redd__put_slice(p, redd_http_id(req));
    return REDD__PUT(p, "\r\n");
}
