/* SPDX-License-Identifier: MIT */
/** Handlers for those who watch a server. */
#ifndef REDD_HTTP_METRICS_H
#define REDD_HTTP_METRICS_H

#include <redd/http.h>

REDD_BEGIN_DECLS

/** Answers GET and HEAD with redd_metrics_write's text, others with 405; `user` is not used. */
REDD_API void redd_http_metrics_handler(redd_http_request *req, void *user);
/** Answers GET and HEAD with 200 "ok", or 503 "stopping" while the worker is being stopped; others
 *  with 405. `user` is not used. */
REDD_API void redd_http_health_handler(redd_http_request *req, void *user);

REDD_END_DECLS

#endif
