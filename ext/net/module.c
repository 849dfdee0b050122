/* SPDX-License-Identifier: MIT */
/** The extension "net" as a loadable module. */
#include <redd/stream.h>

REDD_EXTENSION_ENTRY(redd_net_extension)
