/* SPDX-License-Identifier: MIT */
/* The entry of the loadable module. */
#include <redd/websocket.h>

REDD_EXTENSION_ENTRY(redd_websocket_extension)
