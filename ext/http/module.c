/* SPDX-License-Identifier: MIT */
/* The entry of the loadable module. */
#include <redd/http.h>

REDD_EXTENSION_ENTRY(redd_http_extension)
