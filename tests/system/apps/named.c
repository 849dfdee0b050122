/* SPDX-License-Identifier: MIT */
/* An app with a name and a state, which its handler answers with. */
#include <redd/redd.h>

static char begun[] = "begun";

static int worker_init(redd_worker *w, void *shared, void **state)
{
    (void)w;
    (void)shared;
    *state = begun;
    return 0;
}

static void serve(redd_http_request *req, void *user)
{
    redd_http_respond_text(req, 200, user ? (const char *)user : "no state");
}

REDD_APP(.name = "shop", .worker_init = worker_init, .serve = serve)
