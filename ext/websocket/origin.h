/* SPDX-License-Identifier: MIT */
/** Who may open a socket from a browser (RFC 6454, RFC 6455 10.2). */
#ifndef REDD_WEBSOCKET_ORIGIN_H
#define REDD_WEBSOCKET_ORIGIN_H

#include <redd/websocket.h>

/** True when the policy lets in a request for `host` with this Origin. */
bool redd__ws_origin_allowed(const redd_ws_options *o, redd_slice origin, redd_slice host);

#endif
