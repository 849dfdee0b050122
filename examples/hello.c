/* SPDX-License-Identifier: MIT */
/* The smallest app: one handler, no state. Run it with
 *
 *     redd serve examples/hello.c
 */
#include <redd/redd.h>

static void hello(redd_http_request *req, void *user)
{
    (void)user;
    redd_http_respond_text(req, 200, "Hello\n");
}

REDD_SERVE(hello)
