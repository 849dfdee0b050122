/* SPDX-License-Identifier: MIT */
/** The server's half of the opening handshake (RFC 6455 4.2). */
#ifndef REDD_WEBSOCKET_HANDSHAKE_H
#define REDD_WEBSOCKET_HANDSHAKE_H

#include <redd/websocket.h>

#define REDD__WS_ACCEPT_LEN 28

typedef struct redd__ws_handshake {
    unsigned status;     /* 101, or that of the refusal */
    const char *why;     /* of a refusal, one sentence */
    redd_slice protocol; /* chosen, or empty; borrowed from the options */
    char accept[REDD__WS_ACCEPT_LEN + 1];
} redd__ws_handshake;

/** Judges the request. */
void redd__ws_handshake_judge(const redd_http_request *req, const redd_ws_options *options,
                              redd__ws_handshake *out);

#endif
