/* SPDX-License-Identifier: MIT */
/* Answered requests whose responses still wait in the output: the next request is begun meanwhile,
 * so that a pipelined batch leaves in one write, and each end is told when that write was made. */
#include "ext/http/connection.h"

void redd__http_leave(redd__http_connection *c)
{
    redd_http_request *req = c->request;
    (void)redd__http_request_retain(req); /* else its head is gone, and says so */
    if (!c->leaving)
        c->leaving_end = &c->leaving;
    *c->leaving_end = req;
    c->leaving_end = &req->next;
    c->n_leaving++;
    c->request = NULL;
}

static void end_first(redd__http_connection *c, int status)
{
    redd_http_request *req = c->leaving;
    c->leaving = req->next;
    c->n_leaving--;
    redd__http_request_end(req, status);
}

void redd__http_left(redd__http_connection *c)
{
    /* An end function may write to this connection no more, but to others, on the same cork. */
    while (c->leaving && redd_output_queued(&c->output) == 0)
        end_first(c, 0);
}

void redd__http_leaving_end(redd__http_connection *c, int status)
{
    while (c->leaving)
        end_first(c, status);
}
